/* mortise/test.h, calls (F59-F62): what a test sees of a call, and which misuse it is told. */
#include <mortise/test.h>

#include "sdk_forked.h"

#include <mortise/tool.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---- a plugin with a tool for each thing that can happen ---- */

struct sample {
    const mortise_host *host;
    char greeting[16], made[16];
    pthread_t late;
    bool is_late;
    mortise_call *over; /* a call that is kept too long */
};

MORTISE_TOOL(greet, 0, "Greet.",
    (string, name, "Who.", required),
    (integer, times, "How often."));

static mortise_status greet(mortise_call *call, const greet_args *args)
{
    struct sample *self = mortise_state(call);
    return mortise_reply(call, "%s, %s!%s", self->greeting, args->name,
                         args->times > 1 ? " Again!" : "");
}

MORTISE_TOOL_RAW(echo, 0, "Echo.", "{\"type\":\"object\"}");

static mortise_status echo(mortise_call *call, const char *json)
{
    return mortise_reply_json(call, "%s", json);
}

MORTISE_TOOL(rich, 0, "Everything beside text.", MORTISE_NO_ARGS);

static mortise_status rich(mortise_call *call, const rich_args *args)
{
    (void)args;
    mortise_emit(call, "stdout", "a\0b", 3);
    mortise_progress(call, 1, 2, "half");
    mortise_attach_bytes(call, "image/png", "plot.png", "\0png", 4);
    mortise_attach_uri(call, "text/html", NULL, "https://example.org/");
    mortise_reply(call, "first");
    return mortise_reply_text(call, "se\0cond", 7);
}

MORTISE_TOOL(broken, 0, "Fails.", MORTISE_NO_ARGS);

static mortise_status broken(mortise_call *call, const broken_args *args)
{
    (void)args;
    return call->ops->fail(call, &(mortise_error){.size = sizeof(mortise_error),
                                                  .category = MORTISE_RATE_LIMITED,
                                                  .component = "database",
                                                  .code = "db.busy",
                                                  .message = "try later",
                                                  .message_length = 9,
                                                  .retry_after_ms = 50});
}

MORTISE_TOOL(who, 0, "Tells what is known.", (string, key, "Of what.", required));

static mortise_status who(mortise_call *call, const who_args *args)
{
    const char *value = mortise_context(call, args->key);
    return mortise_reply(call, "%s", value ? value : "(not known)");
}

MORTISE_TOOL(waits, 0, "Waits to be cancelled.", MORTISE_NO_ARGS);

static mortise_status waits(mortise_call *call, const waits_args *args)
{
    (void)args;
    struct pollfd fd = {.fd = mortise_cancel_fd(call), .events = POLLIN};
    int ready = poll(&fd, 1, 10000);
    if (ready == 1 && mortise_cancelled(call))
        return MORTISE_CANCELLED;
    return mortise_fail(call, "nobody cancelled it");
}

/* ---- asynchronous tools ---- */

static void *answer_later(void *argument)
{
    mortise_call *call = argument;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    mortise_reply(call, "late");
    mortise_finish(call, MORTISE_OK);
    return NULL;
}

MORTISE_TOOL(later, 0, "Answers later.", MORTISE_NO_ARGS);

static mortise_status later(mortise_call *call, const later_args *args)
{
    (void)args;
    struct sample *self = mortise_state(call);
    if (pthread_create(&self->late, NULL, answer_later, call) != 0)
        return mortise_fail(call, "no thread");
    self->is_late = true;
    return MORTISE_PENDING;
}

MORTISE_TOOL(on_time, 0, "Has finished before it returns.", MORTISE_NO_ARGS);

static mortise_status on_time(mortise_call *call, const on_time_args *args)
{
    (void)args;
    mortise_reply(call, "done");
    mortise_finish(call, MORTISE_OK);
    return MORTISE_PENDING;
}

static void finish_cancelled(void *data)
{
    mortise_finish(data, MORTISE_CANCELLED);
}

MORTISE_TOOL(listens, 0, "Is finished by its cancel.", MORTISE_NO_ARGS);

static mortise_status listens(mortise_call *call, const listens_args *args)
{
    (void)args;
    return mortise_on_cancel(call, finish_cancelled, call) == MORTISE_OK ? MORTISE_PENDING
                                                                         : MORTISE_FAILED;
}

/* ---- misuse ---- */

MORTISE_TOOL(misuses, 0, "Does what must not be done.", (string, how, "What.", required));

static mortise_status misuses(mortise_call *call, const misuses_args *args)
{
    struct sample *self = mortise_state(call);
    switch (args->how[0]) {
    case 't': /* twice */
        mortise_finish(call, MORTISE_OK);
        mortise_finish(call, MORTISE_OK);
        return MORTISE_PENDING;
    case 'a': /* after */
        mortise_finish(call, MORTISE_OK);
        mortise_reply(call, "too late");
        return MORTISE_PENDING;
    case 'n': /* never */
        return MORTISE_PENDING;
    case 'f': /* finished, but not pending */
        mortise_finish(call, MORTISE_OK);
        return MORTISE_OK;
    case 's': /* status */
        return 7;
    case 'd': /* denied, without a word */
        return MORTISE_DENIED;
    case 'F': /* a forgotten return */
        mortise_fail(call, "no disk");
        return MORTISE_OK;
    case 'j': /* json */
        return mortise_reply_json(call, "{\"a\":%s}", "nonsense");
    case 'k': /* keep */
        self->over = call;
        return mortise_reply(call, "kept");
    default: /* use what was kept */
        mortise_progress(self->over, 1, 1, NULL);
        return MORTISE_OK;
    }
}

/* ---- the plugin ---- */

static void *sample_open(const mortise_host *host)
{
    struct sample *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->host = host;
    snprintf(self->greeting, sizeof(self->greeting), "Hello");
    snprintf(self->made, sizeof(self->made), "made");
    mortise_config_string(host, "made", self->made, sizeof(self->made));
    if (mortise_config_string(host, "greeting", self->greeting, sizeof(self->greeting)) ==
        MORTISE_INVALID) {
        free(self);
        return mortise_refuse(host, "\"greeting\" is no short text");
    }
    mortise_log(host, MORTISE_LOG_NOTE, "says %s", self->greeting);
    return self;
}

static void sample_close(void *state)
{
    struct sample *self = state;
    if (self->is_late)
        pthread_join(self->late, NULL);
    free(self);
}

static mortise_status run_made(mortise_call *call, const char *json, void *data)
{
    return mortise_reply(call, "%s %s", (const char *)data, json);
}

static void sample_add(void *state, mortise_tool_list *list)
{
    static char data[] = "made";
    struct sample *self = state;
    mortise_add_tool(list, &(mortise_new_tool){.name = self->made, .run = run_made, .data = data});
}

MORTISE_PLUGIN(.name = "sample",
               .tools = MORTISE_TOOLS(greet, echo, rich, broken, who, waits, later, on_time,
                                      listens, misuses),
               .open = sample_open, .add = sample_add, .close = sample_close);

/* ---- what a test sees ---- */

/* F62: any tool runs outside the loop, with its state, typed, raw and made while loading. */
static int runs_tools(void)
{
    mortise_test *test = mortise_test_open("{\"greeting\":\"Hi\"}");
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"}),
                      "Hi, Ada!");
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada", .times = 2}),
                      "Hi, Ada! Again!");
    mortise_test_json(mortise_test_run(test, &echo_tool, "{\"a\":[1]}"), "{\"a\":[1]}");
    mortise_test_json(mortise_test_run(test, &echo_tool, NULL), "{}");
    mortise_test_text(mortise_test_run(test, mortise_test_tool(test, "made"), "{\"b\":2}"),
                      "made {\"b\":2}");
    mortise_test_same(mortise_test_log(test), "note: says Hi\n");
    return mortise_test_close(test);
}

static int sees_all_of_a_result(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_result *result = mortise_test_run(test, &rich_tool, NULL);
    mortise_test_true(result->status == MORTISE_OK && result->length == 7);
    mortise_test_true(memcmp(result->text, "se\0cond", 8) == 0);
    if (mortise_test_true(result->progress_count == 2)) {
        mortise_test_same(result->progress[0].stream, "stdout");
        mortise_test_true(result->progress[0].length == 3);
        mortise_test_true(memcmp(result->progress[0].text, "a\0b", 4) == 0);
        mortise_test_same(result->progress[1].stream, NULL);
        mortise_test_same(result->progress[1].text, "half");
        mortise_test_true(result->progress[1].done == 1 && result->progress[1].total == 2);
    }
    if (mortise_test_true(result->attachment_count == 2)) {
        mortise_test_same(result->attachments[0].name, "plot.png");
        mortise_test_true(result->attachments[0].length == 4);
        mortise_test_true(memcmp(result->attachments[0].data, "\0png", 4) == 0);
        mortise_test_same(result->attachments[1].uri, "https://example.org/");
    }
    return mortise_test_close(test);
}

static int sees_errors(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_result *result = mortise_test_run(test, &broken_tool, NULL);
    mortise_test_error(result, MORTISE_RATE_LIMITED, "later");
    mortise_test_same(result->component, "database");
    mortise_test_same(result->code, "db.busy");
    mortise_test_true(result->retry_after_ms == 50);
    misuses_args args = {.how = "denied"}; /* T20: a status without a word, and fail() with OK */
    result = mortise_test_run(test, &misuses_tool, &args);
    mortise_test_error(result, MORTISE_FORBIDDEN, "");
    args.how = "F";
    result = mortise_test_run(test, &misuses_tool, &args);
    mortise_test_error(result, MORTISE_INTERNAL, "no disk");
    mortise_test_true(result->status == MORTISE_FAILED);
    return mortise_test_close(test);
}

static const char *told(mortise_test *test, const char *key)
{
    return mortise_test_run(test, &who_tool, &(who_args){.key = key})->text;
}

/* F59, F60, F61: what is known without being said, ids of one's own, and overrides. */
static int knows_the_caller(void)
{
    mortise_test *test = mortise_test_open_with(&(mortise_test_setup){.caller = "tester"});
    mortise_test_same(told(test, "user"), "anonymous");
    mortise_test_same(told(test, "session"), "(not known)");
    mortise_test_same(told(test, "agent"), "tester");
    mortise_test_same(told(test, "app"), "tester");
    const mortise_test_result *first =
        mortise_test_run(test, &who_tool, &(who_args){.key = "call"});
    const mortise_test_result *second =
        mortise_test_run(test, &who_tool, &(who_args){.key = "invocation"});
    mortise_test_same(first->text, first->call);
    mortise_test_same(second->text, second->invocation);
    mortise_test_true(strcmp(first->call, second->call) != 0);
    mortise_test_true(strcmp(first->invocation, second->invocation) != 0);
    mortise_test_context(test, "session", "s-1");
    mortise_test_context(test, "call", "c-1");
    mortise_test_context(test, "user", NULL);
    mortise_test_context(test, "metadata.color", "red");
    mortise_test_same(told(test, "session"), "s-1");
    mortise_test_same(told(test, "call"), "c-1");
    mortise_test_same(told(test, "user"), "(not known)");
    mortise_test_same(told(test, "metadata.color"), "red");
    return mortise_test_close(test);
}

static int cancels(void)
{
    mortise_test *test = mortise_test_open(NULL);
    for (int64_t after_ms = 0; after_ms < 40; after_ms += 20) {
        mortise_test_cancel(test, after_ms);
        const mortise_test_result *result = mortise_test_run(test, &waits_tool, NULL);
        mortise_test_true(result->status == MORTISE_CANCELLED);
        mortise_test_true(result->category == MORTISE_ABORTED);
        mortise_test_cancel(test, after_ms);
        result = mortise_test_run(test, &listens_tool, NULL);
        mortise_test_true(result->status == MORTISE_CANCELLED);
    }
    mortise_test_deadline(test, 20);
    mortise_test_true(mortise_test_run(test, &waits_tool, NULL)->status == MORTISE_CANCELLED);
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"}),
                      "Hello, Ada!"); /* the next one is left alone */
    return mortise_test_close(test);
}

static int waits_for_what_comes_late(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &later_tool, NULL), "late");
    mortise_test_text(mortise_test_run(test, &on_time_tool, NULL), "done");
    return mortise_test_close(test);
}

static int knows_who_refuses(void)
{
    mortise_test_refused("{\"greeting\":7}", "no short text");
    mortise_test *test = mortise_test_open(NULL);
    return mortise_test_close(test);
}

/* ---- what fails ---- */

static int misuse(const char *how)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_patience(test, 50);
    mortise_test_run(test, &misuses_tool, &(misuses_args){.how = how});
    return mortise_test_close(test);
}

static int finishes_twice(void)
{
    return misuse("twice");
}

static int replies_after_the_end(void)
{
    return misuse("after");
}

static int never_finishes(void)
{
    return misuse("never");
}

static int finishes_without_pending(void)
{
    return misuse("finish");
}

static int returns_nonsense(void)
{
    return misuse("status");
}

static int replies_nonsense(void)
{
    return misuse("json");
}

static int uses_a_call_that_is_over(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_run(test, &misuses_tool, &(misuses_args){.how = "keep"});
    mortise_test_run(test, &misuses_tool, &(misuses_args){.how = "use"});
    return mortise_test_close(test);
}

static int has_a_name_that_is_none(void)
{
    return mortise_test_close(mortise_test_open("{\"made\":\"a b\"}"));
}

static int has_a_name_twice(void)
{
    return mortise_test_close(mortise_test_open("{\"made\":\"greet\"}"));
}

static int is_refused(void)
{
    mortise_test *test = mortise_test_open("{\"greeting\":[]}");
    mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"});
    return mortise_test_close(test);
}

static int is_not_refused(void)
{
    mortise_test_refused("{}", "anything");
    return mortise_test_close(mortise_test_open(NULL));
}

static int expects_another_text(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"}), "Hello!");
    return mortise_test_close(test);
}

static int expects_json(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_json(mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"}), "{}");
    return mortise_test_close(test);
}

static int expects_success(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &broken_tool, NULL), "fine");
    return mortise_test_close(test);
}

static int expects_another_category(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_error(mortise_test_run(test, &broken_tool, NULL), MORTISE_TIMEOUT, "later");
    return mortise_test_close(test);
}

static int expects_what_does_not_hold(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_true(1 + 1 == 3);
    return mortise_test_close(test);
}

static int expects_another_tool(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_tool(test, "nobody");
    return mortise_test_close(test);
}

int main(void)
{
    static const struct forked_case cases[] = {
        GOOD(runs_tools),
        GOOD(sees_all_of_a_result),
        GOOD(sees_errors),
        GOOD(knows_the_caller),
        GOOD(cancels),
        GOOD(waits_for_what_comes_late),
        GOOD(knows_who_refuses),
        BAD(finishes_twice, "'misuses' finished a call that was over"),
        BAD(replies_after_the_end, "'misuses' used reply() after the call was over"),
        BAD(never_finishes, "'misuses' returned MORTISE_PENDING and was not finished in time"),
        BAD(finishes_without_pending, "used finish() and did not return MORTISE_PENDING"),
        BAD(returns_nonsense, "ended with the status 7, which is none of a call"),
        BAD(replies_nonsense, "replied with JSON that is not valid: "),
        BAD(uses_a_call_that_is_over, "used progress() after the call was over"),
        BAD(has_a_name_that_is_none, "the host refuses the plugin: a tool has the name 'a b'"),
        BAD(has_a_name_twice, "the host refuses the plugin: two tools have the name 'greet'"),
        BAD(is_refused, "the plugin is not loaded: \"greeting\" is no short text"),
        BAD(is_not_refused, "expected that it refuses {}\n    but it is loaded"),
        BAD(expects_another_text, "expected the text 'Hello!'\n    came 'Hello, Ada!'"),
        BAD(expects_json, "expected JSON\n    came text: Hello, Ada!"),
        BAD(expects_success, "the call failed with MORTISE_FAILED: try later"),
        BAD(expects_another_category,
            "expected the category MORTISE_TIMEOUT\n    came MORTISE_RATE_LIMITED: try later"),
        BAD(expects_what_does_not_hold, "sdk_test_calls.c:"),
        BAD(expects_another_tool, "the plugin has no tool 'nobody'"),
    };
    return run_forked(cases, sizeof(cases) / sizeof(cases[0]));
}

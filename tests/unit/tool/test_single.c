/* One call on this thread, with its hooks: R6, T30, T66-T71, W31, W35, W46, W52, D16. */
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool/single.h"

#define ANY .input_schema = "{\"type\":\"object\"}"

static atomic_int runs;

static mortise_status echo(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    atomic_fetch_add(&runs, 1);
    call->ops->emit(call, "stdout", "working", 7);
    return fake_reply(call, "%s", (const char *)args);
}
FAKE_TOOL(echo, 0, ANY);

static atomic_bool is_inside;

static mortise_status by_flag(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_store(&is_inside, true);
    while (!call->ops->cancelled(call))
        usleep(100);
    return MORTISE_CANCELLED;
}
FAKE_TOOL(by_flag, 0, ANY);

static mortise_call *kept;

static void *answer_soon(void *argument)
{
    mortise_call *call = argument;
    usleep(5000);
    fake_reply(call, "at last");
    call->ops->finish(call, MORTISE_OK);
    return NULL;
}

static mortise_status late(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_soon, call), 0);
    pthread_detach(thread);
    return MORTISE_PENDING;
}
FAKE_TOOL(late, 0, ANY);

static void finish_cancelled(void *data)
{
    mortise_call *call = data;
    call->ops->finish(call, MORTISE_CANCELLED);
}

/* Answers late, and only when it is told to stop. */
static mortise_status by_callback(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    call->ops->on_cancel(call, finish_cancelled, call);
    atomic_store(&is_inside, true);
    return MORTISE_PENDING;
}
FAKE_TOOL(by_callback, 0, ANY);

static mortise_status never(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    kept = call;
    return MORTISE_PENDING;
}
FAKE_TOOL(never, 0, ANY);

static void *talk_on(void *argument)
{
    mortise_call *call = argument;
    call->ops->progress(call, 1, 2, "half");
    return NULL;
}

static pthread_t talker;

static mortise_status talks(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    kept = call;
    assert_int_equal(pthread_create(&talker, NULL, talk_on, call), 0);
    return MORTISE_PENDING;
}
FAKE_TOOL(talks, 0, ANY);

static const mortise_tool *const tools[] = {&echo_tool,  &by_flag_tool, &late_tool, &by_callback_tool,
                                            &never_tool, &talks_tool,   NULL};

static struct scripted pre, post;
static const mortise_hooks guard = {
    .size = sizeof(guard), .name = "guard", .state = &pre, .pre_tool_call = scripted_pre};
static const mortise_hooks after = {
    .size = sizeof(after), .name = "after", .state = &post, .post_tool_call = scripted_post};
static const mortise_hooks *const hooks[] = {&guard, &after, NULL};

#define QUIET ((struct scripted){.verdict = MORTISE_CONTINUE})

/* ---- a call and what it came to ---- */

struct shot {
    struct registry *registry;
    struct hook_setting setting;
    struct dispatch dispatch; /* to be changed before shoot() */
    struct dispatch_call call;
    struct call_watcher watcher;
    struct hook_outcome outcome;
    struct single single;
    pthread_t friend;
    bool has_friend; /* that cancels the call when it is inside its tool */
};

static void load(struct shot *shot, struct scripted before, struct scripted behind)
{
    *shot = (struct shot){.registry = fake_registry(tools, hooks)};
    pre = before;
    post = behind;
    atomic_store(&runs, 0);
    atomic_store(&is_inside, false);
    shot->setting = (struct hook_setting){.registry = shot->registry};
    shot->dispatch = (struct dispatch){.registry = shot->registry,
                                       .hooks = &shot->setting,
                                       .deadline_ms = -1,
                                       .grace_ms = 2000};
}

static void *cancel_when_inside(void *argument)
{
    struct call *call = argument;
    while (!atomic_load(&is_inside))
        usleep(100);
    call_cancelled(call);
    call_unref(call);
    return NULL;
}

static enum dispatch_end shoot(struct shot *shot, const char *name, const char *arguments)
{
    shot->call.id = "c1";
    shot->call.name = name;
    shot->call.arguments = (struct slice){arguments, strlen(arguments)};
    shot->call.valid = true;
    single_prepare(&shot->single, &shot->dispatch, &shot->call, &shot->watcher, &shot->outcome);
    if (shot->has_friend && shot->single.call)
        pthread_create(&shot->friend, NULL, cancel_when_inside, call_ref(shot->single.call));
    single_run(&shot->single);
    enum dispatch_end end = single_finish(&shot->single);
    if (shot->has_friend)
        pthread_join(shot->friend, NULL);
    return end;
}

static const char *text_of(const struct shot *shot)
{
    return text_cstr(&shot->call.result.text);
}

static void unload(struct shot *shot)
{
    tool_result_release(&shot->call.result);
    cancel_unref(shot->dispatch.cancel);
    registry_unref(shot->registry);
}

/* ---- the common ways ---- */

static bool note_progress(void *self, struct call *call, const struct progress *progress)
{
    assert_string_equal(call_id(call), "c1");
    text_append(self, progress->text.data, progress->text.length);
    return true;
}

/* F38: progress comes while the tool is inside, on the tool's own thread. */
static void test_answer(void **state)
{
    (void)state;
    struct shot shot;
    struct text told = TEXT_INIT;
    load(&shot, QUIET, QUIET);
    shot.watcher = (struct call_watcher){.progress = note_progress, .self = &told};
    assert_int_equal(shoot(&shot, "echo", "{\"a\":1}"), DISPATCH_DONE);
    assert_true(shot.call.result.success);
    assert_string_equal(text_of(&shot), "{\"a\":1}");
    assert_true(shot.call.result.duration_us > 0);
    assert_int_equal(shot.outcome.verdict, MORTISE_CONTINUE);
    assert_string_equal(text_cstr(&told), "working");
    text_release(&told);
    unload(&shot);
}

static void test_without_hooks(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.verdict = MORTISE_ABORT}, QUIET);
    shot.dispatch.hooks = NULL;
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "{}");
    unload(&shot);
}

static bool offers_late(void *data, const struct tool *tool)
{
    (void)data;
    return strcmp(tool->name, "late") == 0;
}

/* W46: no hook is asked about what cannot be called. */
static void test_cannot_be_called(void **state)
{
    (void)state;
    struct scripted abort_it = {.verdict = MORTISE_ABORT};
    struct shot shot;
    load(&shot, abort_it, abort_it);
    assert_int_equal(shoot(&shot, "teleport", "{}"), DISPATCH_DONE);
    assert_non_null(strstr(text_of(&shot), "Tool 'teleport' not found"));
    tool_result_release(&shot.call.result);

    shot.dispatch.offered = offers_late;
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "Tool 'echo' not found. The tools are: late");
    assert_string_equal(shot.call.result.category, "not_found");
    unload(&shot);
}

static void test_late_answer(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, QUIET, QUIET);
    assert_int_equal(shoot(&shot, "late", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "at last");
    tool_result_release(&shot.call.result);

    shot.dispatch.cancel = cancel_new(); /* it is looked at meanwhile */
    shot.dispatch.deadline_ms = clock_ms() + 20000;
    assert_int_equal(shoot(&shot, "late", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "at last");
    unload(&shot);
}

/* ---- hooks ---- */

static void test_skip(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.verdict = MORTISE_SKIP, .reason = "not on Sundays"},
         (struct scripted){.result = "not asked"});
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "Tool call skipped by hook 'guard': not on Sundays");
    assert_string_equal(shot.call.result.category, "forbidden");
    assert_int_equal(shot.outcome.verdict, MORTISE_CONTINUE); /* nothing was ended */
    assert_int_equal(atomic_load(&runs), 0);
    unload(&shot);
}

static void test_respond(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.verdict = MORTISE_RESPOND, .result = "cached"}, QUIET);
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "cached");
    assert_true(shot.call.result.success);
    assert_int_equal(atomic_load(&runs), 0);
    unload(&shot);

    load(&shot, (struct scripted){.verdict = MORTISE_RESPOND, .result = "no", .is_error = true},
         (struct scripted){.result = "edited", .is_error = true});
    shoot(&shot, "echo", "{}");
    assert_string_equal(text_of(&shot), "edited"); /* PostToolCall sees it */
    assert_string_equal(shot.call.result.component, "hook");
    unload(&shot);
}

/* T70, T71 */
static void test_edits(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.arguments = "{\"b\":2}"}, QUIET);
    assert_int_equal(shoot(&shot, "echo", "{\"a\":1}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "{\"b\":2}");
    unload(&shot);

    load(&shot, QUIET, (struct scripted){.result = "[redacted]"});
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "[redacted]");
    assert_int_equal(atomic_load(&runs), 1);
    unload(&shot);
}

/* W68, W71 */
static void test_abort(void **state)
{
    (void)state;
    struct scripted abort_it = {.verdict = MORTISE_ABORT, .reason = "enough"};
    struct shot shot;
    load(&shot, abort_it, QUIET);
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_ABORTED);
    assert_string_equal(text_of(&shot), "cancelled before it ran");
    assert_string_equal(shot.outcome.hook->name, "guard");
    assert_string_equal(shot.outcome.reason, "enough");
    assert_int_equal(atomic_load(&runs), 0);
    unload(&shot);

    load(&shot, QUIET, abort_it);
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_ABORTED);
    assert_string_equal(text_of(&shot), "{}");
    assert_string_equal(shot.outcome.hook->name, "after");
    assert_int_equal(atomic_load(&runs), 1);
    unload(&shot);
}

static void test_pause(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.verdict = MORTISE_PAUSE, .reason = "ask first"}, QUIET);
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_PAUSED);
    assert_null(shot.call.result.text.data);
    assert_int_equal(shot.outcome.verdict, MORTISE_PAUSE);
    assert_string_equal(shot.outcome.reason, "ask first");
    assert_int_equal(atomic_load(&runs), 0);
    unload(&shot);
}

static void test_failed_hooks_let_nothing_through(void **state)
{
    (void)state;
    static const mortise_verdict verdicts[] = {MORTISE_HOOK_FAILED, MORTISE_CONTINUE_WITH, 77,
                                               MORTISE_RESPOND /* without an answer */};
    struct shot shot;
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        load(&shot, (struct scripted){.verdict = verdicts[i]}, QUIET);
        assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_HOOK_FAILED);
        assert_true(shot.outcome.failed);
        assert_string_equal(text_of(&shot), "cancelled before it ran");
        assert_int_equal(atomic_load(&runs), 0);
        unload(&shot);
    }
    load(&shot, QUIET, (struct scripted){.verdict = MORTISE_SKIP}); /* none of this event's */
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_HOOK_FAILED);
    assert_string_equal(text_of(&shot), "{}");
    unload(&shot);
}

/* ---- an early end ---- */

static void test_ended_before_it_ran(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, (struct scripted){.verdict = MORTISE_ABORT}, QUIET); /* not asked any more */
    shot.dispatch.cancel = cancel_new();
    cancel_trigger(shot.dispatch.cancel);
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_CANCELLED);
    assert_string_equal(text_of(&shot), "cancelled before it ran");
    unload(&shot);

    load(&shot, QUIET, QUIET);
    shot.dispatch.deadline_ms = clock_ms();
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_TIMEOUT);
    assert_string_equal(text_of(&shot), "timed out before it ran");
    assert_string_equal(shot.call.result.category, "timeout");
    assert_int_equal(atomic_load(&runs), 0);
    unload(&shot);
}

/* W52: another thread stops a call that is inside, or whose answer is waited for: without a token
 * nobody looks from time to time. */
static void test_another_thread_cancels(void **state)
{
    (void)state;
    static const char *const names[] = {"by_flag", "by_callback"};
    for (size_t i = 0; i < 2; i++) {
        struct shot shot;
        load(&shot, QUIET, QUIET);
        shot.has_friend = true;
        assert_int_equal(shoot(&shot, names[i], "{}"), DISPATCH_CANCELLED);
        assert_string_equal(text_of(&shot),
                            "tool.cancelled: the tool stopped because the call was cancelled");
        unload(&shot);
    }
}

static void *trigger_when_inside(void *argument)
{
    while (!atomic_load(&is_inside))
        usleep(100);
    cancel_trigger(argument);
    return NULL;
}

static void test_token(void **state)
{
    (void)state;
    struct shot shot;
    pthread_t thread;
    load(&shot, QUIET, (struct scripted){.result = "[redacted]", .is_error = true});
    shot.dispatch.cancel = cancel_new();
    pthread_create(&thread, NULL, trigger_when_inside, shot.dispatch.cancel);
    assert_int_equal(shoot(&shot, "by_callback", "{}"), DISPATCH_CANCELLED);
    pthread_join(thread, NULL);
    assert_string_equal(text_of(&shot), "[redacted]"); /* what a tool made is shown all the same */
    unload(&shot);
}

static void test_deadline(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, QUIET, QUIET);
    shot.dispatch.deadline_ms = clock_ms() + 200; /* it is inside by then */
    assert_int_equal(shoot(&shot, "by_callback", "{}"), DISPATCH_TIMEOUT);
    assert_string_equal(shot.call.result.category, "cancelled");
    unload(&shot);
}

/* D16: no hook sees that nothing came; the tool may end when all of the call is gone. */
static void test_left_behind(void **state)
{
    (void)state;
    struct shot shot;
    load(&shot, QUIET, (struct scripted){.result = "not asked"});
    shot.dispatch.deadline_ms = clock_ms() + 200; /* it is inside by then */
    shot.dispatch.grace_ms = 30;
    int64_t before_ms = clock_ms();
    assert_int_equal(shoot(&shot, "never", "{}"), DISPATCH_TIMEOUT);
    assert_true(clock_ms() - before_ms < 2000);
    assert_string_equal(text_of(&shot), "timed out; the tool did not stop in time");
    assert_string_equal(shot.call.result.category, "timeout");
    unload(&shot);
    assert_true(kept->ops->cancelled(kept));
    assert_int_equal(fake_reply(kept, "at last"), MORTISE_OK);
    kept->ops->finish(kept, MORTISE_OK);
}

static bool take_time(void *self, struct call *call, const struct progress *progress)
{
    (void)call, (void)progress;
    atomic_bool *returned = self;
    atomic_store(&is_inside, true);
    usleep(200000);
    atomic_store(returned, true);
    return true;
}

/* F38, D16: who watches is not told any more once the call is left behind. */
static void test_nobody_is_told_afterwards(void **state)
{
    (void)state;
    struct shot shot;
    atomic_bool returned = false;
    load(&shot, QUIET, QUIET);
    shot.watcher = (struct call_watcher){.progress = take_time, .self = &returned};
    shot.dispatch.deadline_ms = clock_ms() + 100;
    shot.dispatch.grace_ms = 10;
    assert_int_equal(shoot(&shot, "talks", "{}"), DISPATCH_TIMEOUT);
    assert_true(!atomic_load(&is_inside) || atomic_load(&returned));
    pthread_join(talker, NULL);
    unload(&shot);
    kept->ops->finish(kept, MORTISE_OK);
}

/* ---- what else may end it: D25, and results that are known ---- */

static bool refuses(void *data, const struct dispatch_call *call, struct error *error)
{
    (void)data, (void)call;
    error_set(error, ERROR_BAD_REQUEST, "the limit is reached");
    return false;
}

static bool knows(void *self, const struct dispatch *dispatch, const struct dispatch_call *call,
                  struct slice arguments, struct tool_result *result, bool *made)
{
    (void)self, (void)dispatch, (void)call;
    assert_string_equal(arguments.data, "{\"b\":2}");
    result->success = *made = true;
    text_puts(&result->text, "known");
    return true;
}

static void count_settled(void *self, const struct dispatch_call *call, struct slice arguments,
                          bool made)
{
    (void)call, (void)arguments;
    *(int *)self += made ? 1 : 100;
}

static void test_tape_and_limit(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    int settled = 0;
    struct call_tape tape = {.settled = count_settled, .self = &settled};
    struct shot shot;
    load(&shot, (struct scripted){.arguments = "{\"b\":2}"}, (struct scripted){.result = "seen"});
    shot.dispatch.tape = &tape;
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_int_equal(settled, 1);
    tool_result_release(&shot.call.result);

    shot.dispatch.starting = refuses;
    shot.dispatch.error = &error;
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_FAILED);
    assert_string_equal(text_of(&shot), "not run: the limit is reached");
    assert_int_equal(settled, 101);
    tool_result_release(&shot.call.result);

    tape.known = knows;
    assert_int_equal(shoot(&shot, "echo", "{}"), DISPATCH_DONE);
    assert_string_equal(text_of(&shot), "seen");
    assert_int_equal(atomic_load(&runs), 1);
    unload(&shot);
}

/* ---- many at once ---- */

enum { SHOTS = 200 };

static void *shoot_often(void *argument)
{
    struct shot shot = *(const struct shot *)argument;
    for (int i = 0; i < SHOTS; i++) {
        assert_int_equal(shoot(&shot, i % 20 ? "echo" : "late", "{}"), DISPATCH_DONE);
        tool_result_release(&shot.call.result);
    }
    return NULL;
}

static void test_from_many_threads(void **state)
{
    (void)state;
    struct shot shot;
    pthread_t threads[4];
    load(&shot, QUIET, QUIET);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, shoot_often, &shot);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&runs), 4 * SHOTS * 19 / 20);
    unload(&shot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_without_hooks),
        cmocka_unit_test(test_cannot_be_called),
        cmocka_unit_test(test_late_answer),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_respond),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_failed_hooks_let_nothing_through),
        cmocka_unit_test(test_ended_before_it_ran),
        cmocka_unit_test(test_another_thread_cancels),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_nobody_is_told_afterwards),
        cmocka_unit_test(test_tape_and_limit),
        cmocka_unit_test(test_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

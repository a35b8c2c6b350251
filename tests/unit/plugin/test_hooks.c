#include "../base/failing.h"
#include "cmocka_all.h"
#include "sample.h"
#include "stderr_capture.h"

#include "plugin/hooks.h"

/* ---- a run with hooks that do what the test says ---- */

/* What one hook does when it is asked: `act` works, then `verdict` is returned. */
struct script {
    void (*act)(mortise_hook *hook, const void *event);
    mortise_verdict verdict;
    int asked;
};

static struct script scripts[4];

static mortise_verdict play(void *state, mortise_hook *hook, const void *event)
{
    struct script *script = state;
    script->asked++;
    if (script->act)
        script->act(hook, event);
    return script->verdict;
}

#define TAKE(event)                                                                                \
    static mortise_verdict take_##event(void *state, mortise_hook *hook,                           \
                                        const mortise_##event *event)                              \
    {                                                                                              \
        return play(state, hook, event);                                                           \
    }
TAKE(prompt_submit)
TAKE(pre_llm_request)
TAKE(pre_tool_call)
TAKE(post_tool_call)
TAKE(turn_end)
static mortise_verdict take_on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    return play(state, hook, event);
}

static struct sample sample, stranger;
static struct registry *registry;
static struct timeline timeline;
static char told[1024]; /* what the timeline was told of hooks, a line each */

static void note_hook(void *self, const struct event *event)
{
    (void)self;
    size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, "%s %s %s %s\n", event->as.hook.hook,
             event->as.hook.event, event->as.hook.decision,
             event->as.hook.reason ? event->as.hook.reason : "-");
}

static const char *context(void *data, const char *key, struct arena *memory)
{
    (void)data, (void)memory;
    return strcmp(key, "session") == 0 ? "s1" : NULL;
}

static struct hook_setting setting = {.timeline = &timeline, .context = context};
static struct hook_outcome outcome;
static int secret = 42;

static int start(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    memset(scripts, 0, sizeof(scripts));
    *told = '\0';
    sample_init(&sample, "own");
    sample_tool(&sample, "count");
    sample.tools[0].state = &secret;
    sample.tools[0].state_tag = "counter";
    sample_init(&stranger, "other");
    sample_tool(&stranger, "theirs");
    stranger.tools[0].state = &secret;
    stranger.tools[0].state_tag = "counter";
    for (size_t i = 0; i < 4; i++) {
        static const char *const hook_names[] = {"h0", "h1", "h2", "h3"};
        mortise_hooks *hooks = sample_hook(&sample, hook_names[i], 0);
        hooks->state = &scripts[i];
        hooks->prompt_submit = take_prompt_submit;
        hooks->pre_llm_request = take_pre_llm_request;
        hooks->pre_tool_call = take_pre_tool_call;
        hooks->post_tool_call = take_post_tool_call;
        hooks->turn_end = take_turn_end;
        hooks->on_abort = take_on_abort;
    }
    registry = registry_new();
    setting.registry = registry;
    timeline_init(&timeline);
    timeline_add(&timeline, EVENT_BIT(EVENT_HOOK), note_hook, NULL);
    return sample_add(registry, &sample, &error) && sample_add(registry, &stranger, &error) ? 0
                                                                                            : -1;
}

static int end(void **state)
{
    (void)state;
    registry_unref(registry);
    timeline_release(&timeline);
    return 0;
}

static void went_on(void)
{
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
    assert_false(outcome.failed);
    assert_null(outcome.hook);
    assert_string_equal(outcome.reason, "");
}

static void decided(mortise_verdict verdict, const char *hook, const char *reason)
{
    assert_int_equal(outcome.verdict, verdict);
    assert_int_equal(outcome.failed, verdict == MORTISE_HOOK_FAILED);
    assert_string_equal(outcome.hook->name, hook);
    assert_string_equal(outcome.reason, reason);
}

static void has_json(const struct item *item, const char *wanted)
{
    struct text text = TEXT_INIT;
    item_write_json(item, &text);
    assert_has(text_cstr(&text), wanted);
    text_release(&text);
}

static void give_reason(mortise_hook *hook, const void *event)
{
    (void)event;
    hook->ops->reason(hook, "because\xFF of it", 14);
}

/* ---- events of the test ---- */

#define USER(text)                                                                                 \
    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"      \
    "\"" text "\"}]}"

static mortise_status set_item(mortise_hook *hook, size_t index, const char *json)
{
    return hook->ops->set_item(hook, index, json, strlen(json));
}

static mortise_status append(mortise_hook *hook, const char *json)
{
    return hook->ops->append(hook, json, strlen(json));
}

static struct item *prompt;

static void submit(void)
{
    prompt = item_message(ROLE_USER, PART_INPUT_TEXT, "hello", 5);
    hooks_prompt_submit(&setting, &prompt, &outcome);
}

static struct hook_tool_call call;

static struct bytes bytes(const char *text)
{
    return (struct bytes){strdup(text), strlen(text)};
}

static void pre_call(void)
{
    call = (struct hook_tool_call){.tool = registry_find(registry, "count"),
                                   .call_id = "c1",
                                   .turn = 3,
                                   .index = 1,
                                   .count = 2,
                                   .arguments = bytes("{\"n\":1}")};
    hooks_pre_tool_call(&setting, &call, &outcome);
}

static void post_call_with(const struct attachment *attachments, size_t count)
{
    call = (struct hook_tool_call){.tool = registry_find(registry, "count"),
                                   .call_id = "c1",
                                   .arguments = bytes("{\"n\":1}"),
                                   .result = bytes("one"),
                                   .error_code = "tool.error",
                                   .duration_us = 7,
                                   .attachments = attachments,
                                   .attachment_count = count};
    hooks_post_tool_call(&setting, &call, &outcome);
}

static void post_call(void)
{
    post_call_with(NULL, 0);
}

static void free_call(void)
{
    free(call.arguments.data);
    free(call.result.data);
}

static struct item_list items, appended;

/* user, call, result, user */
static void fill_items(void)
{
    item_list_add(&items, item_message(ROLE_USER, PART_INPUT_TEXT, "first", 5));
    item_list_add(&items, item_call("c1", "count", "{}", 2, true));
    item_list_add(&items, item_output("c1", "one", 3, false));
    item_list_add(&items, item_message(ROLE_USER, PART_INPUT_TEXT, "last", 4));
}

static void pre_request(size_t locked)
{
    fill_items();
    hooks_pre_llm_request(&setting, &items, locked, 2, "script/x", &appended, &outcome);
}

static void turn_end(void)
{
    fill_items();
    hooks_turn_end(&setting, items.items, items.count, 2, &appended, &outcome);
}

static void free_items(void)
{
    item_list_release(&items);
    item_list_release(&appended);
}

/* ---- the chain ---- */

/* W43, D27: in order, until one gives another verdict. */
static void test_first_verdict_ends_the_chain(void **state)
{
    (void)state;
    submit();
    went_on();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(scripts[i].asked, 1);
    assert_string_equal(told, "");
    item_unref(prompt);

    scripts[1] = (struct script){give_reason, MORTISE_ABORT, 0};
    scripts[2].verdict = MORTISE_HOOK_FAILED;
    submit();
    decided(MORTISE_ABORT, "h1", "because\xEF\xBF\xBD of it");
    assert_int_equal(scripts[0].asked, 2);
    assert_int_equal(scripts[2].asked, 1);
    assert_string_equal(told, "own/h1 OnPromptSubmit abort because\xEF\xBF\xBD of it\n");
    item_unref(prompt);
}

static void nothing(void)
{
}

static void turn_end_appended(void)
{
    item_list_add(&appended, item_message(ROLE_USER, PART_INPUT_TEXT, "go on", 5));
    turn_end();
}

static void pre_request_unlocked(void)
{
    pre_request(0);
}

/* Which verdicts an event knows; all others are failures that say so (W61-W72, D26). */
static void test_verdicts_of_each_event(void **state)
{
    (void)state;
    static const struct {
        void (*ask)(void);
        void (*clean)(void);
        const char *name;
        unsigned known;
    } cases[] = {
        {submit, nothing, "OnPromptSubmit", 1u << MORTISE_ABORT},
        {pre_request_unlocked, free_items, "PreLlmRequest", 1u << MORTISE_ABORT},
        {pre_call, free_call, "PreToolCall",
         1u << MORTISE_SKIP | 1u << MORTISE_ABORT | 1u << MORTISE_PAUSE},
        {post_call, free_call, "PostToolCall", 1u << MORTISE_ABORT},
        {turn_end_appended, free_items, "OnTurnEnd",
         1u << MORTISE_ABORT | 1u << MORTISE_PAUSE | 1u << MORTISE_CONTINUE_WITH},
    };
    static const mortise_verdict verdicts[] = {MORTISE_CONTINUE,
                                               MORTISE_SKIP,
                                               MORTISE_RESPOND,
                                               MORTISE_ABORT,
                                               MORTISE_PAUSE,
                                               MORTISE_CONTINUE_WITH,
                                               MORTISE_HOOK_FAILED,
                                               7,
                                               31,
                                               32,
                                               UINT32_MAX};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (size_t k = 1; k < sizeof(verdicts) / sizeof(*verdicts); k++) {
            mortise_verdict verdict = verdicts[k];
            char why[128];
            *told = '\0';
            scripts[0].verdict = verdict;
            cases[i].ask();
            snprintf(why, sizeof(why), "it returned verdict %u, which %s does not know",
                     (unsigned)verdict, cases[i].name);
            if (verdict == MORTISE_HOOK_FAILED)
                decided(MORTISE_HOOK_FAILED, "h0", "it gave no reason");
            else if (verdict < 32 && cases[i].known >> verdict & 1)
                decided(verdict, "h0", "");
            else if (verdict == MORTISE_RESPOND && cases[i].ask == pre_call)
                decided(MORTISE_HOOK_FAILED, "h0",
                        "it returned MORTISE_RESPOND without calling respond()");
            else
                decided(MORTISE_HOOK_FAILED, "h0", why);
            assert_has(told, outcome.failed ? " failed " : "own/h0");
            cases[i].clean();
            if (cases[i].ask == submit)
                item_unref(prompt);
        }
    }
}

static void test_event_names(void **state)
{
    (void)state;
    assert_string_equal(hook_event_name(HOOK_prompt_submit), "OnPromptSubmit");
    assert_string_equal(hook_event_name(HOOK_stream_complete), "OnStreamComplete");
    const struct hook *hook = registry_hook(registry, 0);
    assert_true(hook_takes(hook, HOOK_on_abort));
    assert_false(hook_takes(hook, HOOK_text_delta));
    assert_true(hooks_take(registry, HOOK_pre_llm_request));
    struct registry *empty = registry_new();
    assert_false(hooks_take(empty, HOOK_pre_llm_request));
    registry_unref(empty);
}

/* ---- what is denied where ---- */

static bool may_items, may_set, may_remove, may_append, may_call_in, may_call_out;

static void try_all(mortise_hook *hook, const void *event)
{
    (void)event;
    const mortise_hook_ops *ops = hook->ops;
    size_t length = 1;
    assert_string_equal(ops->context(hook, "session"), "s1");
    assert_null(ops->context(hook, "user"));
    assert_null(ops->context(hook, NULL));
    assert_non_null(ops->alloc(hook, 100));
    assert_int_equal(ops->item_count(hook) > 0, may_items);
    assert_int_equal(ops->item(hook, 0, &length) != NULL, may_items);
    assert_int_equal(length > 0, may_items);
    assert_null(ops->item(hook, 99, NULL));
    /* What an event allows, it refuses for another reason. */
    assert_int_equal(set_item(hook, 0, "no JSON"), may_set ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->set_item(hook, 0, NULL, 0), may_set ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->remove_item(hook, 99), may_remove ? MORTISE_NOT_FOUND : MORTISE_DENIED);
    assert_int_equal(append(hook, "{}"), may_append ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->set_arguments(hook, "[]", 2),
                     may_call_in ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->respond(hook, false, NULL, 2),
                     may_call_in ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->set_result(hook, false, NULL, 2),
                     may_call_out ? MORTISE_INVALID : MORTISE_DENIED);
    assert_int_equal(ops->tool_state(hook, "count", "counter") != NULL,
                     may_call_in || may_call_out);
}

static void allow(bool reading, bool set, bool remove, bool add, bool call_in, bool call_out)
{
    may_items = reading;
    may_set = set;
    may_remove = remove;
    may_append = add;
    may_call_in = call_in;
    may_call_out = call_out;
    scripts[0].act = try_all;
    scripts[0].asked = 0;
}

static void test_denied_elsewhere(void **state)
{
    (void)state;
    allow(false, true, false, false, false, false);
    submit();
    item_unref(prompt);
    assert_int_equal(scripts[0].asked, 1);
    allow(true, true, true, true, false, false);
    pre_request(0);
    free_items();
    assert_int_equal(scripts[0].asked, 1);
    allow(false, false, false, false, true, false);
    pre_call();
    free_call();
    assert_int_equal(scripts[0].asked, 1);
    allow(false, false, false, false, false, true);
    post_call();
    free_call();
    assert_int_equal(scripts[0].asked, 1);
    allow(true, false, false, true, false, false);
    turn_end();
    free_items();
    assert_int_equal(scripts[0].asked, 1);
    allow(false, false, false, false, false, false);
    hooks_abort(&setting, "cancelled");
    assert_int_equal(scripts[0].asked, 1);
    assert_string_equal(told, "");
}

/* ---- OnPromptSubmit ---- */

static void change_prompt(mortise_hook *hook, const void *data)
{
    const mortise_prompt_submit *event = data;
    assert_has(event->item, "\"text\":\"hello\"");
    assert_int_equal(strlen(event->item), event->item_length);
    assert_int_equal(set_item(hook, 1, USER("x")), MORTISE_NOT_FOUND);
    assert_int_equal(set_item(hook, 0, "{\"type\":\"reasoning\",\"text\":\"x\"}"), MORTISE_INVALID);
    assert_int_equal(set_item(hook, 0, USER("changed")), MORTISE_OK);
    assert_has(event->item, "\"text\":\"hello\""); /* still there to be read */
}

static void see_changed_prompt(mortise_hook *hook, const void *data)
{
    const mortise_prompt_submit *event = data;
    (void)hook;
    assert_has(event->item, "\"text\":\"changed\"");
}

/* W64 */
static void test_prompt_is_changed(void **state)
{
    (void)state;
    scripts[0].act = change_prompt;
    scripts[1].act = see_changed_prompt;
    submit();
    went_on();
    has_json(prompt, "changed");
    assert_string_equal(told, "own/h0 OnPromptSubmit change_item -\n");
    item_unref(prompt);
}

/* ---- PreLlmRequest ---- */

static void edit_items(mortise_hook *hook, const void *data)
{
    const mortise_pre_llm_request *event = data;
    assert_int_equal(event->turn, 2);
    assert_int_equal(event->locked_prefix, 1);
    assert_string_equal(event->model, "script/x");
    assert_int_equal(hook->ops->item_count(hook), 4);
    assert_int_equal(set_item(hook, 0, USER("x")), MORTISE_DENIED);
    assert_int_equal(hook->ops->remove_item(hook, 0), MORTISE_DENIED);
    assert_int_equal(set_item(hook, 4, USER("x")), MORTISE_NOT_FOUND);
    /* A result stays the result of its call. */
    assert_int_equal(set_item(hook, 2, USER("x")), MORTISE_INVALID);
    assert_int_equal(set_item(hook, 2,
                              "{\"type\":\"function_call_output\",\"call_id\":\"c2\","
                              "\"output\":\"x\",\"is_error\":false}"),
                     MORTISE_INVALID);
    assert_int_equal(set_item(hook, 2,
                              "{\"type\":\"function_call_output\",\"call_id\":\"c1\","
                              "\"output\":\"redacted\",\"is_error\":false}"),
                     MORTISE_OK);
    assert_int_equal(append(hook, "{\"type\":\"reasoning\",\"text\":\"x\"}"), MORTISE_INVALID);
    assert_int_equal(append(hook, USER("added")), MORTISE_OK);
    size_t length;
    assert_int_equal(hook->ops->item_count(hook), 5);
    assert_has(hook->ops->item(hook, 4, &length), "added");
}

/* W65, D18 */
static void test_request_is_edited(void **state)
{
    (void)state;
    scripts[0].act = edit_items;
    pre_request(1);
    went_on();
    assert_int_equal(items.count, 5);
    has_json(items.items[2], "redacted");
    has_json(items.items[4], "added");
    assert_int_equal(appended.count, 1);
    assert_ptr_equal(appended.items[0], items.items[4]);
    assert_string_equal(told, "own/h0 PreLlmRequest change_item -\n"
                              "own/h0 PreLlmRequest append -\n");
    free_items();
}

static void remove_pair(mortise_hook *hook, const void *event)
{
    (void)event;
    assert_int_equal(hook->ops->remove_item(hook, 2), MORTISE_OK);
    assert_int_equal(hook->ops->remove_item(hook, 1), MORTISE_OK);
    assert_int_equal(hook->ops->item_count(hook), 2);
}

static void remove_call_only(mortise_hook *hook, const void *event)
{
    (void)event;
    assert_int_equal(hook->ops->remove_item(hook, 1), MORTISE_OK);
}

/* D18: no call without a result, no result without a call. */
static void test_pairs_are_removed_together(void **state)
{
    (void)state;
    scripts[0].act = remove_pair;
    pre_request(0);
    went_on();
    assert_int_equal(items.count, 2);
    has_json(items.items[1], "last");
    assert_string_equal(told, "own/h0 PreLlmRequest remove_item -\n");
    free_items();

    scripts[0].act = remove_call_only;
    pre_request(0);
    decided(MORTISE_HOOK_FAILED, "h0",
            "it removed a call without its result, or the other way round ('c1')");
    free_items();
}

/* ---- PreToolCall ---- */

static void change_arguments(mortise_hook *hook, const void *data)
{
    const mortise_pre_tool_call *event = data;
    const mortise_hook_ops *ops = hook->ops;
    assert_int_equal(event->turn, 3);
    assert_int_equal(event->index, 1);
    assert_int_equal(event->count, 2);
    assert_string_equal(event->call_id, "c1");
    assert_string_equal(event->meta->name, "count"); /* T7, T68 */
    assert_string_equal(event->meta->input_schema, "{\"type\":\"object\"}");
    assert_string_equal(event->arguments, "{\"n\":1}");
    assert_int_equal(event->arguments_length, 7);
    assert_int_equal(ops->set_arguments(hook, "{\"n\":", 5), MORTISE_INVALID);
    assert_int_equal(ops->set_arguments(hook, "[1]", 3), MORTISE_INVALID);
    assert_int_equal(ops->set_arguments(hook, NULL, 0), MORTISE_INVALID);
    assert_int_equal(ops->set_arguments(hook, "{\"n\": 2.50}", 11), MORTISE_OK);
    assert_string_equal(event->arguments, "{\"n\":1}"); /* still there to be read */
}

static void see_changed_arguments(mortise_hook *hook, const void *data)
{
    const mortise_pre_tool_call *event = data;
    (void)hook;
    assert_string_equal(event->arguments, "{\"n\": 2.50}");
}

/* T66, T70: the bytes of the hook go on as they are. */
static void test_arguments_are_changed(void **state)
{
    (void)state;
    scripts[0].act = change_arguments;
    scripts[1].act = see_changed_arguments;
    pre_call();
    went_on();
    assert_string_equal(call.arguments.data, "{\"n\": 2.50}");
    assert_string_equal(told, "own/h0 PreToolCall change_arguments -\n");
    free_call();
}

static void respond(mortise_hook *hook, const void *event)
{
    (void)event;
    assert_int_equal(hook->ops->respond(hook, true, "a", 1), MORTISE_OK);
    assert_int_equal(hook->ops->respond(hook, true, "no\0\xFF", 4), MORTISE_OK);
}

/* D1 */
static void test_respond(void **state)
{
    (void)state;
    scripts[0] = (struct script){respond, MORTISE_RESPOND, 0};
    pre_call();
    decided(MORTISE_RESPOND, "h0", "");
    assert_string_equal(call.result.data, "no\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_int_equal(call.result.length, 8);
    assert_true(call.is_error);
    assert_string_equal(told, "own/h0 PreToolCall respond -\n");
    free_call();

    scripts[0].verdict = MORTISE_CONTINUE; /* said nothing, after all */
    pre_call();
    went_on();
    assert_null(call.result.data);
    assert_false(call.is_error);
    free_call();
}

static void look_at_states(mortise_hook *hook, const void *event)
{
    (void)event;
    const mortise_hook_ops *ops = hook->ops;
    assert_ptr_equal(ops->tool_state(hook, "count", "counter"), &secret);
    assert_null(ops->tool_state(hook, "count", "other"));
    assert_null(ops->tool_state(hook, "count", NULL));
    assert_null(ops->tool_state(hook, "nothing", "counter"));
    assert_null(ops->tool_state(hook, "theirs", "counter"));
    assert_null(ops->tool_state(hook, NULL, "counter"));
}

/* T69: of the own plugin, and of the right type. */
static void test_tool_state(void **state)
{
    (void)state;
    scripts[0].act = look_at_states;
    pre_call();
    went_on();
    free_call();
}

/* ---- PostToolCall ---- */

static void change_result(mortise_hook *hook, const void *data)
{
    const mortise_post_tool_call *event = data;
    assert_string_equal(event->arguments, "{\"n\":1}");
    assert_string_equal(event->result, "one");
    assert_false(event->is_error);
    assert_null(event->error_code); /* it is no error */
    assert_int_equal(event->duration_us, 7);
    assert_int_equal(hook->ops->set_result(hook, true, "two", 3), MORTISE_OK);
    assert_string_equal(event->result, "one");
}

static void see_changed_result(mortise_hook *hook, const void *data)
{
    const mortise_post_tool_call *event = data;
    (void)hook;
    assert_string_equal(event->result, "two");
    assert_true(event->is_error);
    assert_string_equal(event->error_code, "tool.error");
}

/* T67, T71 */
static void test_result_is_changed(void **state)
{
    (void)state;
    scripts[0].act = change_result;
    scripts[1].act = see_changed_result;
    post_call();
    went_on();
    assert_string_equal(call.result.data, "two");
    assert_true(call.is_error);
    assert_string_equal(told, "own/h0 PostToolCall change_result -\n");
    free_call();
}

static struct attachment dot;

/* Seen, without the bytes; gone once the result is an error. */
static void see_parts(mortise_hook *hook, const void *data)
{
    (void)data;
    assert_string_equal(hook->ops->context(hook, "parts"),
                        "[{\"index\":0,\"mime_type\":\"image/png\",\"bytes\":3}]");
}

static void keep_parts(mortise_hook *hook, const void *data)
{
    see_parts(hook, data);
    assert_int_equal(hook->ops->set_result(hook, false, "two", 3), MORTISE_OK);
}

static void take_parts_away(mortise_hook *hook, const void *data)
{
    see_parts(hook, data);
    assert_int_equal(hook->ops->set_result(hook, true, "no", 2), MORTISE_OK);
}

static void see_no_parts(mortise_hook *hook, const void *data)
{
    (void)data;
    assert_null(hook->ops->context(hook, "parts"));
}

/* F75: a guard may look at what goes with a result, and keep it from the model. */
static void test_parts_of_results(void **state)
{
    (void)state;
    char mime[] = "image/png", bytes[] = "abc";
    dot = (struct attachment){.mime_type = mime, .data = {bytes, 3}};
    scripts[0].act = keep_parts;
    scripts[1].act = see_parts;
    post_call_with(&dot, 1);
    assert_int_equal(call.attachment_count, 1);
    free_call();
    scripts[0].act = take_parts_away;
    scripts[1].act = see_no_parts;
    post_call_with(&dot, 1);
    assert_int_equal(call.attachment_count, 0);
    free_call();
}

static void drop_parts(mortise_hook *hook, const void *data)
{
    size_t length;
    (void)data;
    assert_null(hook->ops->context(hook, "parts"));
    assert_has(hook->ops->item(hook, 2, &length), "\"parts\":[{\"index\":0,");
    assert_int_equal(set_item(hook, 2,
                              "{\"type\":\"function_call_output\",\"call_id\":\"c1\","
                              "\"output\":\"x\",\"is_error\":false}"),
                     MORTISE_OK);
    assert_has(hook->ops->item(hook, 2, &length), "\"parts\":[{\"index\":0,");
    assert_int_equal(set_item(hook, 2,
                              "{\"type\":\"function_call_output\",\"call_id\":\"c1\","
                              "\"output\":\"x\",\"is_error\":false,\"parts\":[]}"),
                     MORTISE_OK);
}

static void test_parts_of_a_request(void **state)
{
    (void)state;
    char mime[] = "image/png", bytes[] = "abc";
    dot = (struct attachment){.mime_type = mime, .data = {bytes, 3}};
    scripts[0].act = drop_parts;
    fill_items();
    assert_true(item_attach(items.items[2], &dot));
    hooks_pre_llm_request(&setting, &items, 0, 2, "script/x", &appended, &outcome);
    went_on();
    assert_int_equal(items.items[2]->attachment_count, 0);
    free_items();
}

/* ---- OnTurnEnd, OnAbort ---- */

static void go_on(mortise_hook *hook, const void *data)
{
    const mortise_turn_end *event = data;
    size_t length;
    assert_int_equal(event->turn, 2);
    assert_has(hook->ops->item(hook, 3, &length), "last");
    assert_int_equal(append(hook, USER("go on")), MORTISE_OK);
}

/* W72 */
static void test_turn_goes_on(void **state)
{
    (void)state;
    scripts[0] = (struct script){go_on, MORTISE_CONTINUE_WITH, 0};
    turn_end();
    decided(MORTISE_CONTINUE_WITH, "h0", "");
    assert_int_equal(items.count, 4);
    assert_int_equal(appended.count, 1);
    has_json(appended.items[0], "go on");
    assert_string_equal(told, "own/h0 OnTurnEnd append -\nown/h0 OnTurnEnd continue_with -\n");
    free_items();

    scripts[0].act = NULL;
    turn_end();
    decided(MORTISE_HOOK_FAILED, "h0",
            "it returned MORTISE_CONTINUE_WITH without calling append()");
    free_items();
}

static void see_abort(mortise_hook *hook, const void *data)
{
    const mortise_abort *event = data;
    (void)hook;
    assert_string_equal(event->reason, "cancelled");
    assert_int_equal(event->reason_length, 9);
}

/* W60, W73: all are asked, and a failure is only a line in the log. */
static void test_abort(void **state)
{
    (void)state;
    char lines[512];
    scripts[0] = (struct script){give_reason, MORTISE_HOOK_FAILED, 0};
    scripts[1].verdict = MORTISE_SKIP;
    scripts[2].act = see_abort;
    struct stderr_capture capture = capture_stderr();
    hooks_abort(&setting, "cancelled");
    captured_stderr(capture, lines, sizeof(lines));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(scripts[i].asked, 1);
    assert_has(lines, "hook 'own/h0' failed at OnAbort: because");
    assert_has(lines, "hook 'own/h1' failed at OnAbort: it returned verdict 1, which OnAbort");
}

/* D26: passed over where nothing is decided, and only if the configuration says so. */
static void test_observers_may_fail(void **state)
{
    (void)state;
    char lines[512];
    struct error error = ERROR_INIT;
    struct registry *other = registry_new();
    struct plugin *plugin = plugin_new("/own.so", &sample.face, NULL);
    plugin->config = json_loads("{\"on_failure\":\"ignore\"}", 0, NULL);
    assert_true(registry_add(other, plugin, &error));
    setting.registry = other;
    scripts[0] = (struct script){give_reason, MORTISE_HOOK_FAILED, 0};
    struct stderr_capture capture = capture_stderr();
    turn_end();
    captured_stderr(capture, lines, sizeof(lines));
    went_on();
    assert_int_equal(scripts[1].asked, 1);
    assert_has(lines, "hook 'own/h0' failed at OnTurnEnd: because");
    assert_has(told, "own/h0 OnTurnEnd failed because");
    free_items();

    pre_request(0);
    assert_int_equal(outcome.verdict, MORTISE_HOOK_FAILED);
    free_items();
    registry_unref(other);
}

/* ---- memory ---- */

static void change_everything(mortise_hook *hook, const void *event)
{
    (void)event;
    size_t length;
    hook->ops->item(hook, 0, &length);
    set_item(hook, 0, USER("changed"));
    append(hook, USER("added"));
    hook->ops->remove_item(hook, 1);
    hook->ops->remove_item(hook, 1);
}

/* A hook that could not do what it wanted has failed, even if it does not say so. */
static void test_no_memory(void **state)
{
    (void)state;
    scripts[0].act = change_everything;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        fill_items();
        fail_after(allowed);
        hooks_pre_llm_request(&setting, &items, 0, 2, "script/x", &appended, &outcome);
        failed = fail_never();
        if (outcome.failed)
            assert_string_equal(outcome.reason, "out of memory");
        else
            has_json(items.items[0], "changed");
        assert_true(allowed < 200);
        free_items();
    }
    went_on();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
        TEST(test_first_verdict_ends_the_chain),
        TEST(test_verdicts_of_each_event),
        TEST(test_event_names),
        TEST(test_denied_elsewhere),
        TEST(test_prompt_is_changed),
        TEST(test_request_is_edited),
        TEST(test_pairs_are_removed_together),
        TEST(test_arguments_are_changed),
        TEST(test_respond),
        TEST(test_tool_state),
        TEST(test_result_is_changed),
        TEST(test_parts_of_results),
        TEST(test_parts_of_a_request),
        TEST(test_turn_goes_on),
        TEST(test_abort),
        TEST(test_observers_may_fail),
        TEST(test_no_memory),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

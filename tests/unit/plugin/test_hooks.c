/* Which hooks are asked, in which order, what they may do where, and what their verdicts mean. */
#include "hooks_scene.h"

#include "../base/failing.h"
#include "stderr_capture.h"

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

/* ---- OnAbort, and hooks that only watch ---- */

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
#define TEST(name) cmocka_unit_test_setup_teardown(name, hooks_scene_start, hooks_scene_end)
        TEST(test_first_verdict_ends_the_chain),
        TEST(test_verdicts_of_each_event),
        TEST(test_event_names),
        TEST(test_denied_elsewhere),
        TEST(test_abort),
        TEST(test_observers_may_fail),
        TEST(test_no_memory),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

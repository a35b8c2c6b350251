#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/cancel.h"
#include "conversation/history.h"
#include "conversation/item.h"
#include "plugin/hooks.h"
#include "plugin/registry.h"
#include "provider/provider.h"
#include "stage.h"
#include "timeline/event.h"
#include "timeline/subscriber.h"
#include "timeline/timeline.h"
#include "tool/dispatch.h"

static void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text ? text : "(nothing)");
}

static struct item *say(const char *text)
{
    return item_message(ROLE_USER, PART_INPUT_TEXT, text, strlen(text));
}

static void a_new_worker_is_mutable_and_empty(void **state) /* W1, W2, W3, W4, W15, W59 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"Hello.\"}", NULL);
    assert_int_equal(worker_state(stage.worker), WORKER_MUTABLE);
    assert_int_equal(worker_history(stage.worker)->count, 0);
    assert_int_equal(worker_locked_prefix(stage.worker), 0);
    assert_int_equal(worker_turn_count(stage.worker), 0);
    assert_null(worker_system(stage.worker));
    assert_ptr_equal(worker_registry(stage.worker), stage.registry);
    assert_false(worker_last_run_interrupted(stage.worker));
    assert_false(worker_is_cancelled(stage.worker));
    stage_close(&stage);
}

static mortise_verdict refuse_prompt(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    (void)state;
    (void)event;
    hook->ops->reason(hook, "not today", 9);
    return MORTISE_ABORT;
}

static void hooks_are_welcome_while_locked(void **state) /* W81, W115 */
{
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "gate", .prompt_submit = refuse_prompt};
    struct stage stage;
    struct error error = ERROR_INIT;
    struct text line = TEXT_INIT;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"},{\"text\":\"Two.\"}", NULL);
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    worker_lock(stage.worker);
    struct registry *other = stage_registry(&hooks);
    assert_true(worker_set_registry(stage.worker, other, &error));
    assert_ptr_equal(worker_registry(stage.worker), other);
    registry_unref(other);
    assert_int_equal(stage_run(&stage, "2"), WORKER_ABORTED);
    worker_result_describe(&stage.result, &line);
    assert_contains(text_cstr(&line), "Aborted: ");
    assert_contains(text_cstr(&line), "not today");
    assert_true(worker_set_registry(stage.worker, stage.registry, &error));
    assert_int_equal(stage_run(&stage, "3"), WORKER_FINISHED);
    text_release(&line);
    stage_close(&stage);
}

/* W63, W112-W116, W121: one line for each way a run ends. */
static void endings_have_their_words(void **state)
{
    static const struct {
        enum worker_status status;
        bool tools_failed;
        const char *message, *line;
    } cases[] = {
        {WORKER_FINISHED, false, NULL, "Finished"},
        {WORKER_PAUSED, false, NULL, "Paused"},
        {WORKER_LIMIT, false, "stopped", "Limit reached: stopped"},
        {WORKER_ABORTED, false, "no", "Aborted: no"},
        {WORKER_HOOK, false, "it broke", "Hook error: it broke"},
        {WORKER_CANCELLED, false, "cancelled", "Cancelled"},
        {WORKER_FAILED, false, "busy", "Client error: busy"},
        {WORKER_FAILED, true, "no thread", "Tool error: no thread"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct worker_result result = {.status = cases[i].status,
                                       .tools_failed = cases[i].tools_failed};
        struct text line = TEXT_INIT;
        if (cases[i].message)
            error_set(&result.error, ERROR_INTERNAL, "%s", cases[i].message);
        worker_result_describe(&result, &line);
        assert_string_equal(text_cstr(&line), cases[i].line);
        text_release(&line);
    }
}

/* W119, W120, W122: the names are there, each concept in its own header. */
static void the_names_are_there(void **state)
{
    (void)state;
    struct tool_result result = {0};
    struct dispatch_call call = {.id = "c", .name = "echo", .arguments = {"{}", 2}};
    tool_result_fail(&result, MORTISE_UNAVAILABLE, "x", "gone");
    assert_false(result.success);
    assert_string_equal(call.id, "c");
    assert_int_equal(ROLE_USER + PART_INPUT_TEXT + ITEM_MESSAGE, 0);
    struct subscriber subscriber = {0};
    assert_null(subscriber.text_block);
    tool_result_release(&result);
}

static void lock_and_unlock(void **state) /* W5-W8, W13 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"},{\"text\":\"Two.\"},{\"text\":\"Three.\"}", NULL);
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    worker_lock(stage.worker);
    assert_int_equal(worker_state(stage.worker), WORKER_CACHE_LOCKED);
    assert_int_equal(worker_locked_prefix(stage.worker), 2);
    assert_int_equal(stage_run(&stage, "2"), WORKER_FINISHED);
    assert_int_equal(worker_locked_prefix(stage.worker), 2);
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    assert_int_equal(stage_item_count(&stage), 5);
    worker_unlock(stage.worker);
    assert_int_equal(worker_state(stage.worker), WORKER_MUTABLE);
    assert_int_equal(worker_locked_prefix(stage.worker), 0);
    stage_close(&stage);
}

static void expect_refusal(bool changed, const struct error *error, const char *what)
{
    assert_false(changed);
    assert_int_equal(error->kind, ERROR_USAGE);
    assert_contains(error->message, what);
    assert_contains(error->message, "locked");
}

static void changes_are_refused_while_locked(void **state) /* W9, W10, W12, T43 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"}", NULL);
    assert_true(worker_set_system(stage.worker, "Be brief.", &error));
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    worker_lock(stage.worker);
    struct item *items[] = {say("x"), say("y")};
    struct worker *worker = stage.worker;
    expect_refusal(worker_set_system(worker, "Be long.", &error), &error, "system prompt");
    expect_refusal(worker_push_item(worker, say("x"), &error), &error, "history");
    expect_refusal(worker_set_history(worker, items, 2, &error), &error, "history");
    expect_refusal(worker_clear_history(worker, &error), &error, "history");
    struct registry *other = registry_new();
    expect_refusal(worker_set_registry(worker, other, &error), &error, "tools");
    registry_unref(other);
    assert_string_equal(worker_system(worker), "Be brief.");
    assert_int_equal(stage_item_count(&stage), 2);
    stage_close(&stage);
}

static void changes_work_while_mutable(void **state) /* W95, W99, W102, W106, W107, T41, T42, T46, T47 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    (void)state;
    stage_open(&stage, "{\"expect\":[\"Be brief.\",\"first\",\"second\"],\"text\":\"One.\"}", NULL);
    struct worker *worker = stage.worker;
    worker_lock(worker);
    worker_unlock(worker);
    assert_true(worker_set_system(worker, "Be brief.", &error));
    assert_true(worker_push_item(worker, say("gone"), &error));
    assert_true(worker_clear_history(worker, &error));
    assert_int_equal(stage_item_count(&stage), 0);
    struct item *items[] = {say("first"), say("second")};
    assert_true(worker_set_history(worker, items, 2, &error));
    assert_true(worker_set_registry(worker, stage.registry, &error));
    assert_int_equal(stage_run(&stage, "third"), WORKER_FINISHED);
    assert_int_equal(stage_item_count(&stage), 4);
    assert_true(worker_set_system(worker, NULL, &error));
    assert_null(worker_system(worker));
    stage_close(&stage);
}

static void a_lock_keeps_everything_else(void **state) /* W14, W96-W98, W103, W104, W105, W109 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"},{\"text\":\"Two.\"}", NULL);
    static const char *const stop[] = {"END", NULL};
    struct request_config config = {7, 0.5, 0.25, 3, stop, NULL};
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    worker_set_config(stage.worker, &config);
    worker_cancel(stage.worker);
    worker_lock(stage.worker);
    worker_unlock(stage.worker);
    worker_lock(stage.worker);
    assert_int_equal(worker_config(stage.worker)->max_tokens, 7);
    assert_string_equal(worker_config(stage.worker)->stop[0], "END");
    assert_int_equal(worker_turn_count(stage.worker), 1);
    assert_int_equal(stage_item_count(&stage), 2);
    assert_true(worker_is_cancelled(stage.worker));
    assert_int_equal(stage_run(&stage, "2"), WORKER_CANCELLED);
    assert_int_equal(stage_run(&stage, "3"), WORKER_FINISHED);
    assert_contains(text_cstr(&stage.trace), "turn_start"); /* the subscriber is still there */
    stage_close(&stage);
}

static void a_cancel_hits_one_run(void **state) /* W47-W49, W54, W55, W108, W116, D21 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"},{\"text\":\"Two.\"}", NULL);
    struct cancel *token = worker_cancel_token(stage.worker);
    assert_ptr_equal(token, stage.cancel);
    cancel_trigger(token);
    worker_cancel(stage.worker);
    assert_int_equal(stage_run(&stage, "1"), WORKER_CANCELLED);
    assert_string_equal(stage.result.error.message, "cancelled");
    assert_false(worker_is_cancelled(stage.worker));
    cancel_trigger(token); /* late: its run is over */
    assert_int_equal(stage_run(&stage, "2"), WORKER_FINISHED);
    cancel_unref(token);
    token = worker_cancel_token(stage.worker);
    assert_ptr_not_equal(token, stage.cancel);
    cancel_unref(token);
    stage_close(&stage);
}

static const char *const no_top_k[] = {"top_k", "top_p", NULL};

static void settings_are_validated(void **state) /* W100, W101, W117 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    struct request_config config = REQUEST_CONFIG_INIT;
    (void)state;
    stage_open(&stage, "{\"text\":\"One.\"}", NULL);
    stage.client->unsupported = no_top_k;
    assert_true(worker_validate(stage.worker, &error));
    config.top_k = 5;
    config.top_p = 0.5;
    worker_set_config(stage.worker, &config);
    assert_false(worker_validate(stage.worker, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_string_equal(error.message,
                        "Config warnings: 'top_k' is not supported by script and will be ignored, "
                        "'top_p' is not supported by script and will be ignored");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_worker_is_mutable_and_empty),
        cmocka_unit_test(hooks_are_welcome_while_locked),
        cmocka_unit_test(endings_have_their_words),
        cmocka_unit_test(the_names_are_there),
        cmocka_unit_test(lock_and_unlock),
        cmocka_unit_test(changes_are_refused_while_locked),
        cmocka_unit_test(changes_work_while_mutable),
        cmocka_unit_test(a_lock_keeps_everything_else),
        cmocka_unit_test(a_cancel_hits_one_run),
        cmocka_unit_test(settings_are_validated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What hooks change at each event, and who sees it then. */
#include "hooks_scene.h"

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

/* ---- OnTurnEnd ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, hooks_scene_start, hooks_scene_end)
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
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

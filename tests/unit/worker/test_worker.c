#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "stage.h"

#define CALL(id, name, arguments)                                                                  \
    "{\"id\":\"" id "\",\"name\":\"" name "\",\"arguments\":" arguments "}"

static void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text ? text : "(nothing)");
}

static void an_answer_is_stored(void **state) /* W16, W30, W38, W44 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"Hello.\"}", NULL);
    assert_int_equal(stage_run(&stage, "Hi"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&stage.result.text), "Hello.");
    assert_int_equal(stage.result.turns, 1);
    assert_int_equal(worker_turn_count(stage.worker), 1);
    assert_false(worker_last_run_interrupted(stage.worker));
    assert_int_equal(stage_item_count(&stage), 2);
    assert_string_equal(
        stage_item(&stage, 0),
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
        "\"text\":\"Hi\"}]}");
    assert_contains(stage_item(&stage, 1), "\"output_text\",\"text\":\"Hello.\"");
    assert_string_equal(text_cstr(&stage.trace), "run_start turn_start turn_end ");
    stage_close(&stage);
}

static void calls_are_run_and_answered_in_order(void **state) /* W29-W37, W45, W46, D1 */
{
    struct stage stage;
    (void)state;
    stage_open(
        &stage,
        "{\"text\":\"Looking.\",\"calls\":[" CALL("a", "echo", "{\"n\":1}") "," CALL(
            "b", "fail",
            "{}") "," CALL("c", "teleport",
                           "{}") "," CALL("d", "echo",
                                          "\"{\\\"x\\\": oops\"") "]},"
                                                                  "{\"expect\":[\"no "
                                                                  "luck\",\"teleport\",\"oops\"],"
                                                                  "\"text\":\"Done.\"}",
        NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&stage.result.text), "Done.");
    assert_int_equal(stage.calls, 2);
    assert_int_equal(stage_item_count(&stage), 11);
    assert_contains(stage_item(&stage, 1), "Looking.");
    assert_contains(stage_item(&stage, 2), "\"call_id\":\"a\"");
    assert_contains(
        stage_item(&stage, 6),
        "{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"{\\\"n\\\":1}\"");
    assert_contains(stage_item(&stage, 7),
                    "\"call_id\":\"b\",\"output\":\"Execution failed: no luck\","
                    "\"is_error\":true");
    assert_contains(stage_item(&stage, 8), "Tool 'teleport' not found");
    assert_contains(stage_item(&stage, 8), "big, echo, fail, look");
    assert_contains(stage_item(&stage, 9), "\"call_id\":\"d\"");
    assert_contains(stage_item(&stage, 9), "oops");
    assert_string_equal(text_cstr(&stage.trace),
                        "run_start turn_start tool_call tool_call tool_call tool_call turn_end "
                        "tool_result tool_result tool_result tool_result turn_start turn_end ");
    stage_close(&stage);
}

static void a_repeated_id_is_made_unique(void **state) /* D14 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               "{\"calls\":[" CALL("x", "echo", "{}") "]},"
                                                      "{\"calls\":[" CALL(
                                                          "x", "echo", "{}") "]},{\"text\":\"ok\"}",
               NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 2);
    struct error error = ERROR_INIT;
    const struct history *history = worker_history(stage.worker);
    if (!history_check(history->items, history->count, &error))
        fail_msg("%s", error.message);
    assert_string_not_equal(history->items[1]->call_id, history->items[3]->call_id);
    stage_close(&stage);
}

static void a_cut_response_runs_no_call(void **state) /* D3 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               "{\"calls\":[" CALL("a", "echo",
                                   "{}") "],\"stop\":\"length\"},"
                                         "{\"expect\":[\"not run\"],\"text\":\"Shorter then.\"}",
               NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 0);
    assert_contains(stage_item(&stage, 2), "\"is_error\":true");
    stage_close(&stage);
}

static void cut_twice_in_a_row_ends_the_run(void **state) /* D3, D10 */
{
    struct stage stage;
    (void)state;
    stage_open(
        &stage,
        "{\"calls\":[" CALL("a", "echo", "{}") "],\"stop\":\"length\"},"
                                               "{\"calls\":[" CALL("b", "echo",
                                                                   "{}") "],\"stop\":\"length\"}",
        NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_LIMIT);
    assert_contains(stage.result.error.message, "--max-tokens");
    assert_int_equal(stage.calls, 0);
    stage_close(&stage);
}

static void a_failed_attempt_leaves_nothing(void **state) /* D22, W112 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               "{\"text\":\"half\",\"error\":{\"kind\":\"overloaded\",\"message\":\"busy\","
               "\"retryable\":true}},{\"text\":\"whole\"}",
               NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_OVERLOADED);
    assert_true(worker_last_run_interrupted(stage.worker));
    assert_int_equal(stage_item_count(&stage), 1);
    assert_int_equal(stage_run(&stage, "Again"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&stage.result.text), "whole");
    stage_close(&stage);
}

static void the_turn_limit_is_a_result(void **state) /* D10, W121 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               "{\"calls\":[" CALL("a", "echo", "{}") "]},{\"calls\":[" CALL(
                   "b", "echo", "{}") "]},"
                                      "{\"text\":\"ok\"}",
               NULL);
    stage.options.max_turns = 2;
    stage_renew(&stage);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_LIMIT);
    assert_int_equal(stage.result.turns, 2);
    assert_int_equal(stage_run(&stage, "Go on"), WORKER_FINISHED);
    assert_int_equal(worker_turn_count(stage.worker), 3);
    stage_close(&stage);
}

static void the_token_limit_is_a_result(void **state) /* D10, W121 */
{
    struct stage stage;
    (void)state;
    stage_open(
        &stage,
        "{\"calls\":[" CALL("a", "echo", "{}") "],\"usage\":{\"input_tokens\":70,"
                                               "\"output_tokens\":20}},{\"calls\":[" CALL(
                                                   "b", "echo",
                                                   "{}") "],\"usage\":{\"input_tokens\":9,\"output_"
                                                         "tokens\":1}},{\"text\":\"ok\"}",
        NULL);
    stage.options.max_run_tokens = 100;
    stage_renew(&stage);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_LIMIT);
    assert_int_equal(stage.result.turns, 2);
    assert_int_equal(stage.result.error.kind, ERROR_LIMIT);
    assert_contains(stage.result.error.message, "100 tokens");
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED); /* with a fresh budget */
    stage_close(&stage);
}

#define AGAIN(id) "{\"calls\":[" CALL(id, "echo", "{\"n\":1}") "]}"

static void going_in_circles_ends_the_run(void **state) /* D10 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               AGAIN("a") "," AGAIN("b") "," AGAIN("c") "," AGAIN("d") "," AGAIN("e") "," AGAIN(
                   "f") "," AGAIN("g"),
               NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_LIMIT);
    assert_int_equal(stage.calls, 6);
    assert_int_equal(stage.result.error.kind, ERROR_LIMIT);
    assert_contains(stage.result.error.message, "'echo' was called 6 times in a row");
    assert_contains(stage.result.error.message, "{\"n\":1}");
    struct error error = ERROR_INIT;
    const struct history *history = worker_history(stage.worker);
    assert_true(history_check(history->items, history->count, &error));
    stage_close(&stage);
}

static void other_calls_between_are_no_circle(void **state)
{
    struct stage stage;
    (void)state;
    stage_open(&stage,
               AGAIN("a") ",{\"calls\":[" CALL("b", "echo", "{\"n\":2}") "]}," AGAIN(
                   "c") ","
                        "{\"calls\":[" CALL("d", "echo", "{\"n\":1}") "," CALL(
                            "e", "echo", "{\"n\":1}") "," CALL("f", "echo",
                                                               "{\"n\":1}") "]},{\"text\":\"ok\"}",
               NULL);
    stage.options.max_repeats = 2;
    stage_renew(&stage);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    stage_close(&stage);
}

static void a_cancel_before_the_run_ends_it(void **state) /* W50, D21 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"never\"}", NULL);
    worker_cancel(stage.worker);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_CANCELLED);
    assert_int_equal(stage.result.error.kind, ERROR_CANCELLED);
    assert_int_equal(stage_item_count(&stage), 0);
    assert_int_equal(worker_turn_count(stage.worker), 0);
    stage_close(&stage);
}

static void the_time_limit_ends_a_wait(void **state) /* W50 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"late\",\"delay_ms\":20000}", NULL);
    stage.options.timeout_ms = 30;
    stage_renew(&stage);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_TIMEOUT);
    assert_int_equal(stage.result.error.kind, ERROR_TIMEOUT);
    assert_true(stage.result.duration_ms < 10000);
    stage_close(&stage);
}

static void results_are_capped_where_they_enter(void **state) /* D12; FAULTS 129 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"calls\":[" CALL("a", "big", "{}") "]},{\"text\":\"ok\"}", NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_contains(stage_item(&stage, 2), "xxx\\n[mortise: 137 bytes left out here]\\nxxx");
    stage_close(&stage);
}

static void endings_without_an_answer(void **state) /* FAULTS 106, 114 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"stop\":\"refusal\"},{\"text\":\"x\",\"stop\":\"content_filter\"}", NULL);
    assert_int_equal(stage_run(&stage, "One"), WORKER_FINISHED);
    assert_int_equal(stage_item_count(&stage), 1); /* no empty message is stored */
    assert_contains(text_cstr(&stage.trace), "status");
    assert_int_equal(stage_run(&stage, "Two"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_CONTENT_FILTER);
    stage_close(&stage);
}

static void pauses_go_on_but_not_for_ever(void **state) /* FAULTS 105 */
{
    struct stage stage;
    (void)state;
#define PAUSE "{\"text\":\"hm\",\"stop\":\"pause\"},"
    stage_open(&stage, PAUSE PAUSE "{\"text\":\"so\"}", NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_int_equal(stage.result.turns, 3);
    stage_close(&stage);
    stage_open(&stage, PAUSE PAUSE PAUSE PAUSE PAUSE PAUSE PAUSE PAUSE "{\"text\":\"so\"}", NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_LIMIT);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_stored),
        cmocka_unit_test(calls_are_run_and_answered_in_order),
        cmocka_unit_test(a_repeated_id_is_made_unique),
        cmocka_unit_test(a_cut_response_runs_no_call),
        cmocka_unit_test(cut_twice_in_a_row_ends_the_run),
        cmocka_unit_test(a_failed_attempt_leaves_nothing),
        cmocka_unit_test(the_turn_limit_is_a_result),
        cmocka_unit_test(the_token_limit_is_a_result),
        cmocka_unit_test(going_in_circles_ends_the_run),
        cmocka_unit_test(other_calls_between_are_no_circle),
        cmocka_unit_test(a_cancel_before_the_run_ends_it),
        cmocka_unit_test(the_time_limit_ends_a_wait),
        cmocka_unit_test(results_are_capped_where_they_enter),
        cmocka_unit_test(endings_without_an_answer),
        cmocka_unit_test(pauses_go_on_but_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <mortise/test.h>

#include "exit_loop.c"

static void in_run(mortise_test *test, const char *name)
{
    mortise_test_context(test, "invocation", name);
}

static const mortise_test_decision *request(mortise_test *test)
{
    return mortise_test_hook(test, &exit_loop_hooks, pre_llm_request, .turn = 0);
}

static const mortise_test_decision *call(mortise_test *test)
{
    return mortise_test_hook(test, &exit_loop_hooks, pre_tool_call,
                             .meta = &(mortise_tool_meta){.name = "other"});
}

static const mortise_test_decision *answer(mortise_test *test)
{
    return mortise_test_hook(test, &exit_loop_hooks, turn_end, .turn = 0);
}

static void sends_the_model_on_until_it_ends_the_loop(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":10,\"prompt\":\"More!\"}");
    in_run(test, "run-1");
    for (int i = 0; i < 3; i++) {
        mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
        mortise_test_verdict(call(test), MORTISE_CONTINUE, "");
        const mortise_test_decision *sent_on = answer(test);
        mortise_test_verdict(sent_on, MORTISE_CONTINUE_WITH, "");
        mortise_test_true(sent_on->appended_count == 1);
        mortise_test_contains(sent_on->appended[0], "More!");
    }
    mortise_test_text(mortise_test_run(test, &exit_loop_tool, &(exit_loop_args){.result = "42"}),
                      "The loop has ended. Answer now, without calling a tool: give the result "
                      "that you passed.");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(call(test), MORTISE_SKIP, "the loop has ended");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE, "");
    mortise_test_close(test);
}

static void ends_only_its_own_run(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":10}");
    in_run(test, "run-1");
    mortise_test_text(mortise_test_run(test, &exit_loop_tool, &(exit_loop_args){0}),
                      "The loop has ended. Answer now, without calling a tool: say what came of "
                      "it.");
    in_run(test, "run-2");
    mortise_test_verdict(call(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE_WITH, "");
    in_run(test, "run-1");
    mortise_test_verdict(call(test), MORTISE_SKIP, "answer without calling a tool");
    mortise_test_close(test);
}

static void lets_the_last_answer_stand_after_so_many(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":2}");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE_WITH, "");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE, "");
    mortise_test_contains(mortise_test_log(test), "did not call it in 2 answers");
    mortise_test_close(test);
}

/* The tool alone, for a loop that is made of calls. */
static void sends_nobody_on_with_one(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":1}");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE, "");
    mortise_test_same(mortise_test_log(test), "");
    mortise_test_close(test);
}

static void ends_a_run_that_goes_on_calling(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":5}");
    in_run(test, "run-1");
    mortise_test_run(test, &exit_loop_tool, &(exit_loop_args){0});
    for (int i = 0; i < LAST_REQUESTS; i++) {
        mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
        mortise_test_verdict(call(test), MORTISE_SKIP, "the loop has ended");
    }
    mortise_test_verdict(request(test), MORTISE_ABORT, "instead of answering");
    mortise_test_close(test);
}

/* What another hook begins after the last answer is not stopped: it may need tools. */
static void leaves_alone_what_goes_on_after_the_answer(void)
{
    mortise_test *test = mortise_test_open("{\"max_iterations\":5}");
    in_run(test, "run-1");
    mortise_test_run(test, &exit_loop_tool, &(exit_loop_args){0});
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(call(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(answer(test), MORTISE_CONTINUE_WITH, "");
    mortise_test_close(test);
}

static void is_off_until_it_is_configured(void)
{
    mortise_test *test = mortise_test_open("{}");
    mortise_test_true(!mortise_test_has_hooks(test, &exit_loop_hooks));
    mortise_test_close(test);
    test = mortise_test_open("{\"max_iterations\":1}");
    mortise_test_true(mortise_test_has_hooks(test, &exit_loop_hooks));
    mortise_test_true(mortise_test_tool(test, "exit_loop") != NULL);
    mortise_test_close(test);
}

static void refuses_what_is_no_configuration(void)
{
    static const char *const wrong[] = {
        "{\"max_iterations\":0}", "{\"max_iterations\":-1}", "{\"max_iterations\":\"5\"}",
        "{\"max_iterations\":1.5}", "{\"max_iterations\":5,\"prompt\":1}",
        "{\"max_iterations\":5,\"prompt\":\"\"}"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        mortise_test_refused(wrong[i], "is not a");
}

int main(void)
{
    sends_the_model_on_until_it_ends_the_loop();
    ends_only_its_own_run();
    lets_the_last_answer_stand_after_so_many();
    sends_nobody_on_with_one();
    ends_a_run_that_goes_on_calling();
    leaves_alone_what_goes_on_after_the_answer();
    is_off_until_it_is_configured();
    refuses_what_is_no_configuration();
    return mortise_test_status();
}

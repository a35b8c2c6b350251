#include <mortise/test.h>

#include "budget.c"

static void in_run(mortise_test *test, const char *name)
{
    mortise_test_context(test, "invocation", name);
}

static const mortise_test_decision *call(mortise_test *test, const char *name)
{
    return mortise_test_hook(test, &budget_hooks, pre_tool_call,
                             .meta = &(mortise_tool_meta){.name = name});
}

static const mortise_test_decision *request(mortise_test *test)
{
    return mortise_test_hook(test, &budget_hooks, pre_llm_request, .turn = 0);
}

static void use_tokens(mortise_test *test, const char *json)
{
    mortise_test_verdict(
        mortise_test_hook(test, &budget_tokens_hooks, stream_chunk, .event = "usage", .json = json),
        MORTISE_CONTINUE, "");
}

static void limits_calls_per_run(void)
{
    mortise_test *test = mortise_test_open("{\"calls\":2,\"tools\":{\"rare\":1,\"no\":0}}");
    in_run(test, "run-1");
    mortise_test_verdict(call(test, "no"), MORTISE_ABORT, "0 of 0 calls of no");
    mortise_test_verdict(call(test, "rare"), MORTISE_CONTINUE, "");
    mortise_test_verdict(call(test, "rare"), MORTISE_ABORT, "1 of 1 calls of rare");
    mortise_test_verdict(call(test, "other"), MORTISE_CONTINUE, "");
    mortise_test_verdict(call(test, "other"), MORTISE_ABORT, "2 of 2 calls");
    in_run(test, "run-2");
    mortise_test_verdict(call(test, "rare"), MORTISE_CONTINUE, "");
    in_run(test, "run-1");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_close(test);
}

static void limits_tokens(void)
{
    mortise_test *test = mortise_test_open("{\"tokens\":100}");
    in_run(test, "run-1");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    use_tokens(test, "{\"input_tokens\":40}"); /* told twice: the last of each counts */
    use_tokens(test, "{\"input_tokens\":40,\"output_tokens\":9}");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    use_tokens(test, "{\"input_tokens\":50,\"output_tokens\":2}");
    mortise_test_verdict(call(test, "any"), MORTISE_ABORT, "101 of 100 tokens");
    mortise_test_verdict(request(test), MORTISE_ABORT, "101 of 100 tokens");
    in_run(test, "run-2");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_close(test);
}

static void soft_skips_and_lets_one_answer_through(void)
{
    mortise_test *test = mortise_test_open("{\"tokens\":10,\"soft\":true}");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    use_tokens(test, "{\"input_tokens\":10,\"output_tokens\":10}");
    mortise_test_verdict(call(test, "any"), MORTISE_SKIP, "20 of 10 tokens");
    mortise_test_verdict(request(test), MORTISE_CONTINUE, "");
    mortise_test_verdict(call(test, "any"), MORTISE_SKIP, "20 of 10 tokens");
    mortise_test_verdict(request(test), MORTISE_ABORT, "20 of 10 tokens");
    mortise_test_close(test);
}

static void limits_time(void)
{
    mortise_test *test = mortise_test_open("{\"seconds\":0}");
    mortise_test_verdict(request(test), MORTISE_ABORT, "of 0 seconds");
    mortise_test_close(test);
}

static void has_no_hooks_without_limits(void)
{
    mortise_test *test = mortise_test_open("{\"soft\":true,\"tools\":{}}");
    mortise_test_true(!mortise_test_has_hooks(test, &budget_hooks));
    mortise_test_true(!mortise_test_has_hooks(test, &budget_tokens_hooks));
    mortise_test_close(test);
    test = mortise_test_open("{\"calls\":5}");
    mortise_test_true(mortise_test_has_hooks(test, &budget_hooks));
    mortise_test_true(!mortise_test_has_hooks(test, &budget_tokens_hooks));
    mortise_test_close(test);
}

static void lets_no_run_begin_with_what_is_no_limit(void)
{
    static const char *const wrong[] = {
        "{\"calls\":-1}",         "{\"calls\":\"5\"}",         "{\"tokens\":1.5}",
        "{\"seconds\":-0.5}",     "{\"seconds\":\"1\"}",       "{\"tools\":[\"a\"]}",
        "{\"tools\":{\"a\":-1}}", "{\"tools\":{\"a\":\"1\"}}", "{\"soft\":1}"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        mortise_test_refused(wrong[i], "is n");
}

int main(void)
{
    limits_calls_per_run();
    limits_tokens();
    soft_skips_and_lets_one_answer_through();
    limits_time();
    has_no_hooks_without_limits();
    lets_no_run_begin_with_what_is_no_limit();
    return mortise_test_status();
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

static const char *run_name(void *name, const char *key, struct arena *memory)
{
    (void)memory;
    return strcmp(key, "invocation") == 0 ? name : NULL;
}

static struct timeline timeline; /* nobody listens */

static struct hook_setting run(struct registry *registry, char *name)
{
    return (struct hook_setting){
        .registry = registry, .timeline = &timeline, .context = run_name, .context_data = name};
}

static struct hook_outcome call(const struct hook_setting *setting, const char *name)
{
    struct tool tool = {.meta = {.size = sizeof(tool.meta), .name = name}};
    struct hook_tool_call call = {.tool = &tool, .call_id = "c", .count = 1};
    struct hook_outcome outcome = {0};
    call.arguments = (struct bytes){strdup("{}"), 2};
    hooks_pre_tool_call(setting, &call, &outcome);
    free(call.arguments.data);
    return outcome;
}

static struct hook_outcome request(const struct hook_setting *setting)
{
    struct item_list items = {0}, appended = {0};
    struct hook_outcome outcome = {0};
    hooks_pre_llm_request(setting, &items, 0, 0, "m", &appended, &outcome);
    return outcome;
}

static void use_tokens(const struct hook_setting *setting, int64_t input, int64_t output)
{
    struct event event = {.kind = EVENT_USAGE, .as.usage = USAGE_INIT};
    struct hook_outcome outcome = {0};
    event.as.usage.input_tokens = input;
    event.as.usage.output_tokens = output;
    hooks_stream(setting, &event, &outcome);
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
}

static void check(struct hook_outcome outcome, mortise_verdict verdict, const char *reason)
{
    assert_int_equal(outcome.verdict, verdict);
    if (!strstr(outcome.reason, reason))
        fail_msg("'%s' has no '%s'", outcome.reason, reason);
}

static void limits_calls_per_run(void **state)
{
    char first[] = "run-1", second[] = "run-2";
    struct registry *registry = plugin_test_load("{\"calls\":2,\"tools\":{\"rare\":1,\"no\":0}}");
    struct hook_setting one = run(registry, first), two = run(registry, second);
    (void)state;
    check(call(&one, "no"), MORTISE_ABORT, "0 of 0 calls of no");
    check(call(&one, "rare"), MORTISE_CONTINUE, "");
    check(call(&one, "rare"), MORTISE_ABORT, "1 of 1 calls of rare");
    check(call(&one, "other"), MORTISE_CONTINUE, "");
    check(call(&one, "other"), MORTISE_ABORT, "2 of 2 calls");
    check(call(&two, "rare"), MORTISE_CONTINUE, "");
    check(request(&one), MORTISE_CONTINUE, "");
    registry_unref(registry);
}

static void limits_tokens(void **state)
{
    char name[] = "run-1", next[] = "run-2";
    struct registry *registry = plugin_test_load("{\"tokens\":100}");
    struct hook_setting setting = run(registry, name), other = run(registry, next);
    (void)state;
    check(request(&setting), MORTISE_CONTINUE, "");
    use_tokens(&setting, 40, -1); /* told twice: the last of each counts */
    use_tokens(&setting, 40, 9);
    check(request(&setting), MORTISE_CONTINUE, "");
    use_tokens(&setting, 50, 2);
    check(call(&setting, "any"), MORTISE_ABORT, "101 of 100 tokens");
    check(request(&setting), MORTISE_ABORT, "101 of 100 tokens");
    check(request(&other), MORTISE_CONTINUE, "");
    registry_unref(registry);
}

static void soft_skips_and_lets_one_answer_through(void **state)
{
    char name[] = "run-1";
    struct registry *registry = plugin_test_load("{\"tokens\":10,\"soft\":true}");
    struct hook_setting setting = run(registry, name);
    (void)state;
    check(request(&setting), MORTISE_CONTINUE, "");
    use_tokens(&setting, 10, 10);
    check(call(&setting, "any"), MORTISE_SKIP, "20 of 10 tokens");
    check(request(&setting), MORTISE_CONTINUE, "");
    check(call(&setting, "any"), MORTISE_SKIP, "20 of 10 tokens");
    check(request(&setting), MORTISE_ABORT, "20 of 10 tokens");
    registry_unref(registry);
}

static void limits_time(void **state)
{
    char name[] = "run-1";
    struct registry *registry = plugin_test_load("{\"seconds\":0}");
    struct hook_setting setting = run(registry, name);
    (void)state;
    check(request(&setting), MORTISE_ABORT, "of 0 seconds");
    registry_unref(registry);
}

static void has_no_hooks_without_limits(void **state)
{
    (void)state;
    struct registry *registry = plugin_test_load("{\"soft\":true,\"tools\":{}}");
    assert_int_equal(registry_hook_count(registry), 0);
    registry_unref(registry);
    registry = plugin_test_load("{\"calls\":5}");
    assert_false(hooks_take(registry, HOOK_stream_chunk));
    registry_unref(registry);
}

static void lets_no_run_begin_with_what_is_no_limit(void **state)
{
    static const char *const wrong[] = {
        "{\"calls\":-1}",         "{\"calls\":\"5\"}",         "{\"tokens\":1.5}",
        "{\"seconds\":-0.5}",     "{\"seconds\":\"1\"}",       "{\"tools\":[\"a\"]}",
        "{\"tools\":{\"a\":-1}}", "{\"tools\":{\"a\":\"1\"}}", "{\"soft\":1}"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        plugin_test_closed(wrong[i], "is n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_calls_per_run),
        cmocka_unit_test(limits_tokens),
        cmocka_unit_test(soft_skips_and_lets_one_answer_through),
        cmocka_unit_test(limits_time),
        cmocka_unit_test(has_no_hooks_without_limits),
        cmocka_unit_test(lets_no_run_begin_with_what_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which calls may start, step by step, without a thread: D8, F53-F56. */
#include "fake.h"

#include "tool/strategy.h"

/* r: read-only and concurrency-safe; o: read-only alone; w: neither; s, S: a serial tool,
 * the capital one is read-only and concurrency-safe too. */
static const struct tool safe_tool = {.meta.flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE};
static const struct tool half_tool = {.meta.flags = MORTISE_READ_ONLY};
static const struct tool other_tool = {.meta.flags = MORTISE_DESTRUCTIVE};
static const struct tool serial_tool = {.meta.flags = MORTISE_SERIAL};
static const struct tool safe_serial_tool = {
    .meta.flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_SERIAL};

static const struct tool *tool_of(char letter)
{
    switch (letter) {
    case 'r':
        return &safe_tool;
    case 'o':
        return &half_tool;
    case 's':
        return &serial_tool;
    case 'S':
        return &safe_serial_tool;
    default:
        return &other_tool;
    }
}

/* Starts all that may start, then ends the whole wave, and so on: "rr|w|w". */
static void waves(enum strategy strategy, const char *calls, char *out)
{
    struct plan plan[16] = {0};
    size_t count = strlen(calls);
    size_t settled = 0;
    for (size_t i = 0; i < count; i++)
        plan[i].tool = tool_of(calls[i]);
    while (settled < count) {
        size_t i;
        if (settled)
            *out++ = '|';
        while ((i = strategy_next(strategy, plan, count)) < count) {
            plan[i].state = PLAN_RUNS;
            *out++ = (char)('1' + i);
        }
        size_t before = settled;
        for (i = 0; i < count; i++) {
            settled += plan[i].state == PLAN_RUNS;
            if (plan[i].state == PLAN_RUNS)
                plan[i].state = PLAN_SETTLED;
        }
        assert_true(settled > before); /* something always may start */
    }
    *out = '\0';
}

static void test_waves(void **state)
{
    (void)state;
    static const struct {
        enum strategy strategy;
        const char *calls, *waves;
    } cases[] = {
        {STRATEGY_SEQUENTIAL, "rrwr", "1|2|3|4"},
        {STRATEGY_PARALLEL, "rrwr", "1234"},
        {STRATEGY_PARALLEL, "wwww", "1234"},
        {STRATEGY_AUTO, "rrwr", "124|3"}, /* reads first, then the rest one by one */
        {STRATEGY_AUTO, "wrwr", "24|1|3"},
        {STRATEGY_AUTO, "orow", "2|1|3|4"}, /* one flag alone is not enough */
        {STRATEGY_AUTO, "www", "1|2|3"},
        {STRATEGY_ORDERED, "rrwr", "12|3|4"}, /* a read never overtakes a write before it */
        {STRATEGY_ORDERED, "wrrw", "1|23|4"},
        {STRATEGY_ORDERED, "ror", "1|2|3"},
        {STRATEGY_PARALLEL, "swsw", "124|3"}, /* one serial tool is never in two calls */
        {STRATEGY_AUTO, "SrSw", "12|3|4"},
        {STRATEGY_ORDERED, "SrS", "12|3"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[40];
        waves(cases[i].strategy, cases[i].calls, out);
        assert_string_equal(out, cases[i].waves);
    }
}

static void test_a_settled_call_is_out_of_the_way(void **state)
{
    (void)state;
    struct plan plan[] = {{.tool = &other_tool, .state = PLAN_SETTLED},
                          {.tool = NULL, .state = PLAN_SETTLED}, /* an unknown tool */
                          {.tool = &other_tool}};
    for (int strategy = STRATEGY_AUTO; strategy <= STRATEGY_PARALLEL; strategy++)
        assert_int_equal(strategy_next((enum strategy)strategy, plan, 3), 2);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "ordered", "sequential", "parallel"};
    enum strategy strategy;
    for (int i = 0; i < 4; i++) {
        assert_true(strategy_parse(names[i], &strategy));
        assert_int_equal(strategy, i);
    }
    assert_false(strategy_parse("Auto", &strategy));
    assert_false(strategy_parse("", &strategy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_a_settled_call_is_out_of_the_way),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

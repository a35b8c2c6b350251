#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

static void calculates(void **state) /* F19 */
{
    static const struct {
        const char *arguments;
        bool success;
        const char *result;
    } cases[] = {
        {"{\"op\":\"add\",\"a\":2,\"b\":3}", true, "5"},
        {"{\"op\":\"add\",\"a\":0.1,\"b\":0.2}", true, "0.30000000000000004"},
        {"{\"op\":\"subtract\",\"a\":2,\"b\":3}", true, "-1"},
        {"{\"op\":\"multiply\",\"a\":1.5,\"b\":4}", true, "6"},
        {"{\"op\":\"divide\",\"a\":12,\"b\":4}", true, "3"},
        {"{\"op\":\"divide\",\"a\":1,\"b\":3}", true, "0.3333333333333333"},
        {"{\"op\":\"divide\",\"a\":1,\"b\":0}", false, "Invalid argument: Cannot divide by zero"},
        {"{\"op\":\"multiply\",\"a\":1e308,\"b\":1e308}", false,
         "Invalid argument: The result is too large for a number"},
    };
    struct registry *registry = plugin_test_load("{}");
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        plugin_test_call(registry, "calculator", cases[i].arguments, cases[i].success,
                         cases[i].result);
    registry_unref(registry);
}

static void names_the_operations(void **state) /* F6, T55 */
{
    static const char arguments[] = "{\"op\":\"power\",\"a\":1,\"b\":2}";
    struct registry *registry = plugin_test_load("{}");
    struct tool_result result = {0};
    (void)state;
    tool_call(registry, "calculator", arguments, sizeof(arguments) - 1, &(struct call_context){0},
              NULL, &result);
    assert_false(result.success);
    assert_non_null(strstr(text_cstr(&result.text), "\"add\", \"subtract\", \"multiply\", \"divide\""));
    tool_result_release(&result);
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculates),
        cmocka_unit_test(names_the_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

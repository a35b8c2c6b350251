#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

static void greets_by_name(void **state) /* T73 */
{
    struct registry *registry = plugin_test_load("{}");
    (void)state;
    plugin_test_call(registry, "greet", "{\"name\":\"X\"}", true, "Hello, X!");
    plugin_test_call(registry, "greet", "{\"name\":\"日本\"}", true, "Hello, 日本!");
    registry_unref(registry);
}

static void wants_a_name(void **state) /* T55, F15 */
{
    struct registry *registry = plugin_test_load("{}");
    struct tool_result result = {0};
    (void)state;
    tool_call(registry, "greet", "{}", 2, &(struct call_context){0}, NULL, &result);
    assert_false(result.success);
    assert_non_null(strstr(text_cstr(&result.text), "'name'"));
    tool_result_release(&result);
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greets_by_name),
        cmocka_unit_test(wants_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

static void counts_calls(void **state) /* T10, T72 */
{
    struct registry *registry = plugin_test_load("{}");
    (void)state;
    plugin_test_call(registry, "counter", "{}", true, "count: 0");
    plugin_test_call(registry, "counter", "", true, "count: 1");
    plugin_test_call(registry, "counter", "{}", true, "count: 2");
    registry_unref(registry);
}

static void takes_nothing(void **state) /* T53, T55 */
{
    struct registry *registry = plugin_test_load("{}");
    struct tool_result result = {0};
    (void)state;
    tool_call(registry, "counter", "{\"by\":1}", 8, &(struct call_context){0}, NULL, &result);
    assert_false(result.success);
    assert_non_null(strstr(text_cstr(&result.text), "'by'"));
    tool_result_release(&result);
    plugin_test_call(registry, "counter", "{}", true, "count: 0");
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_calls),
        cmocka_unit_test(takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

static void tells_the_weather(void **state) /* F12, F16 */
{
    struct registry *registry = plugin_test_load("{}");
    (void)state;
    plugin_test_call(registry, "get_weather", "{\"location\":\"Tokyo\"}", true,
                     "{\"location\":\"Tokyo\",\"temperature\":22,\"unit\":\"celsius\","
                     "\"conditions\":\"sunny\",\"source\":\"demo data\"}");
    plugin_test_call(registry, "get_weather", "{\"location\":\"tokyo\",\"unit\":\"fahrenheit\"}", true,
                     "{\"location\":\"tokyo\",\"temperature\":71.6,\"unit\":\"fahrenheit\","
                     "\"conditions\":\"sunny\",\"source\":\"demo data\"}");
    registry_unref(registry);
}

static void any_place_has_weather(void **state)
{
    static const char arguments[] = "{\"location\":\"\\\"Nowhere\\\"\"}";
    struct registry *registry = plugin_test_load("{}");
    struct tool_result first = {0}, second = {0};
    (void)state;
    tool_call(registry, "get_weather", arguments, sizeof(arguments) - 1, &(struct call_context){0},
              NULL, &first);
    tool_call(registry, "get_weather", arguments, sizeof(arguments) - 1, &(struct call_context){0},
              NULL, &second);
    assert_true(first.success);
    assert_true(first.is_json);
    assert_string_equal(text_cstr(&first.text), text_cstr(&second.text));
    tool_result_release(&first);
    tool_result_release(&second);
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_weather),
        cmocka_unit_test(any_place_has_weather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

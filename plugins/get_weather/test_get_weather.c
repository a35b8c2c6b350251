#include <mortise/test.h>

#include "get_weather.c"

static const mortise_test_result *ask(mortise_test *test, const char *location, const char *unit)
{
    return mortise_test_run(test, &get_weather_tool,
                            &(get_weather_args){.location = location, .unit = unit});
}

static void tells_the_weather(mortise_test *test) /* F12 */
{
    mortise_test_json(ask(test, "Tokyo", "celsius"),
                      "{\"location\":\"Tokyo\",\"temperature\":22,\"unit\":\"celsius\","
                      "\"conditions\":\"sunny\",\"source\":\"demo data\"}");
    mortise_test_json(ask(test, "tokyo", "fahrenheit"),
                      "{\"location\":\"tokyo\",\"temperature\":71.6,\"unit\":\"fahrenheit\","
                      "\"conditions\":\"sunny\",\"source\":\"demo data\"}");
}

static void any_place_has_weather(mortise_test *test)
{
    const mortise_test_result *first = ask(test, "\"Nowhere\"", "celsius");
    mortise_test_contains(first->text, "{\"location\":\"\\\"Nowhere\\\"\",");
    mortise_test_json(ask(test, "\"Nowhere\"", "celsius"), first->text);
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    tells_the_weather(test);
    any_place_has_weather(test);
    return mortise_test_close(test);
}

/* A JSON result and an optional argument.  The weather is made up: no key, no network. */
#include <mortise/tool.h>

#include <string.h>
#include <strings.h>

MORTISE_TOOL(get_weather, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_IDEMPOTENT,
    "Get the weather at a place.  This is demo data: it is made up and the same at any time.",
    (string, location, "The name of a city, such as Tokyo.", required, length(1, 200)),
    (string, unit,     "The unit of the temperature.",       one_of("celsius", "fahrenheit"), fallback("celsius")));

struct weather {
    char city[16];
    char conditions[16];
    int celsius;
};

static const struct weather cities[] = {
    {"Beijing", "haze", 19},      {"Berlin", "cloudy", 14},     {"Cairo", "clear", 31},
    {"Delhi", "haze", 33},        {"London", "light rain", 12}, {"Madrid", "clear", 24},
    {"Nairobi", "cloudy", 21},    {"New York", "windy", 16},    {"Paris", "cloudy", 15},
    {"Sao Paulo", "showers", 23}, {"Sydney", "sunny", 20},      {"Tokyo", "sunny", 22},
};

/* For any other place: the same one every time, between -5 and 34 degrees. */
static struct weather made_up_weather(const char *location)
{
    uint32_t hash = 2166136261u;
    for (const char *c = location; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct weather weather = cities[hash % (sizeof(cities) / sizeof(cities[0]))];
    weather.celsius = (int)(hash / 16 % 40) - 5;
    return weather;
}

static struct weather weather_at(const char *location)
{
    for (size_t i = 0; i < sizeof(cities) / sizeof(cities[0]); i++) {
        if (strcasecmp(location, cities[i].city) == 0)
            return cities[i];
    }
    return made_up_weather(location);
}

static mortise_status get_weather(mortise_call *call, const get_weather_args *args)
{
    struct weather weather = weather_at(args->location);
    double temperature = weather.celsius;
    if (strcmp(args->unit, "fahrenheit") == 0)
        temperature = temperature * 1.8 + 32;
    return mortise_reply_json(
        call,
        "{\"location\":%s,\"temperature\":%.4g,\"unit\":\"%s\",\"conditions\":\"%s\","
        "\"source\":\"demo data\"}",
        mortise_quote(call, args->location), temperature, args->unit, weather.conditions);
}

MORTISE_PLUGIN(.name = "get_weather", .version = "1.0.0", .tools = MORTISE_TOOLS(get_weather));

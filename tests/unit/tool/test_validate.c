/* Tools that bring their own JSON Schema get what fits it (R12). */
#include "fake.h"

#include "base/json.h"
#include "tool/validate.h"

#define BAD(text) "Invalid argument: " text

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":4},"
    "\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},"
    "\"ratio\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1},"
    "\"mode\":{\"enum\":[\"fast\",1,null]},"
    "\"fixed\":{\"const\":\"x\"},"
    "\"maybe\":{\"type\":[\"string\",\"null\"]},"
    "\"list\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"type\":\"boolean\"}},"
    "\"inner\":{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":"
    "\"string\"}},\"additionalProperties\":{\"type\":\"integer\"}},"
    "\"never\":false,"
    "\"both\":{\"allOf\":[{\"type\":\"integer\"},{\"minimum\":5}]},"
    "\"other\":{\"$ref\":\"#/x\",\"pattern\":\"a\"}},"
    "\"required\":[\"name\"],\"additionalProperties\":false}";

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message; /* NULL: it fits */
    } cases[] = {
        {"{\"name\":\"ab\"}", NULL},
        {"{\"name\":\"éééé\",\"count\":10.0,\"ratio\":0.5,\"mode\":1.0,\"fixed\":\"x\","
         "\"maybe\":null,\"list\":[true],\"inner\":{\"id\":\"i\",\"n\":1},\"both\":5,\"other\":{}}",
         NULL},
        {"{}", BAD("'name' is required")},
        {"{\"name\":5}", BAD("'name' must be of type string, got 5")},
        {"{\"name\":\"a\"}", BAD("'name' must have at least 2 characters, got 1")},
        {"{\"name\":\"abcde\"}", BAD("'name' must have at most 4 characters, got 5")},
        {"{\"name\":\"ab\",\"count\":\"5\"}", BAD("'count' must be of type integer, got \"5\"")},
        {"{\"name\":\"ab\",\"count\":1.5}", BAD("'count' must be of type integer, got 1.5")},
        {"{\"name\":\"ab\",\"count\":0}", BAD("'count' must be at least 1, got 0")},
        {"{\"name\":\"ab\",\"count\":11}", BAD("'count' must be at most 10, got 11")},
        {"{\"name\":\"ab\",\"ratio\":0}", BAD("'ratio' must be above 0, got 0")},
        {"{\"name\":\"ab\",\"ratio\":1}", BAD("'ratio' must be below 1, got 1")},
        {"{\"name\":\"ab\",\"mode\":\"slow\"}",
         BAD("'mode' must be one of [\"fast\",1,null], got \"slow\"")},
        {"{\"name\":\"ab\",\"fixed\":\"y\"}", BAD("'fixed' must be \"x\", got \"y\"")},
        {"{\"name\":\"ab\",\"maybe\":1}", BAD("'maybe' must be of type string or null, got 1")},
        {"{\"name\":\"ab\",\"list\":[]}", BAD("'list' must have at least 1 items, got 0")},
        {"{\"name\":\"ab\",\"list\":[true,1]}", BAD("'list[1]' must be of type boolean, got 1")},
        {"{\"name\":\"ab\",\"inner\":{\"n\":\"x\"}}",
         BAD("'inner.id' is required\n") BAD("'inner.n' must be of type integer, got \"x\"")},
        {"{\"name\":\"ab\",\"never\":1}", BAD("'never' is not allowed")},
        {"{\"name\":\"ab\",\"both\":4}", BAD("'both' must be at least 5, got 4")},
        {"{\"name\":\"ab\",\"nmae\":1}",
         BAD("'nmae' is not known; did you mean 'name'? (the arguments are 'name', 'count', "
             "'ratio', 'mode', 'fixed', 'maybe', 'list', 'inner', 'never', 'both', 'other')")},
        {"[]", BAD("the arguments must be an object, got []")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error error = ERROR_INIT;
        json_t *value = json_parse(cases[i].json, strlen(cases[i].json), NULL, &error);
        bool fits = validate_arguments(schema, value, &error);
        assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
        assert_int_equal(fits, !cases[i].message);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "cmocka_all.h"

#include "plugin/schema.h"

static void test_raw(void **state)
{
    (void)state;
    const struct {
        const char *json, *wanted, *why;
    } cases[] = {
        {" { \"type\" : \"object\" } ", "{\"type\":\"object\"}", NULL},
        {"{\"type\":\"object\",\"properties\":{\"b\":{},\"a\":{\"minimum\":0.1}}}",
         "{\"type\":\"object\",\"properties\":{\"b\":{},\"a\":{\"minimum\":0.1}}}", NULL},
        {"[]", NULL, "it must be a JSON object"},
        {"{}", NULL, "it must say \"type\": \"object\""},
        {"{\"type\":\"string\"}", NULL, "it must say \"type\": \"object\""},
        {"{\"type\":[\"object\"]}", NULL, "it must say \"type\": \"object\""},
        {"{\"type\":", NULL, "invalid JSON at line 1"},
        {"", NULL, "invalid JSON"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error error = ERROR_INIT;
        struct text text = TEXT_INIT;
        assert_int_equal(schema_check_raw(cases[i].json, &text, &error), cases[i].wanted != NULL);
        if (cases[i].wanted)
            assert_string_equal(text.data, cases[i].wanted);
        else
            assert_has(error.message, cases[i].why);
        text_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

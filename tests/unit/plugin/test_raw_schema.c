/* The schemas that authors write by hand: read when their plugin is loaded (R12). */
#include "../base/failing.h"
#include "cmocka_all.h"
#include "sample.h"

#include "plugin/raw_schema.h"

static void test_texts(void **state)
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
        {"{\"type\":\"object\",\"required\":\"a\"}", NULL,
         "'/required' must be a list of strings, got \"a\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error error = ERROR_INIT;
        struct text text = TEXT_INIT;
        struct schema *schema = raw_schema_read(cases[i].json, &text, &error);
        assert_int_equal(schema != NULL, cases[i].wanted != NULL);
        if (cases[i].wanted)
            assert_string_equal(text.data, cases[i].wanted);
        else
            assert_non_null(strstr(error.message, cases[i].why));
        schema_free(schema);
        text_release(&text);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct sample sample;
    struct registry *registry = registry_new();
    sample_init(&sample, "one");
    sample_tool(&sample, "echo")->output_schema =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"https://example.com/a\"}}}";
    assert_false(sample_add(registry, &sample, &error));
    assert_string_equal(error.message,
                        "the output schema of tool 'echo' cannot be used: '/properties/a/$ref' "
                        "names 'https://example.com/a', which is not in the schema: nothing is "
                        "fetched, so copy it into its \"$defs\", with its \"$id\"");
    assert_int_equal(error.kind, ERROR_PLUGIN);
    assert_int_equal(registry_tool_count(registry), 0);
    registry_unref(registry);
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int n = 0; failed && n < 200; n++) {
        struct error error = ERROR_INIT;
        struct text text = TEXT_INIT;
        fail_after(n);
        struct schema *schema =
            raw_schema_read("{\"type\":\"object\",\"minProperties\":1}", &text, &error);
        failed = fail_never();
        assert_int_equal(schema == NULL, failed);
        assert_int_equal(error.kind, failed ? ERROR_INTERNAL : ERROR_NONE);
        schema_free(schema);
        text_release(&text);
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

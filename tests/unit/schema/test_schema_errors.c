/* Schemas that cannot be used: what is wrong, and where (R12). */
#include "schema_case.h"

static void test_errors(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"5", "it must be a schema: an object or a boolean"},
        {"{\"type\":\"text\"}",
         "'/type' must be one or a list of \"string\", \"number\", \"integer\", \"boolean\", "
         "\"object\", \"array\", \"null\", got \"text\""},
        {"{\"type\":[]}",
         "'/type' must be one or a list of \"string\", \"number\", \"integer\", \"boolean\", "
         "\"object\", \"array\", \"null\", got []"},
        {"{\"properties\":{\"a/b~\":{\"minimum\":\"5\"}}}",
         "'/properties/a~1b~0/minimum' must be a number, got \"5\""},
        {"{\"properties\":{\"a\":{\"minLength\":-1}}}",
         "'/properties/a/minLength' must be an integer, 0 or more, got -1"},
        {"{\"maxItems\":1.5}", "'/maxItems' must be an integer, 0 or more, got 1.5"},
        {"{\"minContains\":\"1\"}", "'/minContains' must be an integer, 0 or more, got \"1\""},
        {"{\"multipleOf\":0}", "'/multipleOf' must be a number above 0, got 0"},
        {"{\"exclusiveMinimum\":true}", "'/exclusiveMinimum' must be a number, got true"},
        {"{\"uniqueItems\":1}", "'/uniqueItems' must be true or false, got 1"},
        {"{\"enum\":{}}", "'/enum' must be a list, got {}"},
        {"{\"required\":\"a\"}", "'/required' must be a list of strings, got \"a\""},
        {"{\"required\":[1]}", "'/required' must be a list of strings, got [1]"},
        {"{\"dependentRequired\":{\"a\":\"b\"}}",
         "'/dependentRequired' must be an object whose members are lists of strings, got "
         "{\"a\":\"b\"}"},
        {"{\"properties\":[]}", "'/properties' must be an object, got []"},
        {"{\"properties\":{\"a\":1}}", "'/properties/a' must be a schema: an object or a boolean"},
        {"{\"items\":[true],\"prefixItems\":[true]}",
         "'/items' must be a schema: an object or a boolean"},
        {"{\"prefixItems\":{}}", "'/prefixItems' must be a list, got {}"},
        {"{\"anyOf\":[{},{\"not\":null}]}",
         "'/anyOf/1/not' must be a schema: an object or a boolean"},
        {"{\"allOf\":[]}", "'/allOf' must be a list of schemas, one at least, got []"},
        {"{\"$defs\":1}", "'/$defs' must be an object, got 1"},
        {"{\"$id\":5}", "'/$id' must be a string"},
        {"{\"properties\":{\"a\":{\"pattern\":\"^(a\"}}}",
         "'/properties/a/pattern' cannot be used: the pattern '^(a' is not valid: missing closing "
         "parenthesis at character 3"},
        {"{\"patternProperties\":{\"[\":{}}}",
         "'/patternProperties' cannot be used: the pattern '[' is not valid: missing terminating ] "
         "for character class at character 1"},
        {"{\"pattern\":5}", "'/pattern' must be a string, got 5"},
        {"{\"$ref\":5}", "'/$ref' must be a string, got 5"},
        {"{\"items\":{\"$ref\":\"#/$defs/x\"}}",
         "'/items/$ref' names '#/$defs/x', which is not in the schema"},
        {"{\"$ref\":\"#nowhere\"}", "'/$ref' names '#nowhere', which is not in the schema"},
        {"{\"$ref\":\"https://example.com/s.json\"}",
         "'/$ref' names 'https://example.com/s.json', which is not in the schema: nothing is "
         "fetched, so copy it into its \"$defs\", with its \"$id\""},
        {"{\"$ref\":\"#/x\",\"x\":{\"y\":{\"type\":1},\"$ref\":\"#/x/y\"}}",
         "'/x/y/type' must be one or a list of \"string\", \"number\", \"integer\", \"boolean\", "
         "\"object\", \"array\", \"null\", got 1"},
        {"{\"$ref\":\"#/title\",\"title\":\"x\"}",
         "'/title' must be a schema: an object or a boolean"},
        {"{\"$ref\":\"#\"}", "'/$ref' leads back to itself: a check would never end"},
        {"{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"if\":{\"$ref\":"
         "\"#/$defs/a\"}}}}",
         "'/$defs/b/if/$ref' leads back to itself: a check would never end"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        assert_null(case_schema(cases[i][0], &error));
        assert_string_equal(error.message, cases[i][1]);
        assert_int_equal(error.kind, ERROR_PLUGIN);
    }
}

/* References that go round through members and items come to an end with the value. */
static void test_recursion(void **state)
{
    (void)state;
    static const char tree[] =
        "{\"$id\":\"https://example.com/tree\",\"$anchor\":\"t\",\"type\":\"object\","
        "\"properties\":{\"left\":{\"$ref\":\"#\"},\"right\":{\"$ref\":\"tree#t\"},"
        "\"all\":{\"items\":{\"$ref\":\"https://example.com/tree\"}}},"
        "\"additionalProperties\":false}";
    case_expect(tree, "{\"left\":{\"right\":{}},\"all\":[{\"left\":{}}]}", PROBLEM_ARGUMENTS, "");
    case_expect(tree, "{\"all\":[{},{\"right\":{\"left\":{\"up\":1}}}]}", PROBLEM_ARGUMENTS,
                "Invalid argument: 'all[1].right.left.up' is not known (the members are 'left', "
                "'right', 'all')");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a model is told of arguments that do not fit, keyword by keyword (R12, F15, F17). */
#include "schema_case.h"

#define BAD(text) "Invalid argument: " text

static const char tool[] =
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
    "\"other\":{\"$ref\":\"#/$defs/o\"}},"
    "\"$defs\":{\"o\":{\"additionalProperties\":false,\"properties\":{\"a\":{\"pattern\":\"^a\"}}}}"
    ","
    "\"required\":[\"name\"],\"additionalProperties\":false}";

static void test_a_tool(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"name\":\"ab\"}", ""},
        {"{\"name\":\"éééé\",\"count\":10.0,\"ratio\":0.5,\"mode\":1.0,\"fixed\":\"x\","
         "\"maybe\":null,\"list\":[true],\"inner\":{\"id\":\"i\",\"n\":1},\"both\":5,\"other\":{}}",
         ""},
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
        {"{\"name\":\"ab\",\"other\":{\"a\":\"b\",\"c\":1}}",
         BAD("'other.a' must match the pattern '^a', got \"b\"\n")
             BAD("'other.c' is not known (the members are 'a')")},
        {"{\"name\":\"ab\",\"nmae\":1}",
         BAD("'nmae' is not known; did you mean 'name'? (the arguments are 'name', 'count', "
             "'ratio', 'mode', 'fixed', 'maybe', 'list', 'inner', 'never', 'both', 'other')")},
        {"[]", BAD("the arguments must be of type object, got []")},
        {"{\"name\":1,\"count\":0,\"ratio\":2,\"mode\":2,\"fixed\":2,\"maybe\":2}",
         BAD("'name' must be of type string, got 1\n") BAD("'count' must be at least 1, got 0\n")
             BAD("'ratio' must be below 1, got 2\n")
                 BAD("'mode' must be one of [\"fast\",1,null], got 2\n")
                     BAD("'fixed' must be \"x\", got 2")}, /* five are enough */
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        case_expect(tool, cases[i][0], PROBLEM_ARGUMENTS, cases[i][1]);
}

static void test_each_keyword(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *value, *message;
    } cases[] = {
        {"{\"properties\":{\"a\":{\"multipleOf\":0.1}}}", "{\"a\":0.3}", ""},
        {"{\"properties\":{\"a\":{\"multipleOf\":0.1}}}", "{\"a\":0.35}",
         BAD("'a' must be a multiple of 0.1, got 0.35")},
        {"{\"properties\":{\"a\":{\"minimum\":9007199254740993}}}", "{\"a\":9007199254740992}",
         BAD("'a' must be at least 9007199254740993, got 9007199254740992")},
        {"{\"properties\":{\"a\":{\"maximum\":9223372036854775807}}}",
         "{\"a\":9223372036854775808.0}",
         BAD("'a' must be at most 9223372036854775807, got 9.22337203685478e18")},
        {"{\"properties\":{\"a\":{\"uniqueItems\":true}}}", "{\"a\":[1,{\"x\":2},1.0,3]}",
         BAD("'a' must have no item twice, but 0 and 2 are both 1")},
        {"{\"properties\":{\"a\":{\"uniqueItems\":true}}}",
         "{\"a\":[0,1,2,3,4,5,6,{\"x\":1,\"y\":[2]},8,9,{\"y\":[2.0],\"x\":1}]}",
         BAD("'a' must have no item twice, but 7 and 10 are both {\"x\":1,\"y\":[2]}")},
        {"{\"properties\":{\"a\":{\"contains\":{\"const\":1},\"minContains\":2}}}", "{\"a\":[1,2]}",
         BAD("'a' must have at least 2 items that fit its \"contains\", got 1")},
        {"{\"properties\":{\"a\":{\"contains\":{\"const\":1},\"maxContains\":1}}}", "{\"a\":[1,1]}",
         BAD("'a' must have at most 1 items that fit its \"contains\", got 2")},
        {"{\"properties\":{\"a\":{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}}}",
         "{\"a\":[1,2]}",
         BAD("'a[0]' must be of type string, got 1\n") BAD("'a[1]' is not allowed")},
        {"{\"properties\":{\"a\":{\"minProperties\":1}}}", "{\"a\":{}}",
         BAD("'a' must have at least 1 members, got 0")},
        {"{\"maxProperties\":0}", "{\"a\":1}",
         BAD("the arguments must have at most 0 members, got 1")},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", BAD("'b' is required beside 'a'")},
        {"{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}", "{\"a\":1}",
         BAD("'b' is required")},
        {"{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}", "{\"A\":1}",
         BAD("'A' must match the pattern '^[a-z]+$', got \"A\"")},
        {"{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":false}",
         "{\"x-a\":1,\"b\":2}",
         BAD("'x-a' must be of type string, got 1\n")
             BAD("'b' is not known (there are no arguments)")},
        {"{\"not\":{\"required\":[\"a\"]}}", "{\"a\":1}",
         BAD("the arguments must not fit the schema {\"required\":[\"a\"]}, got {\"a\":1}")},
        {"{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}", "{\"a\":1}",
         BAD("'b' is required")},
        {"{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}", "{\"a\":1,\"b\":2}",
         BAD("'b' is not known")},
        {"{\"properties\":{\"a\":{\"prefixItems\":[{}],\"unevaluatedItems\":{\"type\":\"null\"}}}}",
         "{\"a\":[1,2]}", BAD("'a[1]' must be of type null, got 2")},
        {"{\"properties\":{\"when\":{\"type\":\"string\",\"format\":\"date\"}}}",
         "{\"when\":\"soon\"}", ""}, /* an annotation */
        {"{\"properties\":{\"a\":{\"exclusiveMinimum\":0,\"title\":\"x\",\"x-mine\":[]}}}",
         "{\"a\":1}", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        case_expect(cases[i].schema, cases[i].value, PROBLEM_ARGUMENTS, cases[i].message);
}

/* Of several schemas, the problem is told by the one that was probably meant. */
static void test_the_nearest(void **state)
{
    (void)state;
    static const char shapes[] =
        "{\"properties\":{\"shape\":{\"oneOf\":["
        "{\"type\":\"null\"},"
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"circle\"},"
        "\"radius\":{\"type\":\"number\"}},\"required\":[\"kind\",\"radius\"]},"
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"box\"},\"w\":{\"type\":"
        "\"number\"},\"h\":{\"type\":\"number\"}},\"required\":[\"kind\",\"w\",\"h\"]}]}}}";
    static const char maybe[] =
        "{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"string\",\"minLength\":3},"
        "{\"type\":\"null\"}]}}}";
    static const char nested[] =
        "{\"anyOf\":[{\"required\":[\"x\",\"y\"]},{\"anyOf\":[{\"properties\":{\"a\":{\"type\":"
        "\"integer\"}}},{\"required\":[\"p\",\"q\",\"r\"]}]}]}";
    static const struct {
        const char *schema, *value, *message;
    } cases[] = {
        {shapes, "{\"shape\":{\"kind\":\"circle\",\"radius\":1}}", ""},
        {shapes, "{\"shape\":{\"kind\":\"circle\",\"radius\":\"1\"}}",
         BAD("'shape.radius' must be of type number, got \"1\" (by the nearest of 3 schemas, of "
             "which one must fit)")},
        {shapes, "{\"shape\":{\"kind\":\"box\"}}",
         BAD("'shape.w' is required\n")
             BAD("'shape.h' is required (by the nearest of 3 schemas, of which one must fit)")},
        {shapes, "{\"shape\":\"box\"}", BAD("'shape' must be of type object or null, got \"box\"")},
        {maybe, "{\"a\":\"ab\"}", BAD("'a' must have at least 3 characters, got 2")},
        {maybe, "{\"a\":[]}", BAD("'a' must be of type string or null, got []")},
        {"{\"properties\":{\"a\":{\"oneOf\":[{\"minimum\":1},{\"type\":\"string\"},{\"maximum\":"
         "9}]}}}",
         "{\"a\":5}",
         BAD("'a' must fit only one of 3 schemas, but fits number 1 and number 3, got 5")},
        {nested, "{\"a\":\"1\"}",
         BAD("'a' must be of type integer, got \"1\" (by the nearest of 2 schemas, of which one "
             "must fit)")},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        case_expect(cases[i].schema, cases[i].value, PROBLEM_ARGUMENTS, cases[i].message);
}

static void test_results(void **state)
{
    (void)state;
    static const char schema[] = "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":"
                                 "{\"type\":\"integer\"}},\"additionalProperties\":false}";
    case_expect(schema, "[]", PROBLEM_RESULT, "the result must be of type object, got []");
    case_expect(schema, "{\"a\":\"1\",\"b\":2}", PROBLEM_RESULT,
                "'a' must be of type integer, got \"1\"\n"
                "'b' is not known (the members are 'a')");
}

/* What older drafts and other generators write. */
static void test_older_drafts(void **state)
{
    (void)state;
    static const char draft7[] =
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{\"n\":{\"$id\":"
        "\"#num\",\"type\":\"number\"}},\"properties\":{\"p\":{\"$ref\":\"#/definitions/n\"},"
        "\"q\":{\"$ref\":\"#num\"},\"t\":{\"items\":[{\"type\":\"string\"}],\"additionalItems\":"
        "false}},\"dependencies\":{\"p\":[\"q\"],\"t\":{\"required\":[\"u\"]}}}";
    case_expect(draft7, "{\"p\":1,\"q\":2,\"t\":[\"a\"],\"u\":0}", PROBLEM_ARGUMENTS, "");
    case_expect(draft7, "{\"p\":\"1\",\"t\":[\"a\",\"b\"]}", PROBLEM_ARGUMENTS,
                BAD("'q' is required beside 'p'\n") BAD("'p' must be of type number, got \"1\"\n")
                    BAD("'t[1]' is not allowed\n") BAD("'u' is required"));
}

static bool has_pcre2(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        found |= strstr(line, "libpcre2") != NULL;
    fclose(maps);
    return found;
}

/* Only who has a pattern pays for the library.  The first of all tests. */
static void test_library_on_first_need(void **state)
{
    (void)state;
    case_expect("{\"minLength\":1}", "\"x\"", PROBLEM_ARGUMENTS, "");
    assert_false(has_pcre2());
    case_expect("{\"pattern\":\"x\"}", "\"x\"", PROBLEM_ARGUMENTS, "");
    assert_true(has_pcre2());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library_on_first_need),
        cmocka_unit_test(test_a_tool),
        cmocka_unit_test(test_each_keyword),
        cmocka_unit_test(test_the_nearest),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_older_drafts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

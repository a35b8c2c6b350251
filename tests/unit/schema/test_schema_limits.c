/* What no schema and no value may do: hang, run out of stack, or be lost when memory is (R12). */
#include <pthread.h>
#include <time.h>

#include "failing.h"
#include "schema_case.h"

static int64_t thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* BEFORE…BEFORE MIDDLE AFTER…AFTER, `count` times each. */
static char *nest(const char *before, const char *middle, const char *after, size_t count)
{
    struct text text = TEXT_INIT;
    for (size_t i = 0; i < count; i++)
        text_puts(&text, before);
    text_puts(&text, middle);
    for (size_t i = 0; i < count; i++)
        text_puts(&text, after);
    assert_false(text.failed);
    return text_take(&text, NULL);
}

static void put_numbers(struct text *out, int count)
{
    text_putc(out, '[');
    for (int i = 0; i < count; i++)
        text_printf(out, "%s%d", i ? "," : "", i);
    text_putc(out, ']');
}

static void expect_within(const char *schema, const char *value, const char *message)
{
    int64_t begin_ms = thread_ms();
    case_expect(schema, value, PROBLEM_ARGUMENTS, message);
    assert_in_range(thread_ms() - begin_ms, 0, 20000); /* under the sanitizers, too */
}

static void expect_refused(const char *schema, const char *part)
{
    struct error error = ERROR_INIT;
    assert_null(case_schema(schema, &error));
    if (!strstr(error.message, part))
        fail_msg("'%s' has no '%s'", error.message, part);
}

#define TOO_DEEP                                                                                   \
    "Invalid argument: the arguments must not be nested so deep: a check goes 200 levels down"
#define TOO_MUCH                                                                                   \
    "Invalid argument: the arguments must be smaller: to check so much takes more work than is "   \
    "allowed"

static void test_depth(void **state)
{
    (void)state;
    static const char recursive[] = "{\"items\":{\"$ref\":\"#\"}}";
    char *shallow = nest("[", "1", "]", 90), *deep = nest("[", "1", "]", 2000);
    expect_within(recursive, shallow, "");
    expect_within(recursive, deep, TOO_DEEP);
    expect_within("{\"anyOf\":[{\"items\":{\"$ref\":\"#\"}},{\"type\":\"null\"}]}", deep, TOO_DEEP);

    free(shallow);
    free(deep);

    char *schema = nest("{\"not\":", "{}", "}", 300);
    expect_refused(schema, "is nested more than 200 deep");
    free(schema);
}

/* A chain of references that ends, but far away. */
static void test_long_chain(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    text_puts(&text, "{\"$defs\":{");
    for (int i = 0; i < 20000; i++)
        text_printf(&text, "\"a%d\":{\"$ref\":\"#/$defs/a%d\"},", i, i + 1);
    text_puts(&text, "\"a20000\":{}},\"$ref\":\"#/$defs/a0\"}");
    expect_refused(text_cstr(&text), "is reached by more than 200 references");
    text_release(&text);
}

/* Each reference makes schemas anew of what the one before had inside. */
static void test_schemas_from_within(void **state)
{
    (void)state;
    struct text text = TEXT_INIT, path = TEXT_INIT;
    char *before = nest("{\"properties\":{\"a\":", "{\"anyOf\":[{}", "", 60);
    char *after = nest("", "]}", "}}", 60);
    text_printf(&text, "{\"x\":%s", before);
    for (int i = 0; i < 2500; i++)
        text_puts(&text, ",{}");
    text_printf(&text, "%s,\"allOf\":[", after);
    for (int depth = 60; depth >= 0; depth--) {
        text_reset(&path);
        for (int i = 0; i < depth; i++)
            text_puts(&path, "/properties/a");
        text_printf(&text, "{\"$ref\":\"#/x%s\"}%s", text_cstr(&path), depth ? "," : "]}");
    }
    expect_refused(text_cstr(&text), "it has more than 100000 schemas in it");
    text_release(&text);
    text_release(&path);
    free(before);
    free(after);
}

static void test_many_names(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    text_puts(&text, "{\"$defs\":{");
    for (int i = 0; i < 1100; i++)
        text_printf(&text, "%s\"a%d\":{\"$anchor\":\"a%d\"}", i ? "," : "", i, i);
    text_puts(&text, "}}");
    expect_refused(text_cstr(&text), "it has more than 1000 names: \"$id\", \"$anchor\", "
                                     "\"$dynamicAnchor\"");
    text_release(&text);
}

/* Each step looks for a name among all, in each resource on the way here. */
static void test_names_that_are_looked_for(void **state)
{
    (void)state;
    struct text schema = TEXT_INIT, list = TEXT_INIT;
    text_puts(&schema, "{\"$dynamicAnchor\":\"n\",\"items\":{\"$dynamicRef\":\"#n\"},\"$defs\":{");
    for (int i = 0; i < 990; i++)
        text_printf(&schema, "%s\"a%d\":{\"$anchor\":\"a%d\"}", i ? "," : "", i, i);
    text_puts(&schema, "}}");
    put_numbers(&list, 100000);
    expect_within(text_cstr(&schema), text_cstr(&list), TOO_MUCH);
    text_release(&list);
    text_reset(&list);
    put_numbers(&list, 10000);
    expect_within(text_cstr(&schema), text_cstr(&list), "");
    text_release(&schema);
    text_release(&list);
}

static void test_equal_values(void **state)
{
    (void)state;
    char *deep = nest("[", "1", "]", 1900);
    struct text pair = TEXT_INIT;
    text_printf(&pair, "[%s,%s]", deep, deep);
    expect_within("{\"uniqueItems\":true}", text_cstr(&pair), TOO_MUCH);
    text_release(&pair);
    free(deep);
}

static void test_many_items(void **state)
{
    (void)state;
    struct text list = TEXT_INIT, twice = TEXT_INIT, schema = TEXT_INIT;
    put_numbers(&list, 100000);
    expect_within("{\"uniqueItems\":true}", text_cstr(&list), "");
    text_append(&twice, list.data, list.length - 1);
    text_puts(&twice, ",77.0]");
    expect_within("{\"uniqueItems\":true}", text_cstr(&twice),
                  "Invalid argument: the arguments must have no item twice, but 77 and 100000 are "
                  "both 77");
    expect_within("{\"items\":{\"maximum\":99999},\"unevaluatedItems\":false}", text_cstr(&list),
                  "");

    /* Each item against each of many constants: the budget ends it. */
    text_puts(&schema, "{\"items\":{\"enum\":");
    put_numbers(&schema, 10000);
    text_puts(&schema, "}}");
    expect_within(text_cstr(&schema), text_cstr(&list), TOO_MUCH);
    text_release(&list);
    text_release(&twice);
    text_release(&schema);
}

/* Each level tries both branches, so without a limit it were 2^60 checks. */
static void test_doubling(void **state)
{
    (void)state;
    char *value = nest("{\"a\":", "1", "}", 60);
    expect_within("{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"anyOf\":["
                  "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"required\":[\"b\"]},"
                  "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"required\":[\"b\"]}]}}}",
                  value, TOO_MUCH);
    free(value);
}

static void test_long_strings(void **state)
{
    (void)state;
    char *text = malloc(1000003);
    assert_non_null(text);
    memset(text, 'a', 1000002);
    text[0] = text[1000001] = '"';
    text[1000002] = '\0';
    expect_within("{\"minLength\":1000000,\"maxLength\":1e30}", text, "");
    expect_within("{\"pattern\":\"^[ab]*$\"}", text, "");
    expect_within("{\"pattern\":\"^(a|b)*$\"}", text,
                  "Invalid argument: the arguments must match the pattern '^(a|b)*$', and takes "
                  "more work to match than is allowed: make it shorter");
    text[1000000] = '!';
    expect_within("{\"pattern\":\"^(a+)+$\"}", text,
                  "Invalid argument: the arguments must match the pattern '^(a+)+$', and takes "
                  "more work to match than is allowed: make it shorter");
    expect_within("{\"minLength\":1e30}", text,
                  "Invalid argument: the arguments must have at least 18446744073709551615 "
                  "characters, got 1000000");
    text[100001] = '"';
    text[100002] = '\0';
    expect_within("{\"pattern\":\"^(a|b)*$\"}", text, "");
    free(text);
}

/* ---- threads ---- */

static const char shared[] =
    "{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"^\\\\d+$\"},\"b\":{\"enum\":[\"x\","
    "{\"y\":[1]}]},\"c\":{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#\"}]}},\"required\":[\"a\"],"
    "\"unevaluatedProperties\":false}";

static void *check_often(void *data)
{
    json_t *good = json_loads("{\"a\":\"12\",\"b\":{\"y\":[1.0]},\"c\":{\"a\":\"3\"}}", 0, NULL);
    json_t *bad = json_loads("{\"a\":\"x\",\"c\":{\"b\":1},\"d\":0}", 0, NULL);
    bool fine = true;
    for (int i = 0; i < 500; i++) {
        struct error error = ERROR_INIT;
        fine = fine && schema_check(data, good, PROBLEM_ARGUMENTS, &error) &&
               !schema_check(data, bad, PROBLEM_ARGUMENTS, &error);
    }
    json_decref(good);
    json_decref(bad);
    return fine ? NULL : data;
}

static void test_threads(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct schema *schema = case_schema(shared, &error);
    assert_non_null(schema);
    pthread_t threads[4];
    void *bad;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, schema), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    schema_free(schema);
}

/* ---- memory ---- */

static const char rich[] =
    "{\"$id\":\"https://example.com/r\",\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":"
    "\"^a\"},\"b\":{\"oneOf\":[{\"$ref\":\"#/$defs/d\"},{\"type\":\"array\",\"uniqueItems\":true,"
    "\"contains\":{\"const\":1}}]},\"c\":{\"$ref\":\"#/x\"}},\"patternProperties\":{\"^p\":true},"
    "\"propertyNames\":{\"maxLength\":3},\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}},"
    "\"$defs\":{\"d\":{\"$anchor\":\"d\",\"enum\":[1,2]}},\"x\":{\"$ref\":\"r#d\"},\"if\":{"
    "\"required\":[\"c\"]},\"then\":{},\"unevaluatedProperties\":false}";

static void test_no_memory_to_compile(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    json_t *document = case_json(rich);
    schema_free(schema_compile(document, &error)); /* the library of the patterns is loaded */
    bool failed = true;
    for (int n = 0; failed && n < 1000; n++) {
        error = (struct error)ERROR_INIT;
        fail_after(n);
        struct schema *schema = schema_compile(document, &error);
        failed = fail_never();
        assert_int_equal(schema == NULL, failed);
        if (failed)
            assert_int_equal(error.kind, ERROR_INTERNAL);
        schema_free(schema);
    }
    assert_false(failed);
    json_decref(document);
}

/* It is never said that a value fits, or why not, when memory ran out on the way. */
static void test_no_memory_to_check(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool fits;
    } cases[] = {
        {"{\"a\":\"ab\",\"b\":[1,2,3,4,5,6,7,8,9,10],\"c\":2,\"p\":0}", true},
        {"{\"a\":\"b\",\"b\":[1,1],\"c\":7,\"quux\":0}", false},
    };
    struct error error = ERROR_INIT;
    struct schema *schema = case_schema(rich, &error);
    assert_non_null(schema);
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *value = case_json(cases[i].value);
        bool failed = true;
        for (int n = 0; failed && n < 1000; n++) {
            error = (struct error)ERROR_INIT;
            fail_after(n);
            bool fits = schema_check(schema, value, PROBLEM_ARGUMENTS, &error);
            failed = fail_never();
            assert_int_equal(fits, !failed && cases[i].fits);
            if (failed)
                assert_int_equal(error.kind, ERROR_INTERNAL);
            else if (!fits)
                assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        }
        assert_false(failed);
        json_decref(value);
    }
    schema_free(schema);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__ /* what follows are minutes of one thread */
    cmocka_set_test_filter("test_threads");
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_schemas_from_within),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_names_that_are_looked_for),
        cmocka_unit_test(test_equal_values),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_long_strings),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory_to_compile),
        cmocka_unit_test(test_no_memory_to_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* D9; FAULTS 63-70, 72. */
#include "fake.h"

#include "tool/arguments.h"

static void test_what_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *read;
    } cases[] = {
        /* nothing (row 63) */
        {"", "{}"},
        {" \r\n\t ", "{}"},
        /* as it is, to the byte */
        {"{}", "{}"},
        {" {\"city\": \"Oslo\"}\n", "{\"city\": \"Oslo\"}"},
        {"{\"id\":2512292042121000001}", "{\"id\":2512292042121000001}"},
        {"{\"id\":123456789012345678901234567890}", "{\"id\":123456789012345678901234567890}"},
        {"{\"x\":1.10,\"y\":1E2}", "{\"x\":1.10,\"y\":1E2}"},
        {"{\"s\":\"a\\u0000b\"}", "{\"s\":\"a\\u0000b\"}"},
        {"{\"s\":\"```json\\n{}\\n```\"}", "{\"s\":\"```json\\n{}\\n```\"}"},
        /* a fence around the whole text (row 64) */
        {"```json\n{\"city\":\"Oslo\"}\n```", "{\"city\":\"Oslo\"}"},
        {"```\n{\"city\":\"Oslo\"}\n```\n", "{\"city\":\"Oslo\"}"},
        {"```JSON {\"a\":1}```", "{\"a\":1}"},
        /* closing tags behind the object (row 65) */
        {"{\"city\":\"Oslo\"}</tool_call>", "{\"city\":\"Oslo\"}"},
        {"{\"a\":\"}\"}\n</arguments>\n</tool_call>\n", "{\"a\":\"}\"}"},
        /* sent twice (row 66) */
        {"{\"city\":\"Oslo\"}{\"city\":\"Oslo\"}", "{\"city\":\"Oslo\"}"},
        {"{\"a\":1, \"b\":2}\n{\"b\":2,\"a\":1}", "{\"a\":1, \"b\":2}"},
        {"{}{}{}", "{}"},
        /* encoded twice (row 68) */
        {"\"{\\\"city\\\":\\\"Oslo\\\"}\"", "{\"city\":\"Oslo\"}"},
        /* no UTF-8 */
        {"{\"s\":\"\xFF\"}", "{\"s\":\"\xEF\xBF\xBD\"}"},
        {"{\"s\":\"\\ud83d\"}", "{\"s\":\"\xEF\xBF\xBD\"}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        struct error error = ERROR_INIT;
        if (!arguments_repair(cases[i].raw, strlen(cases[i].raw), &out, &error))
            fail_msg("%s: %s", cases[i].raw, error.message);
        assert_string_equal(text_cstr(&out), cases[i].read);
        text_release(&out);
    }
}

/* F18: with the place, and nothing is run as {}. */
static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *part; /* of the message */
    } cases[] = {
        /* row 69, the main case: the place and the text are quoted */
        {"{\"path\": oops", "line 1, column 13 near '{\"path\": oops'"},
        {"{\"path\": oops", "they were: {\"path\": oops"},
        {"{\"path\":\"a", "not valid JSON"},
        {"{\"a\":1} and that is it", "not valid JSON"},
        {"{\"a\":1}</tool_call> now", "not valid JSON"},
        {"{\"a\":1}<tool_call>", "not valid JSON"},
        {"{\"a\":1}{\"a\":2}", "not valid JSON"}, /* row 67 */
        {"{\"a\":1}{\"a\":", "not valid JSON"},
        {"Here: ```json\n{}\n```", "not valid JSON"},
        {"```json\n{}", "not valid JSON"},
        {"``````", "not valid JSON"},
        {"{'a':1}", "not valid JSON"},
        {"{\"a\":1,}", "not valid JSON"},
        {"{\"a\":1,\"a\":2}", "duplicate object key"},
        {"[]", "must be a JSON object, got a list: []"},
        {"null", "must be a JSON object, got null"},
        {"\"Oslo\"", "must be a JSON object, got a string: \"Oslo\""},
        {"\"\\\"{}\\\"\"", "must be a JSON object, got a string"}, /* encoded three times */
        {"5", "must be a JSON object, got a number: 5"},
        {"true", "must be a JSON object, got a boolean"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        struct error error = ERROR_INIT;
        assert_false(arguments_repair(cases[i].raw, strlen(cases[i].raw), &out, &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        if (!strstr(error.message, cases[i].part))
            fail_msg("%s: '%s' is not in '%s'", cases[i].raw, cases[i].part, error.message);
        assert_int_equal(out.length, 0);
        text_release(&out);
    }
}

static void test_a_long_text_is_quoted_short(void **state)
{
    (void)state;
    struct text raw = TEXT_INIT, out = TEXT_INIT;
    struct error error = ERROR_INIT;
    text_puts(&raw, "{\"a\": ");
    for (int i = 0; i < 1000; i++)
        text_puts(&raw, "é");
    assert_false(arguments_repair(raw.data, raw.length, &out, &error));
    assert_true(strlen(error.message) < 500);
    assert_non_null(strstr(error.message, "é…"));
    text_release(&raw);
    text_release(&out);
}

static void test_deep_nesting_is_no_crash(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *raw = malloc(DEPTH);
    memset(raw, '[', DEPTH);
    struct text out = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_false(arguments_repair(raw, DEPTH, &out, &error));
    free(raw);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_long_text_is_quoted_short),
        cmocka_unit_test(test_deep_nesting_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_check.h"

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"null", true}, {" true ", true}, {"false", true}, {"0", true}, {"-0.5e+10", true},
        {"12345678901234567890123", true}, {"1e400", true}, {"\"\"", true}, {"\"a\\n\\u00e9\"", true},
        {"\"\\ud83d\\ude00\"", true}, {"[]", true}, {"[1, [2], {}]", true},
        {"{\"a\": 1, \"a\": {\"b\": []}}", true}, {"\t{\r\n}", true}, {"\"\xC3\xA9\"", true},
        {"\"\\u0000\"", true},
        {"", false}, {" ", false}, {"nul", false}, {"nulls", false}, {"01", false}, {"1.", false},
        {".5", false}, {"+1", false}, {"1e", false}, {"-", false}, {"NaN", false}, {"\"a", false},
        {"\"\n\"", false}, {"\"\\x\"", false}, {"\"\\u12\"", false}, {"\"\\ud83d\"", false},
        {"\"\\ude00\"", false}, {"\"\\ud83d\\u0041\"", false}, {"[1,]", false}, {"[,1]", false},
        {"[1 2]", false}, {"{\"a\"}", false}, {"{\"a\":}", false}, {"{a:1}", false},
        {"{\"a\":1,}", false}, {"[}", false}, {"[1]]", false}, {"1 2", false}, {"\"\xFF\"", false},
        {"\"\xED\xA0\x80\"", false}, {"\xEF\xBB\xBF{}", false}, {"'a'", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (json_is_valid(cases[i].text, strlen(cases[i].text)) != cases[i].valid)
            fail_msg("'%s' is %s", cases[i].text, cases[i].valid ? "valid" : "not valid");
    assert_false(json_is_valid("1\0", 2));
    assert_false(json_is_valid(NULL, 0));
}

static void test_depth(void **state)
{
    static char deep[2 * 2049];
    (void)state;
    memset(deep, '[', 2049);
    memset(deep + 2049, ']', 2049);
    assert_true(json_is_valid(deep + 1, 2 * 2048));
    assert_false(json_is_valid(deep, 2 * 2049));
}

/* Whatever is done to a text: the answer is jansson's. */
static void test_agrees_with_jansson(void **state)
{
    static const char sample[] =
        "{\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\n\\ud83d\\ude00\"], \"b\": {\"c\": \"\xC3\xA9\"}}";
    static const char bytes[] = "{}[],:\"\\u0dc8 1-.eEtfn\xC3\x80\n";
    char text[sizeof(sample)];
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        size_t length = sizeof(sample) - 1;
        memcpy(text, sample, sizeof(sample));
        for (int change = rand_r(&seed) % 3; change >= 0; change--)
            text[(size_t)rand_r(&seed) % length] = bytes[(size_t)rand_r(&seed) % (sizeof(bytes) - 1)];
        if (rand_r(&seed) % 4 == 0)
            length = (size_t)rand_r(&seed) % length;
        json_error_t problem;
        json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
        bool expected = value || json_error_code(&problem) == json_error_numeric_overflow ||
                        json_error_code(&problem) == json_error_null_byte_in_key;
        if (json_is_valid(text, length) != expected)
            fail_msg("'%.*s': jansson says '%s'", (int)length, text, value ? "valid" : problem.text);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_agrees_with_jansson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

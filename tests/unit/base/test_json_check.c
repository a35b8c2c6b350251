#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

#define FFFD "\xEF\xBF\xBD"

#define CASE(bytes, valid, clean)                                                                  \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, valid, clean                                                     \
    }

static const struct {
    const char *bytes;
    size_t length;
    size_t valid;
    const char *clean;
} cases[] = {
    CASE("", 0, ""),
    CASE("abc", 3, "abc"),
    CASE("a\0b", 3, "a" FFFD "b"), /* valid, but not clean */
    CASE("\0\0", 2, FFFD FFFD),
    CASE("\x7F", 1, "\x7F"),
    /* the first and the last of each length */
    CASE("\xC2\x80\xDF\xBF", 4, "\xC2\x80\xDF\xBF"),
    CASE("\xE0\xA0\x80\xEF\xBF\xBF", 6, "\xE0\xA0\x80\xEF\xBF\xBF"),
    CASE("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
    /* overlong */
    CASE("\xC0\x80", 0, FFFD FFFD),
    CASE("\xC1\xBF", 0, FFFD FFFD),
    CASE("\xE0\x9F\xBF", 0, FFFD FFFD FFFD),
    CASE("\xF0\x8F\xBF\xBF", 0, FFFD FFFD FFFD FFFD),
    /* surrogates, and their neighbours */
    CASE("\xED\x9F\xBF\xEE\x80\x80", 6, "\xED\x9F\xBF\xEE\x80\x80"),
    CASE("\xED\xA0\x80", 0, FFFD FFFD FFFD),
    CASE("\xED\xBF\xBF", 0, FFFD FFFD FFFD),
    /* above U+10FFFF, and bytes that never occur */
    CASE("\xF4\x90\x80\x80", 0, FFFD FFFD FFFD FFFD),
    CASE("\xF5\x80\x80\x80", 0, FFFD FFFD FFFD FFFD),
    CASE("a\xFE\xFF", 1, "a" FFFD FFFD),
    /* continuation bytes alone; too many */
    CASE("\x80z", 0, FFFD "z"),
    CASE("\xC3\xA9\xA9", 2, "\xC3\xA9" FFFD),
    /* truncated: by the end, by another character, by a newline */
    CASE("a\xC3", 1, "a" FFFD),
    CASE("\xE2\x82", 0, FFFD FFFD),
    CASE("\xF0\x9F\x98", 0, FFFD FFFD FFFD),
    CASE("\xE2\x82\xC3\xA9", 0, FFFD FFFD "\xC3\xA9"),
    CASE("\xF0\x9F\n", 0, FFFD FFFD "\n"),
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        assert_int_equal(utf8_valid(cases[i].bytes, cases[i].length), cases[i].valid);
        utf8_append_clean(&out, cases[i].bytes, cases[i].length);
        assert_string_equal(text_cstr(&out), cases[i].clean);
        assert_int_equal(utf8_valid(text_cstr(&out), out.length), out.length);
        text_release(&out);
    }
}

/* The same behind and before every number of ASCII bytes, for the path of eight at once. */
static void test_cases_at_every_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t before = 0; before < 20; before++) {
            char bytes[64];
            size_t length = before + cases[i].length;
            memset(bytes, 'x', sizeof(bytes));
            memcpy(bytes + before, cases[i].bytes, cases[i].length);
            assert_int_equal(utf8_valid(bytes, length), before + cases[i].valid);
            bool good = cases[i].valid == cases[i].length;
            size_t padded = length + 20;
            assert_int_equal(utf8_valid(bytes, padded), good ? padded : before + cases[i].valid);
        }
    }
}

/* Every code point is valid alone and at each truncation is not. */
static void test_every_code_point(void **state)
{
    (void)state;
    for (unsigned code = 0x80; code <= 0x10FFFF; code++) {
        char bytes[4];
        size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        unsigned rest = code;
        for (size_t i = length - 1; i > 0; i--, rest >>= 6)
            bytes[i] = (char)(0x80 | (rest & 63));
        bytes[0] = (char)((length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0) | rest);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        if (utf8_valid(bytes, length) != (surrogate ? 0 : length) ||
            utf8_valid(bytes, length - 1) != 0)
            fail_msg("U+%04X", code);
    }
}

static void test_cut(void **state)
{
    (void)state;
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"; /* 1 2 3 4 1 */
    static const size_t heads[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
    static const size_t tails[] = {0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11, 11, 11};
    for (size_t at = 0; at < sizeof(heads) / sizeof(heads[0]); at++) {
        assert_int_equal(utf8_cut(text, sizeof(text) - 1, at), heads[at]);
        assert_int_equal(utf8_cut_tail(text, sizeof(text) - 1, at), tails[at]);
    }
    assert_int_equal(utf8_cut("", 0, 5), 0);
    assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5); /* no text: no search */
}

static void test_visible(void **state)
{
    (void)state;
    static const char *const visible[][2] = {
        {"plain\ttext\n", "plain\ttext\n"},
        {"a\rb\bc\vd\fe\a", "abcde"},
        {"\x1b[31mred\x1b[0m", "[31mred[0m"},
        {"\x1b]0;title\x07x", "]0;titlex"},
        {"\x1b]8;;http://x\x1b\\link", "]8;;http://x\\link"},
        {"\x7F", ""},
        {"\xC2\x9B"
         "31m",
         "31m"}, /* CSI as one character */
        {"\xC2\x80\xC2\x9F\xC2\xA0\xC3\x9F", "\xC2\xA0\xC3\x9F"},
        {"\x9B"
         "31m",
         FFFD "31m"}, /* as a byte it is no character at all */
        {"a\xE2\x80\xAE"
         "b",
         "ab"},
        {"\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAB\xE2\x80\xAC\xE2\x80\xAD\xE2\x80\xAE\xE2\x80\xAF",
         "\xE2\x80\xA9\xE2\x80\xAF"},
        {"\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA7\xE2\x81\xA8\xE2\x81\xA9\xE2\x81\xAA",
         "\xE2\x81\xA5\xE2\x81\xAA"},
        {"\xE2\x82\xAA\xE3\x80\xAA", "\xE2\x82\xAA\xE3\x80\xAA"},
        {"\xF0\x9F\x98\x80\xFF", "\xF0\x9F\x98\x80" FFFD},
    };
    for (size_t i = 0; i < sizeof(visible) / sizeof(visible[0]); i++) {
        struct text out = TEXT_INIT;
        utf8_append_visible(&out, visible[i][0], strlen(visible[i][0]));
        assert_string_equal(text_cstr(&out), visible[i][1]);
        text_release(&out);
    }
    struct text out = TEXT_INIT;
    utf8_append_visible(&out, "a\0b", 3);
    assert_string_equal(out.data, "a" FFFD "b");
    text_reset(&out);
    text_puts(&out, "\n");
    utf8_append_line(&out, "a\tb\nc\033d", 7);
    assert_string_equal(out.data, "\na b cd");
    text_release(&out);
}

/* Every C1 control and every other two-byte character. */
static void test_visible_leaves_out_all_of_c1(void **state)
{
    (void)state;
    for (unsigned code = 0x80; code < 0x800; code++) {
        char bytes[2] = {(char)(0xC0 | code >> 6), (char)(0x80 | (code & 63))};
        struct text out = TEXT_INIT;
        utf8_append_visible(&out, bytes, 2);
        assert_int_equal(out.length, code < 0xA0 ? 0 : 2);
        text_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_cases_at_every_offset),
        cmocka_unit_test(test_every_code_point),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_visible_leaves_out_all_of_c1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

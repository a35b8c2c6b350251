/* The host's reader of JSON beside jansson's: the same values, limits, errors and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_check.h"
#include "base/text.h"
#include "json_twice.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ANY          (JSON_DECODE_ANY | JSON_ALLOW_NUL)

static const size_t flag_sets[] = {
    ANY,
    JSON_ALLOW_NUL,
    ANY | JSON_REJECT_DUPLICATES,
    ANY | JSON_DISABLE_EOF_CHECK,
    ANY | JSON_DECODE_INT_AS_REAL,
};

static void compare(const char *text, size_t length, size_t flags)
{
    struct text difference = TEXT_INIT;
    if (!json_twice(text, length, flags, &difference))
        fail_msg("'%.*s': %s", (int)length, text, text_cstr(&difference));
    text_release(&difference);
}

static void compare_all(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(flag_sets); i++)
        compare(text, length, flag_sets[i]);
}

/* ---- by hand ---- */

static const char *const samples[] = {
    "", " ", "\n\n ", "null", " true\n", "false", "nul", "nulls", "truefalse", "nullx", "NaN",
    "Infinity", "?", "[?]", "\xC3\xA9", "[\xE2\x82\xAC]", "'a'", "\xEF\xBB\xBF{}",
    /* numbers */
    "0", "-0", "-0.0", "0.0", "00", "01", "-01", "-", "--1", "+1", ".5", "1.", "1.x", "1.e5", "1e",
    "1e+", "1e-", "1e+x", "1E5", "1e5", "1e-5", "1e22", "1e23", "1e400", "-1e400", "1e-400",
    "4.9e-324", "2.4e-324", "1.7976931348623157e308", "1.7976931348623159e308", "0.1", "0.3",
    "123456789012345", "1234567890123456", "9007199254740993", "0.1234567890123456789",
    "9007199254740993.0", "9007199254740992.5", "123456789.123456", "0.000000000000001",
    "0.0000000000000001", "100000000000000000000000.0", "2.2250738585072011e-308",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "92233720368547758070", "18446744073709551615", "18446744073709551616",
    "123456789012345678901234567890", "[1,2.50,-3e2,4]", "1 2", "1a", "1\"", "[1\xFF]", "1\xFF",
    "12\xC3", "-\xFF", "1.\xFF", "1e\xFF", "[123456789012345678901\xFF]",
    /* strings */
    "\"\"", "\"a\"", "\"a", "\"", "\"\\", "\"\\\"", "\"\\x\"", "\"\\\xC3\xA9\"", "\"\\u\"",
    "\"\\u12\"", "\"\\u12g4\"", "\"\\u12\xC3\xA9\"", "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
    "\"\\uD83D\\uDE00\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83d\\ud83d\"",
    "\"\\ud83dx\"", "\"\\ud83d\\n\"", "\"\\ud83d\\", "\"\\ud83d", "\"\\ud83d\xFF\"", "\"\\\\ud83d\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\"", "[\"\\u0000\",\"a\\u0000b\"]", "\"\n\"",
    "\"a\tb\"", "\"\x01\"", "\"\x7F\"", "\"\xC3\xA9\xF0\x9F\x98\x80\"", "\"\xFF\"", "\"a\xFF",
    "\"\xE2\x82\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xC0\x80\"", "\"\\\xFF\"",
    "\"\\u1\xFF\"", "\"0123456789012345678\n\"", "\"01234567890123456789\n\"",
    "\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
    "\"0123456789012345678901234567890123456789\\n012345678901234567890123456789\"",
    "\"0123456789012345678901234567890\n\"", "\"01234567890123456789012345678901\x1F\"",
    /* lists */
    "[]", "[ ]", "[", "[[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[}", "[1]]",
    "[1] x", "[:]", "[\"a\" \"b\"]", "[\xFF]", "[1,\xFF]", "[1]\xFF", "[1] \xFF", "\xFF", "  \xFF",
    "[1]\n\n", "[1,\n 2,\n x]", "[true,false,null]", "[tru]", "[t]", "[true\xFF]",
    /* objects */
    "{}", "{ }", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}",
    "{\"a\"}", "{\"a\" 1}", "{\"a\":}", "{\"a\"::1}", "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}",
    "{\"a\":1}{", "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":2,\"\\u0061\":3}", "{\"\":{\"\":[]}}",
    "{\"a\\u0000b\":1}", "{\"\\n\\t\":{\"\\u00e9\":{\"\\\"\":[1]},\"x\\n\":2}}", "{\"a\":oops}",
    "{\n \"a\": 1,\n}", "{\"a\":[1,{\"b\":null}],\"c\":\"\\ud83d\"}", "{\"a\xFF\":1}", "{\"a\"\xFF",
    "{\"a\":\xFF", "{\"a\":1\xFF", "{\"a\":1,\xFF", "{\"a\":9223372036854775808,\"b\":\xFF}",
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++)
        compare_all(samples[i], strlen(samples[i]));
}

/* 2048 deep, a value in the innermost list counted. */
static void test_depth(void **state)
{
    (void)state;
    static char text[6 * 2050 + 2];
    for (size_t depth = 2046; depth <= 2050; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        compare_all(text, 2 * depth);
        compare_all(text, depth);
        assert_int_equal(json_is_valid(text, 2 * depth), depth <= 2048);
        text[depth] = '7';
        memset(text + depth + 1, ']', depth);
        compare_all(text, 2 * depth + 1);
        assert_int_equal(json_is_valid(text, 2 * depth + 1), depth < 2048);
        size_t length = 0;
        for (size_t i = 0; i < depth; i++, length += 5)
            memcpy(text + length, "{\"a\":", 5);
        text[length++] = '1';
        memset(text + length, '}', depth);
        compare_all(text, length + depth);
    }
}

/* A plugin may have set a locale whose point is a comma. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < COUNT(names) && !setlocale(LC_NUMERIC, names[i]); i++)
        ;
    bool no_memory;
    json_error_t problem;
    json_t *value = json_read("0.1234567890123456789", 21, ANY, &problem, &no_memory);
    assert_true(json_real_value(value) == 0x1.f9add3746f65fp-4);
    json_decref(value);
    setlocale(LC_NUMERIC, "C");
}

static void test_nuls(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } bad[] = {{"1\0", 2}, {"\0", 1}, {"[1\0]", 4}, {"{\"a\"\0:1}", 8}, {"true\0", 5},
               {"[\"a\0b\"]", 7}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        json_error_t problem;
        bool no_memory;
        assert_null(json_read(bad[i].text, bad[i].length, ANY, &problem, &no_memory));
        assert_false(no_memory);
        assert_true(problem.text[0]);
        assert_false(json_is_valid(bad[i].text, bad[i].length));
    }
}

/* ---- files, and what becomes of them by chance ---- */

static unsigned seed = 1;

static size_t at_random(size_t count)
{
    return (size_t)rand_r(&seed) % count;
}

static void mutate(struct text *text)
{
    static const char bytes[] = "{}[],:\"\\/u0d8c9 1-.+eEtfn\xC3\xA9\xF0\xFF\x01\n";
    switch (at_random(4)) {
    case 0: /* cut */
        text->length = at_random(text->length + 1);
        break;
    case 1: { /* twice */
        size_t from = at_random(text->length), length = at_random(text->length - from + 1);
        char *piece = strndup(text->data + from, length);
        text_append(text, piece, strlen(piece));
        free(piece);
        break;
    }
    default:
        for (size_t i = 1 + at_random(3); i; i--)
            text->data[at_random(text->length)] = bytes[at_random(sizeof(bytes) - 1)];
    }
}

static void compare_mutants(const char *data, size_t length, int rounds)
{
    struct text text = TEXT_INIT;
    for (int i = 0; length && i < rounds; i++) {
        text_reset(&text);
        text_append(&text, data, length);
        mutate(&text);
        compare(text.data, text.length, flag_sets[at_random(COUNT(flag_sets))]);
    }
    text_release(&text);
}

static void test_mutated_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++)
        compare_mutants(samples[i], strlen(samples[i]), 300);
}

static size_t file_count;

static int compare_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)where;
    static char data[200000];
    const char *suffix = strrchr(path, '.');
    if (kind != FTW_F || !suffix || strncmp(suffix, ".json", 5) != 0 ||
        (size_t)status->st_size > sizeof(data))
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, data, sizeof(data));
    close(fd);
    assert_true(length >= 0);
    compare(data, (size_t)length, ANY);
    compare_mutants(data, (size_t)length, length < 10000 ? 20 : 2);
    file_count++;
    return 0;
}

static void test_files(void **state)
{
    (void)state;
    assert_int_equal(nftw(JSON_FILES, compare_file, 16, FTW_PHYS), 0);
    assert_true(file_count > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),         cmocka_unit_test(test_depth),
        cmocka_unit_test(test_locale),          cmocka_unit_test(test_nuls),
        cmocka_unit_test(test_mutated_samples), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "failing.h"

#define FFFD         "\xEF\xBF\xBD"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static json_t *parse(const char *text, bool *lone, struct error *error)
{
    return json_parse(text, strlen(text), lone, error);
}

static void test_any_value(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "null",
        "true",
        "17",
        "-0.5",
        "\"x\"",
        "[]",
        "{\"a\":[1,{\"b\":null}]}",
        "[1,2.5,\"\\u0000\"]",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = TEXT_INIT;
        struct error error = ERROR_INIT;
        bool lone = true;
        json_t *value = parse(cases[i], &lone, &error);
        assert_non_null(value);
        assert_false(lone);
        text_json(&text, value);
        assert_string_equal(text.data, cases[i]);
        text_release(&text);
        json_decref(value);
    }
}

/* What a string of bad encoding becomes when nobody asks for lone surrogates. */
static void test_repairs(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"a\\ud83d\"", "a" FFFD},
        {"\"\\ude00b\"", FFFD "b"},
        {"\"\\ud83d\\ud83d\\ude00\"", FFFD "\xF0\x9F\x98\x80"},
        {"\"\\ude00\\ud83d\"", FFFD FFFD},
        {"\"\\uD83D\\n\"", FFFD "\n"},
        {"\"\\ud83d \\ude00\"", FFFD " " FFFD},
        {"\"\\ud83dx\\u00e9\"", FFFD "x\xC3\xA9"},
        {"\"\\\\ud83d\\ud83d\"", "\\ud83d" FFFD}, /* an escaped backslash is no escape */
        {"\"\xFF\"", FFFD},
        {"\"\xE2\x82\"", FFFD FFFD},
        {"\"\xED\xA0\xBD\"", FFFD FFFD FFFD}, /* a surrogate in CESU-8 */
        {"\"\xC0\x80\xF0\x9F\x98\x80\"", FFFD FFFD "\xF0\x9F\x98\x80"},
        {"\"\xFF\\ud83d\\\"\"", FFFD FFFD "\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        json_t *value = parse(cases[i][0], NULL, &error);
        assert_non_null(value);
        assert_string_equal(json_string_value(value), cases[i][1]);
        json_decref(value);
    }
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"a\":oops}", "invalid JSON at line 1, column 9 near '{\"a\":oops}': invalid token"},
        {"{\n \"a\": 1,\n}",
         "invalid JSON at line 3, column 1 near '{  \"a\": 1, }': string or '}' expected"},
        {"[1, 2", "invalid JSON at line 1, column 5 near '[1, 2': ']' expected"},
        {"", "invalid JSON at line 1, column 0 near '': unexpected token"},
        {"   ", NULL},
        {"{} x", "invalid JSON at line 1, column 4 near '{} x': end of file expected"},
        {"[1e999]", NULL},
        {"{\"a\\u0000b\":1}", NULL},
        {"\"\\ud83d", NULL},
        {"\"\\ud8", NULL},
        {"\"\\", NULL},
        {"[\xFF]", NULL},
        {"[NaN]", NULL},
        {"[123456789012345678901234567890]", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        assert_null(parse(cases[i].text, NULL, &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        assert_int_equal(strncmp(error.message, "invalid JSON at line ", 21), 0);
        if (cases[i].message)
            assert_string_equal(error.message, cases[i].message);
    }
}

/* Of a long text only what is near is quoted, in whole characters and on one line. */
static void test_errors_quote_little(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    for (int shift = 0; shift < 4; shift++) {
        struct error error = ERROR_INIT;
        text_reset(&text);
        text_puts(&text, "[\"");
        text_append(&text, "xxx", (size_t)shift);
        for (int i = 0; i < 1000; i++)
            text_puts(&text, "\xE2\x82\xAC\\n");
        text_puts(&text, "\" oops \"");
        for (int i = 0; i < 1000; i++)
            text_puts(&text, "\xF0\x9F\x98\x80");
        text_puts(&text, "\"]");
        assert_null(json_parse(text.data, text.length, NULL, &error));
        assert_non_null(strstr(error.message, "oops"));
        assert_null(strstr(error.message, FFFD));
        assert_true(strlen(error.message) < 150);
    }
    text_release(&text);
}

/* One delta after the other through json_parse() and json_join_halves(), as a provider
 * does: every block has its own half. */
struct delta {
    int block;
    const char *json;
};

static void join(const struct delta *deltas, struct text out[2])
{
    struct json_half halves[2] = {{0}, {0}};
    for (; deltas->json; deltas++) {
        bool lone;
        struct error error = ERROR_INIT;
        json_t *value = parse(deltas->json, &lone, &error);
        assert_non_null(value);
        json_join_halves(&halves[deltas->block], &out[deltas->block], json_string_value(value),
                         json_string_length(value), lone);
        json_decref(value);
    }
    json_half_end(&halves[0], &out[0]);
    json_half_end(&halves[1], &out[1]);
}

static void test_halves_are_joined_within_their_block(void **state)
{
    (void)state;
    static const struct {
        struct delta deltas[6];
        const char *expected[2];
    } cases[] = {
        /* one delta holds all */
        {{{0, "\"a\\ud83d\\ude00b\""}},
         {"a\xF0\x9F\x98\x80"
          "b",
          ""}},
        /* split over two */
        {{{0, "\"a\\ud83d\""}, {0, "\"\\ude00b\""}},
         {"a\xF0\x9F\x98\x80"
          "b",
          ""}},
        /* two blocks in turn, both split */
        {{{0, "\"\\ud83d\""}, {1, "\"\\ud83e\""}, {0, "\"\\ude00\""}, {1, "\"\\udd14\""}},
         {"\xF0\x9F\x98\x80", "\xF0\x9F\xA4\x94"}},
        /* the low half in another block does not match */
        {{{0, "\"\\ud83d\""}, {1, "\"\\ude00\""}}, {FFFD, FFFD}},
        /* alone */
        {{{0, "\"\\ud83d\""}}, {FFFD, ""}},
        {{{0, "\"\\ude00\""}}, {FFFD, ""}},
        {{{0, "\"x\\ud83dy\""}}, {"x" FFFD "y", ""}},
        /* high and high */
        {{{0, "\"\\ud83d\""}, {0, "\"\\ud83d\\ude00\""}}, {FFFD "\xF0\x9F\x98\x80", ""}},
        {{{0, "\"\\ud83d\\ud83d\""}, {0, "\"\\ude00\""}}, {FFFD "\xF0\x9F\x98\x80", ""}},
        /* low first */
        {{{0, "\"\\ude00\\ud83d\""}, {0, "\"\\ude00\""}}, {FFFD "\xF0\x9F\x98\x80", ""}},
        /* plain text between; nothing between */
        {{{0, "\"\\ud83d\""}, {0, "\"-\""}, {0, "\"\\ude00\""}}, {FFFD "-" FFFD, ""}},
        {{{0, "\"\\ud83d\""}, {0, "\"\""}, {0, "\"\\ude00\""}}, {"\xF0\x9F\x98\x80", ""}},
        /* the character that stands for a half is itself when no half is about */
        {{{0, "\"\xF4\x8D\xA0\xBD\""}}, {"\xF4\x8D\xA0\xBD", ""}},
        /* the extreme pairs */
        {{{0, "\"\\ud800\""}, {0, "\"\\udc00\\udbff\""}, {0, "\"\\udfff\""}},
         {"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", ""}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text out[2] = {TEXT_INIT, TEXT_INIT};
        join(cases[i].deltas, out);
        for (int block = 0; block < 2; block++) {
            assert_string_equal(text_cstr(&out[block]), cases[i].expected[block]);
            text_release(&out[block]);
        }
    }
}

static void test_members(void **state)
{
    (void)state;
    static const char *const text =
        "{\"s\":\"a\\u0000b\",\"n\":null,\"i\":7,\"r\":8.0,\"h\":8.5,"
        "\"big\":1e300,\"edge\":9223372036854775808.0,\"t\":true,\"f\":false}";
    struct error error = ERROR_INIT;
    json_t *object = parse(text, NULL, &error);
    size_t length = 99;
    assert_non_null(object);
    assert_string_equal(json_member_string(object, "s"), "a");
    assert_memory_equal(json_member_text(object, "s", &length), "a\0b", 4);
    assert_int_equal(length, 3);
    assert_null(json_member_string(object, "n"));
    assert_null(json_member_string(object, "missing"));
    assert_null(json_member_string(NULL, "s"));
    assert_null(json_member_text(object, "i", &length));
    assert_int_equal(length, 0);

    assert_int_equal(json_member_integer(object, "i", -1), 7);
    assert_int_equal(json_member_integer(object, "r", -1), 8);
    assert_int_equal(json_member_integer(object, "h", -1), -1);
    assert_int_equal(json_member_integer(object, "big", -1), -1);
    assert_int_equal(json_member_integer(object, "edge", -1), -1);
    assert_int_equal(json_member_integer(object, "s", -1), -1);
    assert_int_equal(json_member_integer(NULL, "i", -1), -1);

    assert_true(json_member_true(object, "t"));
    assert_false(json_member_true(object, "f"));
    assert_false(json_member_true(object, "i"));
    assert_false(json_member_true(object, "missing"));
    json_decref(object);
}

/* The first to the last allocation of a parse fails, those of a repair too. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"a\":[1,\"x\",2.5]}", "{\"a\":[\"\\ud83d\",\"\xFF\"]}",
        "{\"\\u0061\":{\"b\\n\":[\"\\t\",1.2345678901234567890],\"c\":{}}}"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int allowed = 0;; allowed++) {
            struct error error = ERROR_INIT;
            struct text dump = TEXT_INIT;
            fail_after(allowed);
            json_t *value = parse(cases[i], NULL, &error);
            if (value)
                text_json(&dump, value);
            bool failed = fail_never();
            assert_int_equal(!value || dump.failed, failed);
            if (!value)
                assert_int_equal(error.kind, ERROR_INTERNAL);
            json_decref(value);
            text_release(&dump);
            if (!failed)
                break;
        }
    }
}

int main(void)
{
    json_object_seed(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_value),
        cmocka_unit_test(test_repairs),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_errors_quote_little),
        cmocka_unit_test(test_halves_are_joined_within_their_block),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

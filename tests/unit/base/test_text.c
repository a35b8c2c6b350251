#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/utf8.h"
#include "failing.h"

#define FFFD "\xEF\xBF\xBD"

static void test_appends(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    assert_string_equal(text_cstr(&text), "");
    assert_null(text.data);
    text_append(&text, NULL, 0);
    text_puts(&text, "");
    assert_null(text.data);
    text_puts(&text, "one");
    text_putc(&text, ' ');
    text_append(&text, "t\0o", 3);
    text_printf(&text, " %d %s", 3, "four");
    assert_int_equal(text.length, 14);
    assert_memory_equal(text.data, "one t\0o 3 four", 15);
    text_reset(&text);
    assert_string_equal(text.data, "");
    assert_int_equal(text.length, 0);
    text_release(&text);
    assert_null(text.data);
}

static void test_grows_by_doubling(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    int moves = 0;
    size_t capacity = 0;
    for (int i = 0; i < 1000000; i++) {
        text_putc(&text, (char)('a' + i % 26));
        moves += text.capacity != capacity;
        capacity = text.capacity;
    }
    assert_int_equal(text.length, 1000000);
    assert_true(moves < 20);
    for (int i = 0; i < 1000000; i++)
        assert_int_equal(text.data[i], 'a' + i % 26);
    text_release(&text);
}

static void test_printf_of_every_length(void **state)
{
    (void)state;
    for (int width = 0; width < 300; width++) {
        struct text text = TEXT_INIT;
        text_printf(&text, "%*s|", width, "");
        text_printf(&text, "%*s|", width, "");
        assert_int_equal(text.length, 2 * width + 2);
        assert_int_equal(text.data[width], '|');
        assert_string_equal(text.data + 2 * width + 1, "|");
        text_release(&text);
    }
}

static void append_all(struct text *text)
{
    static const char long_part[200] = "long";
    json_t *value = json_pack("{s:i}", "a", 1);
    text_puts(text, "a");
    text_append(text, long_part, sizeof(long_part));
    text_printf(text, "%500d", 7);
    text_json_string(text, long_part, sizeof(long_part));
    for (int i = 0; i < 2000; i++)
        text_putc(text, 'x');
    text_json(text, value);
    json_decref(value);
}

/* Whichever allocation fails: from there on nothing is appended, and all stays readable. */
static void test_failure_is_sticky(void **state)
{
    (void)state;
    struct text whole = TEXT_INIT;
    append_all(&whole);
    assert_false(whole.failed);
    for (int allowed = 0;; allowed++) {
        struct text text = TEXT_INIT;
        fail_after(allowed);
        append_all(&text);
        bool failed = fail_never();
        assert_int_equal(text.failed, failed);
        assert_true(text.length <= whole.length);
        assert_memory_equal(text_cstr(&text), whole.data, text.length);
        assert_int_equal(text_cstr(&text)[text.length], '\0');
        if (!failed) {
            text_release(&text);
            break;
        }
        size_t length = text.length;
        append_all(&text); /* there is memory again, but a piece is missing */
        assert_int_equal(text.length, length);
        assert_false(text_reserve(&text, 0));

        size_t taken = 99;
        assert_null(text_take(&text, &taken));
        assert_int_equal(taken, 0);
        assert_false(text.failed); /* empty, and good for reuse */
        text_release(&text);
    }
    text_release(&whole);
}

static void test_impossible_sizes(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    text_puts(&text, "abc");
    for (size_t less = 0; less < 8; less++) {
        fail_after(0);
        assert_false(text_reserve(&text, SIZE_MAX - less));
        fail_never();
        assert_true(text.failed);
        assert_string_equal(text.data, "abc");
        text.failed = false;
    }
    text_reset(&text);
    assert_true(text_reserve(&text, 10));
    text_release(&text);
}

static void test_take(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    size_t length = 99;
    char *empty = text_take(&text, &length);
    assert_string_equal(empty, "");
    assert_int_equal(length, 0);
    free(empty);

    text_append(&text, "a\0b", 3);
    char *data = text_take(&text, &length);
    assert_int_equal(length, 3);
    assert_memory_equal(data, "a\0b", 4);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
    text_puts(&text, "again");
    assert_string_equal(text.data, "again");
    text_release(&text);
    free(data);
}

static void test_json_strings(void **state)
{
    (void)state;
#define CASE(bytes, json)                                                                          \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, json                                                             \
    }
    static const struct {
        const char *bytes;
        size_t length;
        const char *json;
    } cases[] = {
        CASE("", "\"\""),
        CASE("plain", "\"plain\""),
        CASE("\"\\/", "\"\\\"\\\\/\""),
        CASE("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""),
        CASE("a\0b\x01\x1f", "\"a\\u0000b\\u0001\\u001f\""),
        CASE("\x7f", "\"\x7f\""),
        CASE("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""),
        CASE("a\xFF\n\xE2\x82", "\"a" FFFD "\\n" FFFD FFFD "\""),
    };
#undef CASE
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text = TEXT_INIT;
        text_json_string(&text, cases[i].bytes, cases[i].length);
        assert_string_equal(text.data, cases[i].json);
        text_release(&text);
    }
    struct text text = TEXT_INIT;
    text_json_string(&text, NULL, 0);
    assert_string_equal(text.data, "\"\"");
    text_release(&text);
}

/* Random bytes: jansson reads what text_json_string() wrote, and finds the clean bytes. */
static void test_json_strings_are_read_back(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252;
    for (int round = 0; round < 3000; round++) {
        char bytes[64];
        size_t length = (size_t)round % sizeof(bytes);
        for (size_t i = 0; i < length; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[i] = (char)(random >> 32 | 1); /* no NUL: it is kept here, replaced there */
        }
        struct text json = TEXT_INIT, clean = TEXT_INIT;
        text_json_string(&json, bytes, length);
        utf8_append_clean(&clean, bytes, length);
        json_t *value = json_loadb(json.data, json.length, JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_int_equal(json_string_length(value), clean.length);
        assert_memory_equal(json_string_value(value), text_cstr(&clean), clean.length);
        json_decref(value);
        text_release(&json);
        text_release(&clean);
    }
}

static void test_json_values(void **state)
{
    (void)state;
    json_t *value =
        json_pack("{s:f, s:i, s:[s, n, b], s:f}", "z", 0.1, "a", 1, "list", "x", 1, "r", 1.0);
    struct text text = TEXT_INIT;
    text_json(&text, value);
    assert_string_equal(text.data, "{\"z\":0.1,\"a\":1,\"list\":[\"x\",null,true],\"r\":1.0}");
    text_reset(&text);
    text_json(&text, json_true());
    assert_string_equal(text.data, "true");
    text_json(&text, NULL);
    assert_true(text.failed);
    text_release(&text);
    json_decref(value);
}

static void test_kept_in_an_arena(void **state)
{
    (void)state;
    struct arena arena;
    struct text text = TEXT_INIT;
    arena_init(&arena, NULL, 0);
    assert_string_equal(text_keep(&text, &arena), "");
    text_puts(&text, "kept");
    const char *kept = text_keep(&text, &arena);
    assert_null(text.data);
    text_puts(&text, "another");
    assert_string_equal(kept, "kept");
    text.failed = true;
    assert_null(text_keep(&text, &arena));
    assert_false(text.failed);
    assert_null(text.data);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_in_an_arena),
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_grows_by_doubling),
        cmocka_unit_test(test_printf_of_every_length),
        cmocka_unit_test(test_failure_is_sticky),
        cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_json_strings_are_read_back),
        cmocka_unit_test(test_json_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"
#include "failing.h"

static void test_known_values(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *encoded;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        base64_append(&out, cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(text_cstr(&out), cases[i].encoded);
        text_reset(&out);
        assert_true(base64_read(&out, cases[i].encoded, strlen(cases[i].encoded)));
        assert_int_equal(out.length, strlen(cases[i].bytes));
        assert_memory_equal(text_cstr(&out), cases[i].bytes, out.length);
        text_release(&out);
    }
}

static void test_every_byte_comes_back(void **state)
{
    (void)state;
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        struct text encoded = TEXT_INIT, decoded = TEXT_INIT;
        text_puts(&encoded, "x");
        base64_append(&encoded, bytes, length);
        assert_int_equal(encoded.length, 1 + (length + 2) / 3 * 4);
        assert_true(base64_read(&decoded, encoded.data + 1, encoded.length - 1));
        assert_int_equal(decoded.length, length);
        assert_memory_equal(text_cstr(&decoded), bytes, length);
        text_release(&encoded);
        text_release(&decoded);
    }
}

/* What other encoders write is read too. */
static void test_other_spellings(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "+/+/", "-_-_", "+_-/", "+/+/+w==", "-_-_-w", "+/8", "-_8="};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct text out = TEXT_INIT;
        assert_true(base64_read(&out, spellings[i], strlen(spellings[i])));
        assert_memory_equal(out.data, "\xFB\xFF\xBF\xFB", out.length);
        text_release(&out);
    }
}

static void test_what_is_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "=",    "A",      "AAAAA",    "AA=",  "A===",       "====", "AA=A",
        "A A ", "AAAA\n", "AA==AA==", "AAA*", "\xC3\xA4zz", "A=="};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        text_puts(&out, "before");
        assert_false(base64_read(&out, cases[i], strlen(cases[i])));
        assert_false(out.failed);
        assert_string_equal(out.data, "before");
        text_release(&out);
    }
    struct text out = TEXT_INIT;
    assert_false(base64_read(&out, "AA\0A", 4));
    text_release(&out);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct text out = TEXT_INIT;
    fail_after(0);
    base64_append(&out, "abc", 3);
    assert_true(fail_never());
    assert_true(out.failed);
    text_reset(&out);
    fail_after(0);
    assert_false(base64_read(&out, "Zm9v", 4));
    assert_true(fail_never());
    assert_true(out.failed);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),    cmocka_unit_test(test_every_byte_comes_back),
        cmocka_unit_test(test_other_spellings), cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static void test_set_says_false_and_clears_the_rest(void **state)
{
    (void)state;
    struct error error = {.retryable = true, .retry_after_ms = 5, .status = 429};
    assert_false(error_set(&error, ERROR_TIMEOUT, "no answer in %d s", 30));
    assert_int_equal(error.kind, ERROR_TIMEOUT);
    assert_string_equal(error.message, "no answer in 30 s");
    assert_false(error.retryable);
    assert_int_equal(error.retry_after_ms, -1);
    assert_int_equal(error.status, 0);

    error_clear(&error);
    assert_int_equal(error.kind, ERROR_NONE);
    assert_string_equal(error.message, "");
}

static void test_null_is_fine(void **state)
{
    (void)state;
    assert_false(error_set(NULL, ERROR_SERVER, "x"));
    assert_false(error_memory(NULL));
    error_prefix(NULL, "x");
    error_clear(NULL);
}

static void test_memory(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_false(error_memory(&error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_string_equal(error.message, "out of memory");
}

static void test_prefix(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    error_set(&error, ERROR_PLUGIN, "bad name");
    error.status = 7;
    error_prefix(&error, "plugin '%s'", "git");
    error_prefix(&error, "100%% sure");
    assert_string_equal(error.message, "100% sure: plugin 'git': bad name");
    assert_int_equal(error.kind, ERROR_PLUGIN);
    assert_int_equal(error.status, 7);

    error_clear(&error);
    error_prefix(&error, "alone");
    assert_string_equal(error.message, "alone");
}

static void test_old_message_as_argument(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    error_set(&error, ERROR_SERVER, "inner");
    error_set(&error, ERROR_SERVER, "outer (%s)", error.message);
    error_prefix(&error, "%s", error.message);
    assert_string_equal(error.message, "outer (inner): outer (inner)");
}

static void test_invalid_bytes_are_replaced(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    error_set(&error, ERROR_CONFIG, "cannot read '%s'", "a\xFFz\xC3");
    assert_string_equal(error.message, "cannot read 'a\xEF\xBF\xBDz\xEF\xBF\xBD'");
}

/* Long messages of characters of each size, at each alignment, valid or not. */
static void test_cut_on_a_character_border(void **state)
{
    (void)state;
    static const char *const characters[] = {
        "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xFF", "\xF0\x9F\x98"};
    for (size_t c = 0; c < sizeof(characters) / sizeof(characters[0]); c++) {
        for (size_t shift = 0; shift < 5; shift++) {
            char text[3001] = "xxxxx";
            text[shift] = '\0';
            while (strlen(text) + 5 < sizeof(text))
                strcat(text, characters[c]);
            struct error error;
            memset(&error, 0x7F, sizeof(error));
            error_set(&error, ERROR_SERVER, "%s", text);
            size_t length = strlen(error.message);
            assert_true(length >= sizeof(error.message) - 4 && length < sizeof(error.message));
            assert_int_equal(utf8_valid(error.message, length), length);
            error_prefix(&error, "%s", text);
            length = strlen(error.message);
            assert_true(length >= sizeof(error.message) - 4 && length < sizeof(error.message));
            assert_int_equal(utf8_valid(error.message, length), length);
        }
    }
}

static void test_kind_names(void **state)
{
    (void)state;
    assert_string_equal(error_kind_name(ERROR_NONE), "none");
    assert_string_equal(error_kind_name(ERROR_RATE_LIMIT), "rate_limit");
    assert_string_equal(error_kind_name(ERROR_INTERNAL), "internal");
    for (int kind = ERROR_NONE; kind <= ERROR_INTERNAL; kind++)
        assert_true(strlen(error_kind_name((enum error_kind)kind)) > 0);
    assert_string_equal(error_kind_name((enum error_kind)1000), "internal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_says_false_and_clears_the_rest),
        cmocka_unit_test(test_null_is_fine),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_old_message_as_argument),
        cmocka_unit_test(test_invalid_bytes_are_replaced),
        cmocka_unit_test(test_cut_on_a_character_border),
        cmocka_unit_test(test_kind_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

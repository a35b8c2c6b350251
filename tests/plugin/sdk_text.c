/* Results, errors, JSON strings, the configuration and the state of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_fakes.h"
#include "unit/base/failing.h"

static mortise_call call = {.size = sizeof(mortise_call), .ops = &fake_call_ops};

/* T57: text and JSON results, printf-style, of any length. */
static void test_replies(void **state)
{
    (void)state;
    assert_int_equal(mortise_reply(&call, "%d %s", 7, "days"), MORTISE_OK);
    assert_string_equal(fake.text, "7 days");
    assert_int_equal(fake.number, MORTISE_TEXT_RESULT);
    assert_int_equal(mortise_reply_json(&call, "[%d]", 7), MORTISE_OK);
    assert_string_equal(fake.text, "[7]");
    assert_int_equal(fake.number, MORTISE_JSON_RESULT);
    assert_int_equal(mortise_reply_text(&call, "a\0b", 3), MORTISE_OK);
    assert_int_equal(fake.length, 3);

    /* around the size of the buffer that spares an allocation */
    for (int length = 510; length < 515; length++) {
        assert_int_equal(mortise_reply(&call, "%*s", length, "x"), MORTISE_OK);
        assert_int_equal(fake.length, length);
        assert_int_equal(fake.text[length - 1], 'x');
    }
}

/* A text that is the whole answer goes to the host as it is: nothing is formatted or copied. */
static void test_a_text_alone(void **state)
{
    (void)state;
    static char large[4000];
    const char *volatile none = NULL; /* which the compiler need not see */
    memset(large, 'x', sizeof(large) - 1);
    fail_after(0);
    assert_int_equal(mortise_reply(&call, "%s", large), MORTISE_OK);
    assert_string_equal(fake.text, large);
    assert_int_equal(mortise_reply_json(&call, "%s", "[%d]"), MORTISE_OK);
    assert_string_equal(fake.text, "[%d]");
    assert_int_equal(mortise_fail(&call, "%s", ""), MORTISE_FAILED);
    assert_string_equal(fake.text, "");
    assert_int_equal(mortise_reply(&call, "%s.", large), MORTISE_NO_MEMORY);
    assert_true(fail_never());
    assert_int_equal(mortise_reply(&call, "%s", none), MORTISE_OK);
    assert_string_equal(fake.text, "(null)");
}

/* T56, F22, F23: an error with a message, and one with category and code. */
static void test_failures(void **state)
{
    (void)state;
    assert_int_equal(mortise_fail(&call, "no %s", "luck"), MORTISE_FAILED);
    assert_string_equal(fake.text, "no luck");
    assert_int_equal(fake.number, MORTISE_INTERNAL);
    assert_string_equal(fake.code, "NULL");
    assert_int_equal(mortise_fail_as(&call, MORTISE_TIMEOUT, "db.slow", "%d s", 3), MORTISE_FAILED);
    assert_string_equal(fake.text, "3 s");
    assert_int_equal(fake.number, MORTISE_TIMEOUT);
    assert_string_equal(fake.code, "db.slow");
    assert_int_equal(fake.wait_ms, 0);
    assert_int_equal(mortise_fail_retry(&call, MORTISE_RATE_LIMITED, "api.quota", 3000, "used %s", "up"),
                     MORTISE_FAILED);
    assert_string_equal(fake.text, "used up");
    assert_int_equal(fake.number, MORTISE_RATE_LIMITED);
    assert_int_equal(fake.wait_ms, 3000);
}

static void test_json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *expected;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"\"\\/", 3, "\"\\\"\\\\/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\0\x1f\x7f", 3, "\"\\u0000\\u001f\x7f\""},
        {"gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xe2\x82\xac\xf0\x9f\x98\x80", 7, "\"\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b\xc3",
         4,
         "\"a\xef\xbf\xbd"
         "b\xef\xbf\xbd\""},
        {"\xc0\x80\xed\xa0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", 1, "\"\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        size_t length = strlen(cases[i].expected);
        assert_int_equal(mortise_json_quote(out, sizeof(out), cases[i].text, cases[i].length),
                         length);
        assert_string_equal(out, cases[i].expected);
        /* whatever the room: a beginning, a NUL, the length of the whole */
        for (size_t size = 0; size <= length; size++) {
            memset(out, '?', sizeof(out));
            assert_int_equal(mortise_json_quote(out, size, cases[i].text, cases[i].length), length);
            assert_int_equal(out[size], '?');
            if (size > 0) {
                assert_int_equal(strlen(out), size - 1);
                assert_memory_equal(out, cases[i].expected, size - 1);
            }
        }
    }
    fake_reset();
    assert_string_equal(mortise_quote(&call, "a\"b"), "\"a\\\"b\"");
    fake.no_memory = true;
    assert_string_equal(mortise_quote(&call, "a"), "null");
    fake_reset();
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length, expected;
    } cases[] = {
        {"", 0, 0},
        {"abc", 2, 2},
        {"a\xc3\xa9", 3, 3},
        {"a\xc3\xa9", 2, 1},
        {"\xe2\x82\xac", 3, 3},
        {"\xe2\x82\xac", 2, 0},
        {"\xf0\x9f\x98\x80", 4, 4},
        {"\xf0\x9f\x98\x80", 3, 0},
        {"\x80\x80\x80\x80", 4, 4},
        {"a\xff", 2, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(mortise_cut(cases[i].text, cases[i].length), cases[i].expected);
}

static void test_host_words(void **state)
{
    (void)state;
    assert_null(mortise_refuse(&fake_host, "no %d", 1));
    assert_string_equal(fake.text, "no 1");
    mortise_log(&fake_host, MORTISE_LOG_NOTE, "note %d", 2);
    assert_string_equal(fake.text, "note 2");
    assert_int_equal(fake.number, MORTISE_LOG_NOTE);
}

/* The configuration is read as any JSON. */
static void test_config(void **state)
{
    (void)state;
    char text[8] = "before", **list = NULL;
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    fake.config = "{\"text\":\"a\",\"whole\":-12,\"ratio\":0.25,\"yes\":true,\"words\":[\"b\"]}";
    assert_int_equal(mortise_config_integer(&fake_host, "whole", &integer), MORTISE_OK);
    assert_int_equal(mortise_config_number(&fake_host, "ratio", &number), MORTISE_OK);
    assert_int_equal(mortise_config_boolean(&fake_host, "yes", &boolean), MORTISE_OK);
    assert_int_equal(mortise_config_strings(&fake_host, "words", &list), MORTISE_OK);
    assert_true(integer == -12 && number == 0.25 && boolean);
    assert_string_equal(list[0], "b");
    free(list);
    assert_int_equal(mortise_config_string(&fake_host, "nobody", text, sizeof(text)),
                     MORTISE_NOT_FOUND);
    assert_int_equal(mortise_config_string(&fake_host, "whole", text, sizeof(text)),
                     MORTISE_INVALID);
    assert_string_equal(text, "before");
    assert_int_equal(mortise_config_string(&fake_host, "text", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "a");
    fake.config = NULL; /* a host that has none */
    assert_string_equal(mortise_config(&fake_host), "{}");
    fake_reset();
}

static void test_state_of_a_run(void **state)
{
    (void)state;
    mortise_hook hook = {.size = sizeof(hook), .ops = &fake_hook_ops};
    mortise_runs runs = {0};
    char name[16];
    fake.run = "run-a";
    int *a = mortise_run_state(&runs, &hook, sizeof(int));
    assert_int_equal(*a, 0);
    *a = 1;
    fake.run = "run-b";
    int *b = mortise_run_state(&runs, &hook, sizeof(int));
    assert_int_equal(*b, 0);
    fake.run = "run-a";
    assert_ptr_equal(mortise_run_state(&runs, &hook, sizeof(int)), a);
    assert_int_equal(*a, 1);
    /* old ones are dropped, and one that is in use is not old */
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "run-%d", i);
        fake.run = name;
        assert_int_equal(*(int *)mortise_run_state(&runs, &hook, sizeof(int)), 0);
        fake.run = "run-a";
        assert_ptr_equal(mortise_run_state(&runs, &hook, sizeof(int)), a);
    }
    fake.run = NULL; /* a host that does not know: one run for all */
    assert_int_equal(*(int *)mortise_run_state(&runs, &hook, sizeof(int)), 0);
    mortise_runs_release(&runs);
    assert_null(runs.newest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies),        cmocka_unit_test(test_a_text_alone),
        cmocka_unit_test(test_failures),       cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_cut),            cmocka_unit_test(test_host_words),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_state_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

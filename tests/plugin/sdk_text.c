/* Results, errors, JSON strings and the configuration: the SDK's library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_fakes.h"

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
        {"a\xff" "b\xc3", 4, "\"a\xef\xbf\xbd" "b\xef\xbf\xbd\""},
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

static void test_host_words(void **state)
{
    (void)state;
    assert_null(mortise_refuse(&fake_host, "no %d", 1));
    assert_string_equal(fake.text, "no 1");
    mortise_log(&fake_host, MORTISE_LOG_NOTE, "note %d", 2);
    assert_string_equal(fake.text, "note 2");
    assert_int_equal(fake.number, MORTISE_LOG_NOTE);
}

#define EVERYTHING                                                                                 \
    " { \"nested\" : { \"file\" : [ \"no\", {} , -1.5e3 ] } , \"empty\":\"\",\n"                   \
    "\"file\" : \"/a \\\"b\\\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\/\", \"none\":null,"         \
    "\"whole\":-12,\"huge\":9223372036854775808,\"ratio\":0.25, \"yes\":true,\"no\":false } "

static void test_config_values(void **state)
{
    (void)state;
    char text[64];
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    fake.config = EVERYTHING;
    assert_int_equal(mortise_config_string(&fake_host, "file", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "/a \"b\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n/");
    assert_int_equal(mortise_config_string(&fake_host, "empty", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "");
    assert_int_equal(mortise_config_integer(&fake_host, "whole", &integer), MORTISE_OK);
    assert_int_equal(integer, -12);
    assert_int_equal(mortise_config_number(&fake_host, "ratio", &number), MORTISE_OK);
    assert_true(number == 0.25);
    assert_int_equal(mortise_config_number(&fake_host, "whole", &number), MORTISE_OK);
    assert_true(number == -12);
    assert_int_equal(mortise_config_boolean(&fake_host, "yes", &boolean), MORTISE_OK);
    assert_true(boolean);
    assert_int_equal(mortise_config_boolean(&fake_host, "no", &boolean), MORTISE_OK);
    assert_false(boolean);
}

static void test_config_absent_or_wrong(void **state)
{
    (void)state;
    char text[8] = "before";
    int64_t integer = 5;
    double number = 5;
    bool boolean = true;
    fake.config = EVERYTHING;
    assert_int_equal(mortise_config_string(&fake_host, "nobody", text, sizeof(text)),
                     MORTISE_NOT_FOUND);
    assert_int_equal(mortise_config_string(&fake_host, "none", text, sizeof(text)),
                     MORTISE_NOT_FOUND);
    assert_int_equal(mortise_config_string(&fake_host, "whole", text, sizeof(text)),
                     MORTISE_INVALID);
    assert_int_equal(mortise_config_string(&fake_host, "nested", text, sizeof(text)),
                     MORTISE_INVALID);
    assert_int_equal(mortise_config_string(&fake_host, "file", text, sizeof(text)),
                     MORTISE_INVALID);
    assert_int_equal(mortise_config_integer(&fake_host, "ratio", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_config_integer(&fake_host, "huge", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_config_integer(&fake_host, "file", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_config_number(&fake_host, "yes", &number), MORTISE_INVALID);
    assert_int_equal(mortise_config_boolean(&fake_host, "whole", &boolean), MORTISE_INVALID);
    assert_string_equal(text, "before");
    assert_true(integer == 5 && number == 5 && boolean);
    fake.config = NULL;
    assert_int_equal(mortise_config_boolean(&fake_host, "yes", &boolean), MORTISE_NOT_FOUND);
}

static void test_config_lists(void **state)
{
    (void)state;
    char **list = NULL;
    fake.config = "{\"words\": [ \"a\" , \"\", \"b\\n\\u00e9\" ],\"none\":[ ],"
                  "\"mixed\":[\"a\",1],\"text\":\"a\",\"comma\":[\"a\" \"b\"]}";
    assert_int_equal(mortise_config_strings(&fake_host, "words", &list), MORTISE_OK);
    assert_string_equal(list[0], "a");
    assert_string_equal(list[1], "");
    assert_string_equal(list[2], "b\n\xc3\xa9");
    assert_null(list[3]);
    free(list);
    assert_int_equal(mortise_config_strings(&fake_host, "none", &list), MORTISE_OK);
    assert_null(list[0]);
    free(list);
    list = NULL;
    assert_int_equal(mortise_config_strings(&fake_host, "mixed", &list), MORTISE_INVALID);
    assert_int_equal(mortise_config_strings(&fake_host, "text", &list), MORTISE_INVALID);
    assert_int_equal(mortise_config_strings(&fake_host, "comma", &list), MORTISE_INVALID);
    assert_int_equal(mortise_config_strings(&fake_host, "absent", &list), MORTISE_NOT_FOUND);
    assert_null(list);
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

/* A text that is no JSON is refused, and nothing behind its end is read: each one is in memory
 * of exactly its size, for AddressSanitizer to see. */
static void read_all(const char *json, size_t length)
{
    char *copy = malloc(length + 1), text[64];
    int64_t integer;
    double number;
    bool boolean;
    assert_non_null(copy);
    memcpy(copy, json, length);
    copy[length] = '\0';
    fake.config = copy;
    static const char *const keys[] = {"file", "whole", "ratio", "yes", "no", "a", ""};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        mortise_config_string(&fake_host, keys[i], text, sizeof(text));
        mortise_config_integer(&fake_host, keys[i], &integer);
        mortise_config_number(&fake_host, keys[i], &number);
        mortise_config_boolean(&fake_host, keys[i], &boolean);
        char **list;
        if (mortise_config_strings(&fake_host, keys[i], &list) == MORTISE_OK)
            free(list);
    }
    fake.config = "{}";
    free(copy);
}

static void test_config_that_is_no_json(void **state)
{
    (void)state;
    for (size_t length = 0; length < strlen(EVERYTHING); length++)
        read_all(EVERYTHING, length);
    static const char *const broken[] = {
        "",
        "x",
        "[]",
        "{",
        "{a:1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":\"",
        "{\"a\":\"\\",
        "{\"a\":\"\\u",
        "{\"a\":\"\\u12",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\ud800\\u0041\"}",
        "{\"a\":\"\\udc00\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":1x}",
        "{\"a\":tru}",
        "{\"b\":[[[[",
        "{\"b\":\x01}",
        "{\"b\" 1}",
        "{\"a\":[",
        "{\"a\":[\"",
        "{\"a\":[\"b\"",
        "{\"a\":[\"b\",",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        char text[8];
        int64_t integer;
        bool boolean;
        read_all(broken[i], strlen(broken[i]));
        fake.config = broken[i];
        assert_int_not_equal(mortise_config_string(&fake_host, "a", text, sizeof(text)),
                             MORTISE_OK);
        assert_int_not_equal(mortise_config_integer(&fake_host, "a", &integer), MORTISE_OK);
        assert_int_not_equal(mortise_config_boolean(&fake_host, "a", &boolean), MORTISE_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_host_words),
        cmocka_unit_test(test_config_values),
        cmocka_unit_test(test_config_absent_or_wrong),
        cmocka_unit_test(test_config_lists),
        cmocka_unit_test(test_state_of_a_run),
        cmocka_unit_test(test_config_that_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

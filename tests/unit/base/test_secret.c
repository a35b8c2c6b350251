#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/secret.h"
#include "failing.h"

#define KEY "sk-abcDEF/123+=" /* plain but for what percent-encoding changes */

static void add(const char *value)
{
    assert_true(secret_add(value, strlen(value)));
}

static int forget(void **state)
{
    (void)state;
    secret_clear();
    return 0;
}

static void assert_redacted(const char *before, const char *after)
{
    struct text text = TEXT_INIT;
    text_puts(&text, before);
    secret_redact(&text);
    assert_string_equal(text_cstr(&text), after);
    assert_int_equal(text.length, strlen(after));
    assert_false(text.failed);
    text_release(&text);
}

static void test_every_form(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"nothing here", "nothing here"},
        {KEY, "[redacted]"},
        {"a " KEY " b " KEY, "a [redacted] b [redacted]"},
        {KEY KEY, "[redacted][redacted]"},
        {"sk-sk-abcDEF/123+=", "sk-[redacted]"},
        /* JSON: the slash may be escaped, any character may be \uXXXX */
        {"{\"k\":\"sk-abcDEF\\/123+=\"}", "{\"k\":\"[redacted]\"}"},
        {"sk-abcDEF\\u002f123\\u002B=", "[redacted]"},
        {"\\u0073k-abcDEF/123+=", "[redacted]"},
        /* percent-encoded, in upper and lower case, wholly or partly */
        {"?key=sk-abcDEF%2F123%2B%3D&x", "?key=[redacted]&x"},
        {"?key=sk-abcDEF%2f123%2b%3d", "?key=[redacted]"},
        {"?key=sk-abcDEF/123%2B=", "?key=[redacted]"},
        {"%73k-abcDEF/123+=", "[redacted]"},
        /* not quite */
        {"sk-abcDEF/123+", "sk-abcDEF/123+"},
        {"sk-abcDEF%2E123+=", "sk-abcDEF%2E123+="},
        {"SK-ABCDEF/123+=", "SK-ABCDEF/123+="},
        {"sk-abcDEF%2", "sk-abcDEF%2"},
        {"sk-abcDEF\\", "sk-abcDEF\\"},
        {"100% \\ %", "100% \\ %"},
    };
    add(KEY);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_redacted(cases[i][0], cases[i][1]);
}

/* What "me:KEY" and the like become in a header, whatever stands before and behind it. */
static void test_base64(void **state)
{
    (void)state;
    static const char *const before[] = {"", "a", "me", "me:", "user:"};
    static const char *const behind[] = {"", "x", "yz"};
    static const char value[] = "sk-~~~?>?>?>0123456789"; /* with + and / in every place */
    add(value);
    for (size_t i = 0; i < 15; i++) {
        struct text plain = TEXT_INIT;
        struct text coded = TEXT_INIT;
        text_printf(&plain, "%s%s%s", before[i / 3], value, behind[i % 3]);
        base64_append(&coded, plain.data, plain.length);
        for (int alphabet = 0; alphabet < 2; alphabet++) {
            struct text text = TEXT_INIT;
            text_printf(&text, "Basic %s.", coded.data);
            secret_redact(&text);
            assert_non_null(strstr(text.data, "[redacted]"));
            assert_true(text.length <= strlen("Basic [redacted].") + 16); /* the neighbours */
            text_release(&text);
            for (char *c = coded.data; *c; c++)
                *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
        }
        text_release(&plain);
        text_release(&coded);
    }
    assert_redacted("c2stfn5+Pz4/Pj8+MDEyMzQ1Njc4", "c2stfn5+Pz4/Pj8+MDEyMzQ1Njc4"); /* not all */
}

/* A password in a URL is sent as it is meant. */
static void test_percent_encoded(void **state)
{
    (void)state;
    static const char value[] = "p%40ss%3Aw%6Frd%";
    assert_true(secret_add_encoded(value, strlen(value)));
    assert_redacted(value, "[redacted]");
    assert_redacted("p@ss:word%", "[redacted]");
    assert_redacted("cEBzczp3b3JkJQ==", "[redacted]Q=="); /* the last character holds more */
    assert_redacted("p%40ss", "p%40ss");
}

/* A private key has newlines; a JSON string inside a JSON string escapes them twice. */
static void test_escapes_of_escapes(void **state)
{
    (void)state;
    add("BEGIN\n\"q\\z\nEND");
    assert_redacted("[BEGIN\n\"q\\z\nEND]", "[[redacted]]");
    assert_redacted("[BEGIN\\n\\\"q\\\\z\\nEND]", "[[redacted]]");
    secret_clear();
    add("BEGIN\n\"q\"\nEND");
    assert_redacted("[BEGIN\\\\n\\\\\\\"q\\\\\\\"\\\\nEND]", "[[redacted]]");
    assert_redacted("[BEGIN%0A%22q%22%0aEND]", "[[redacted]]");
}

static void test_value_with_the_signs_of_encodings(void **state)
{
    (void)state;
    add("p%25w\\n%41z");
    assert_redacted("p%25w\\n%41z", "[redacted]");
    assert_redacted("p%2525w%5Cn%2541z", "[redacted]");
    assert_redacted("p%25w\\\\n%41z.", "p%25w\\\\n%41z."); /* mixed: no encoder writes this */
}

static void test_overlapping_values(void **state)
{
    (void)state;
    add("abcdefgh");
    add("efghijkl");
    add("abcdefghijklmnop");
    add("bcdefg");
    assert_redacted("<abcdefgh>", "<[redacted]>");
    assert_redacted("<abcdefghijkl>", "<[redacted]>");
    assert_redacted("<abcdefghijklmnop>", "<[redacted]>");
    assert_redacted("<abcdefghijklmno>", "<[redacted]mno>");
    assert_redacted("<xbcdefghijkl>", "<x[redacted]>");
    assert_redacted("<efghijklabcdefgh>", "<[redacted][redacted]>");
}

static void test_nul_bytes(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    add("secret");
    text_append(&text, "a\0secret\0b", 10);
    secret_redact(&text);
    assert_int_equal(text.length, 14);
    assert_memory_equal(text.data, "a\0[redacted]\0b", 15);
    text_release(&text);
}

static void test_short_values_are_ignored(void **state)
{
    (void)state;
    add("");
    add("12345");
    assert_redacted("12345 is no secret", "12345 is no secret");
    add("123456");
    assert_redacted("123456 is one", "[redacted] is one");
    secret_clear();
    assert_redacted("123456 was one", "123456 was one");
}

static void test_buffer(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *before, *after;
    } cases[] = {
        {64, "a secret1 b", "a [redacted] b"},
        {64, "nothing", "nothing"},
        /* the mark is longer than the value: what no longer fits is cut */
        {12, "a secret1 b", "a [redacted"},
        {8, "secret1", "[redact"},
        {9, "secret1\xC3", "[redacte"},
        /* whoever filled the buffer cut the value: its beginning is not shown either */
        {16, "message: secre", "message: [redac"},
        {16, "messages: secret", "messages: [reda"},
        {14, "message: secr", "message: [red"},
        {64, "message: secre", "message: secre"}, /* there was room: it is no value */
        {1, "", ""},
    };
    add("secret1");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *buffer = malloc(cases[i].size + 1);
        assert_non_null(buffer);
        memset(buffer, '#', cases[i].size + 1);
        size_t length = strnlen(cases[i].before, cases[i].size - 1);
        memcpy(buffer, cases[i].before, length);
        buffer[length] = '\0';
        secret_redact_buffer(buffer, cases[i].size);
        assert_string_equal(buffer, cases[i].after);
        assert_int_equal(buffer[cases[i].size], '#');
        free(buffer);
    }
    secret_redact_buffer(NULL, 0);
}

static void test_buffer_is_cut_between_characters(void **state)
{
    (void)state;
    char buffer[14] = "secret1\xE2\x82\xAC\xE2\x82\xAC";
    add("secret1");
    secret_redact_buffer(buffer, sizeof(buffer));
    assert_string_equal(buffer, "[redacted]\xE2\x82\xAC");
}

/* Without memory a value is not accepted, and a text that holds one is not shown. */
static void test_no_memory(void **state)
{
    (void)state;
    int allowed = 0;
    for (bool added = false; !added; allowed++) {
        fail_after(allowed);
        added = secret_add("secret1", 7);
        assert_true(fail_never() != added);
    }
    assert_true(allowed > 2);

    struct text text = TEXT_INIT;
    char buffer[16] = "secret1";
    text_puts(&text, "a secret1");
    fail_after(0);
    secret_redact(&text);
    secret_redact_buffer(buffer, sizeof(buffer));
    assert_true(fail_never());
    assert_true(text.failed);
    assert_int_equal(text.length, 0);
    assert_string_equal(text_cstr(&text), "");
    assert_string_equal(buffer, "[redacted]");
    text_release(&text);
}

#define FORGOTTEN(test) cmocka_unit_test_teardown(test, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORGOTTEN(test_every_form),
        FORGOTTEN(test_base64),
        FORGOTTEN(test_percent_encoded),
        FORGOTTEN(test_escapes_of_escapes),
        FORGOTTEN(test_value_with_the_signs_of_encodings),
        FORGOTTEN(test_overlapping_values),
        FORGOTTEN(test_nul_bytes),
        FORGOTTEN(test_short_values_are_ignored),
        FORGOTTEN(test_buffer),
        FORGOTTEN(test_buffer_is_cut_between_characters),
        FORGOTTEN(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

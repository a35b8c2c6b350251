#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "failing.h"
#include "record/recording.h"

#define HEADER  "{\"type\":\"header\",\"format\":1,\"settings\":{}}\n"
#define RUN     "{\"type\":\"run\",\"prompt\":\"a \\u00e4\",\"system\":null}\n"
#define REQUEST "{\"type\":\"request\",\"turn\":0,\"attempt\":1,\"body\":{\"a\":1.50}}\n"

static bool parse(struct recording *recording, const char *text, struct error *error)
{
    *recording = (struct recording){0};
    text_puts(&recording->bytes, text);
    return recording_parse(recording, "FILE", error);
}

static void test_records(void **state)
{
    (void)state;
    struct recording recording;
    struct error error = ERROR_INIT;
    struct text text = TEXT_INIT;
    assert_true(parse(&recording, HEADER RUN REQUEST, &error));
    assert_int_equal(recording.count, 3);
    assert_false(recording.is_torn);
    const struct record *run = &recording.items[1], *request = &recording.items[2];
    assert_int_equal(run->kind, RECORD_RUN);
    assert_int_equal(run->line, 2);
    assert_true(record_text(run, "prompt", &text));
    assert_string_equal(text.data, "a ä");
    assert_true(record_has(run, "prompt"));
    assert_false(record_has(run, "system"));
    assert_true(record_text(run, "nothing", &text));
    assert_string_equal(text.data, "");
    assert_int_equal(record_integer(request, "attempt", 7), 1);
    assert_int_equal(record_integer(request, "body", 7), 7);
    struct json_piece body = record_member(request, "body"); /* to the byte */
    assert_int_equal(body.length, strlen("{\"a\":1.50}"));
    assert_memory_equal(body.data, "{\"a\":1.50}", body.length);
    assert_true(record_says(request, "type", "request"));
    text_release(&text);
    recording_release(&recording);
}

/* A process that was killed while it wrote leaves half a line. */
static void test_torn(void **state)
{
    (void)state;
    static const char whole[] = HEADER RUN REQUEST;
    for (size_t length = 0; length < sizeof(whole); length++) {
        char *text = strndup(whole, length);
        struct recording recording;
        struct error error = ERROR_INIT;
        size_t lines = length + 1 >= strlen(HEADER);
        lines += length + 1 >= strlen(HEADER RUN);
        lines += length + 1 >= strlen(HEADER RUN REQUEST);
        bool ok = parse(&recording, text, &error);
        if (length + 1 < strlen(HEADER)) {
            assert_false(ok);
            assert_string_equal(error.message, "FILE: there is no recording in it");
        } else {
            assert_true(ok);
            assert_int_equal(recording.count, lines);
        }
        recording_release(&recording);
        free(text);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "there is no recording in it"},
        {"\n", "line 1: it is no JSON object"},
        {"[]\n", "line 1: it is no JSON object"},
        {"{\"type\":\"header\"} x\n", "line 1: it is no JSON object"},
        {RUN, "line 1: it is no recording of mortise's: the first line is no header"},
        {"{\"type\":\"header\",\"settings\":{}}\n", "'format' is not 1"},
        {"{\"type\":\"header\",\"format\":\"1\",\"settings\":{}}\n", "'format' is not 1"},
        {"{\"type\":\"header\",\"format\":2,\"settings\":{}}\n", "recorded by a newer mortise"},
        {HEADER HEADER, "line 2: there is a second header"},
        {HEADER "\n" RUN, "line 2: it is no JSON object"},
        {HEADER "{\"type\":\"surprise\"}\n", "line 2: it has no 'type' that is known"},
        {HEADER "{\"type\":\"run\",\"prompt\":7,\"system\":null}\n",
         "line 2: 'prompt' of a record of type 'run' cannot be used"},
        {HEADER "{\"type\":\"run\",\"prompt\":\"\"}\n",
         "'system' is missing in a record of type 'run'"},
        {HEADER "{\"type\":\"request\",\"turn\":0,\"attempt\":1,\"body\":[]}\n", "'body'"},
        {HEADER "{\"type\":\"response\",\"status\":200,\"end\":\"whole\",\"chunks\":{}}\n",
         "'chunks'"},
        {HEADER "{\"type\":\"tool_result\",\"id\":null}\n", "'id'"},
        {HEADER "\xff\xfe\n", "line 2: it is no JSON object"},
        {HEADER "{\"type\":\"run\",\"prompt\":\"\xff\"}\n", "line 2: it is no JSON object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct recording recording;
        struct error error = ERROR_INIT;
        assert_false(parse(&recording, cases[i].text, &error));
        assert_int_equal(error.kind, ERROR_USAGE);
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s: not in '%s'", cases[i].message, error.message);
        recording_release(&recording);
    }
}

/* What stands in a line is cut at LF only (U+2028 is a character like others). */
static void test_lines(void **state)
{
    (void)state;
    struct recording recording;
    struct error error = ERROR_INIT;
    assert_true(parse(&recording,
                      HEADER "{\"type\":\"run\",\"prompt\":\"a\xe2\x80\xa8z\",\"system\":null}\r\n",
                      &error));
    assert_int_equal(recording.count, 2);
    recording_release(&recording);
}

static void test_files(void **state)
{
    (void)state;
    struct recording recording;
    struct error error = ERROR_INIT;
    assert_true(recording_read(&recording, RECORDINGS "/anthropic.jsonl", &error));
    assert_true(recording.count > 10);
    recording_release(&recording);
    assert_false(recording_read(&recording, "/nowhere/x", &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    recording_release(&recording);
}

static void check_no_value(struct text *bytes, const char *message)
{
    struct recording recording = {.bytes = *bytes};
    struct error error = ERROR_INIT;
    assert_false(bytes->failed);
    assert_true(recording_parse(&recording, "FILE", &error));
    assert_null(record_value(&recording.items[recording.count - 1], &error));
    assert_int_equal(error.kind, ERROR_USAGE);
    if (!strstr(error.message, message))
        fail_msg("%s: not in '%s'", message, error.message);
    recording_release(&recording);
}

/* A file of megabytes must not become gigabytes of values, and what is refused says why. */
static void test_values_that_are_not_built(void **state)
{
    (void)state;
    struct text number = TEXT_INIT, many = TEXT_INIT;
    text_puts(&number, "{\"type\":\"header\",\"format\":1,\"settings\":{\"a\":1e999}}\n");
    check_no_value(&number, "1e999");
    text_puts(&many, HEADER "{\"type\":\"plugins\",\"plugins\":[");
    for (int i = 0; i < 8 << 20; i++)
        text_append(&many, "[],", 3);
    text_puts(&many, "0]}\n");
    check_no_value(&many, "it has more than 8388608 values");
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int count = 0; failed; count++) {
        struct recording recording;
        struct error error = ERROR_INIT;
        fail_after(count);
        bool ok = recording_read(&recording, RECORDINGS "/gemini.jsonl", &error);
        failed = fail_never();
        assert_int_equal(ok, !failed);
        recording_release(&recording);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),         cmocka_unit_test(test_torn),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_files),           cmocka_unit_test(test_values_that_are_not_built),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

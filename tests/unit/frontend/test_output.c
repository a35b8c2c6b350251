#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "failing.h"
#include "frontend/output.h"

static struct capture capture;

/* What arrives at the other end of a pipe or of a terminal. */
static const char *pass(bool terminal, const char *data, size_t length)
{
    struct output output;
    if (terminal)
        capture_terminal(&capture);
    else
        capture_pipe(&capture);
    output_init(&output, capture.writer, COLOR_AUTO);
    assert_int_equal(output.terminal, terminal);
    output_foreign(&output, data, length);
    output_release(&output);
    capture_read(&capture);
    capture_close(&capture);
    return capture.text;
}

#define BYTES(text) text, sizeof(text) - 1

/* D23, FAULTS 130: control characters other than newline and tab never reach a terminal. */
static void test_control_characters_stay_away_from_terminals(void **state)
{
    (void)state;
    char all[256];
    for (int byte = 0; byte < 256; byte++)
        all[byte] = (char)byte;
    pass(true, all, sizeof(all));
    for (size_t i = 0; i < capture.length; i++) {
        unsigned char c = (unsigned char)capture.text[i];
        assert_true(c >= 0x20 || c == '\n' || c == '\t');
        assert_int_not_equal(c, 0x7f);
    }
    assert_non_null(strstr(capture.text, "\t\n"));
    assert_non_null(strstr(capture.text, " !\"#$"));
}

static void test_sequences_stay_away_from_terminals(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t length;
        const char *shown;
    } cases[] = {
        {BYTES("a\033[31mred\033[0m"), "a[31mred[0m"},
        {BYTES("a\033]0;title\007b"), "a]0;titleb"},
        {BYTES("a\033]52;c;aGk=\033\\b"), "a]52;c;aGk=\\b"},
        {BYTES("over\rwritten\bx"), "overwrittenx"},
        {BYTES("a\xC2\x9B"
               "31mb\xC2\x9D"
               "0;t\xC2\x9C"),
         "a31mb0;t"}, /* C1 */
        {BYTES("a\xE2\x80\xAE"
               "b\xE2\x81\xA6"
               "c"),
         "abc"}, /* overrides of direction */
        {BYTES("caf\xC3\xA9 \xF0\x9F\x98\x80\n\tx"), "caf\xC3\xA9 \xF0\x9F\x98\x80\n\tx"},
        {BYTES("a\0b"), "a\xEF\xBF\xBD"
                        "b"},
        {BYTES("a\xFF"), "a\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(pass(true, cases[i].data, cases[i].length), cases[i].shown);
}

static void test_pipes_get_the_bytes(void **state)
{
    (void)state;
    char all[256];
    for (int byte = 0; byte < 256; byte++)
        all[byte] = (char)byte;
    pass(false, all, sizeof(all));
    assert_int_equal(capture.length, sizeof(all));
    assert_memory_equal(capture.text, all, sizeof(all));
}

/* ---- colour ---- */

static bool has_color(bool terminal, enum color_choice choice, const char *no_color,
                      const char *term)
{
    struct output output;
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    else
        unsetenv("NO_COLOR");
    if (term)
        setenv("TERM", term, 1);
    else
        unsetenv("TERM");
    if (terminal)
        capture_terminal(&capture);
    else
        capture_pipe(&capture);
    output_init(&output, capture.writer, choice);
    output_dim(&output);
    output_own(&output, "x");
    output_plain(&output);
    output_release(&output);
    capture_read(&capture);
    capture_close(&capture);
    bool color = strcmp(capture.text, "\033[2mx\033[0m") == 0;
    assert_true(color || strcmp(capture.text, "x") == 0);
    return color;
}

static void test_color(void **state)
{
    (void)state;
    assert_true(has_color(true, COLOR_AUTO, NULL, "xterm"));
    assert_false(has_color(false, COLOR_AUTO, NULL, "xterm"));
    assert_false(has_color(true, COLOR_AUTO, "1", "xterm"));
    assert_true(has_color(true, COLOR_AUTO, "", "xterm")); /* no-color.org: not empty */
    assert_false(has_color(true, COLOR_AUTO, NULL, "dumb"));
    assert_false(has_color(true, COLOR_AUTO, NULL, NULL));
    assert_true(has_color(false, COLOR_ALWAYS, "1", NULL));
    assert_false(has_color(true, COLOR_NEVER, NULL, "xterm"));
}

static void test_color_names(void **state)
{
    (void)state;
    assert_int_equal(color_parse("auto"), COLOR_AUTO);
    assert_int_equal(color_parse("always"), COLOR_ALWAYS);
    assert_int_equal(color_parse("never"), COLOR_NEVER);
    assert_int_equal(color_parse("Never"), COLOR_AUTO);
    assert_int_equal(color_parse(NULL), COLOR_AUTO);
}

/* ---- lines ---- */

static void test_end_line(void **state)
{
    (void)state;
    struct output output;
    capture_terminal(&capture);
    output_init(&output, capture.writer, COLOR_ALWAYS);
    output_end_line(&output); /* nothing was written */
    output_foreign(&output, "a\n", 2);
    output_end_line(&output);
    output_foreign(&output, "\007\r", 2); /* nothing of this is shown */
    output_end_line(&output);
    output_dim(&output); /* moves no cursor */
    output_plain(&output);
    output_end_line(&output);
    output_printf(&output, "%d", 5);
    output_flush(&output);
    output_end_line(&output);
    output_end_line(&output);
    output_release(&output);
    assert_string_equal(capture_read(&capture), "a\n\033[2m\033[0m5\n");
    capture_close(&capture);
}

static void test_written_when_flushed(void **state)
{
    (void)state;
    struct output output;
    capture_pipe(&capture);
    output_init(&output, capture.writer, COLOR_AUTO);
    output_own(&output, "one");
    assert_string_equal(capture_read(&capture), "");
    output_flush(&output);
    assert_string_equal(capture_read(&capture), "one");
    output_own(&output, "two");
    output_release(&output);
    assert_string_equal(capture_read(&capture), "two");
    capture_close(&capture);
}

/* Memory does not grow with what is shown. */
static void test_large_output_is_passed_on(void **state)
{
    (void)state;
    struct output output;
    char block[1000];
    int null = open("/dev/null", O_WRONLY);
    assert_true(null >= 0);
    memset(block, 'x', sizeof(block));
    output_init(&output, null, COLOR_AUTO);
    for (int i = 0; i < 10000; i++) {
        output_foreign(&output, block, sizeof(block));
        assert_true(output.buffer.length < 64 << 10);
    }
    assert_true(output.buffer.capacity < 128 << 10);
    output_release(&output);
    close(null);
}

/* ---- failures ---- */

static void test_full_disk(void **state)
{
    (void)state;
    struct output output;
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    output_init(&output, full, COLOR_AUTO);
    output_own(&output, "text");
    assert_false(output.failed);
    output_flush(&output);
    assert_true(output.failed);
    assert_int_equal(output.failure, ENOSPC);
    for (int i = 0; i < 100000; i++) /* and is not kept for ever */
        output_foreign(&output, "0123456789", 10);
    assert_true(output.buffer.capacity < 128 << 10);
    output_flush(&output);
    assert_int_equal(output.failure, ENOSPC);
    output_release(&output);
    close(full);
}

static void test_reader_is_gone(void **state)
{
    (void)state;
    struct output output;
    signal(SIGPIPE, SIG_IGN);
    capture_pipe(&capture);
    close(capture.reader);
    output_init(&output, capture.writer, COLOR_AUTO);
    output_own(&output, "text");
    output_flush(&output);
    assert_true(output.failed);
    assert_int_equal(output.failure, EPIPE);
    output_release(&output);
    close(capture.writer);
}

static void test_nothing_to_write_does_not_fail(void **state)
{
    (void)state;
    struct output output;
    output_init(&output, -1, COLOR_AUTO);
    output_flush(&output);
    output_foreign(&output, "", 0);
    output_flush(&output);
    assert_false(output.failed);
    output_own(&output, "x");
    output_flush(&output);
    assert_true(output.failed);
    assert_int_equal(output.failure, EBADF);
    output_release(&output);
}

enum { MANY = 400000 };

static void *read_slowly(void *argument)
{
    const int *fd = argument;
    size_t length = 0;
    char buffer[5000];
    ssize_t n;
    while ((n = read(*fd, buffer, sizeof(buffer))) > 0) {
        length += (size_t)n;
        usleep(100);
    }
    return (void *)(uintptr_t)length;
}

/* A descriptor that somebody else made non-blocking still gets everything. */
static void test_full_pipe_is_waited_for(void **state)
{
    (void)state;
    struct output output;
    pthread_t reader;
    void *length;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
    output_init(&output, ends[1], COLOR_AUTO);
    for (int i = 0; i < MANY / 10; i++)
        output_foreign(&output, "0123456789", 10);
    output_release(&output);
    assert_false(output.failed);
    close(ends[1]);
    assert_int_equal(pthread_join(reader, &length), 0);
    assert_int_equal((uintptr_t)length, MANY);
    close(ends[0]);
}

/* Text that had no room is a failure, not a gap. */
static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct output output;
        capture_pipe(&capture);
        output_init(&output, capture.writer, COLOR_AUTO);
        fail_after(allowed);
        output_own(&output, "a");
        output_printf(&output, "%500d", 7);
        output_foreign(&output, "z", 1);
        output_flush(&output);
        failed = fail_never();
        assert_int_equal(output.failed, failed);
        if (failed)
            assert_int_equal(output.failure, ENOMEM);
        else
            assert_int_equal(strlen(capture_read(&capture)), 502);
        output_release(&output);
        capture_close(&capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_characters_stay_away_from_terminals),
        cmocka_unit_test(test_sequences_stay_away_from_terminals),
        cmocka_unit_test(test_pipes_get_the_bytes),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_color_names),
        cmocka_unit_test(test_end_line),
        cmocka_unit_test(test_written_when_flushed),
        cmocka_unit_test(test_large_output_is_passed_on),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_reader_is_gone),
        cmocka_unit_test(test_nothing_to_write_does_not_fail),
        cmocka_unit_test(test_full_pipe_is_waited_for),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

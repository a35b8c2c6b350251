/* What people see of calls that run: F38-F41, F47, F50. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "failing.h"
#include "frontend/print.h"

#include "capture.h"

#define ERASE "\r\033[K"

static struct timeline timeline;
static struct print print;
static struct output answer, notes;
static struct capture shown;

static void open_output(void)
{
    timeline_init(&timeline);
    output_init(&answer, shown.writer, COLOR_NEVER);
    output_init(&notes, shown.writer, COLOR_NEVER);
    assert_true(print_register(&print, &answer, &notes, PRINT_NORMAL, &timeline));
}

static void open_pipe(void)
{
    capture_pipe(&shown);
    open_output();
}

static void open_terminal(unsigned short columns)
{
    setenv("TERM", "xterm", 1);
    capture_terminal(&shown);
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(shown.reader, TIOCSWINSZ, &size), 0);
    open_output();
}

static void close_output(void)
{
    print_release(&print);
    output_release(&answer);
    output_release(&notes);
    timeline_release(&timeline);
    capture_close(&shown);
}

static void emit(struct event event)
{
    timeline_emit(&timeline, &event);
}

static const char *settled(void)
{
    emit((struct event){.kind = EVENT_SETTLED});
    return capture_read(&shown);
}

static void progress(const char *name, double done, double total, const char *message)
{
    struct event event = {.kind = EVENT_TOOL_PROGRESS};
    event.as.tool_progress = (struct tool_progress){.id = name, .name = name};
    event.as.tool_progress.text = (struct slice){message, strlen(message)};
    event.as.tool_progress.done = done;
    event.as.tool_progress.total = total;
    emit(event);
}

static void say(const char *name, const char *stream, const char *text)
{
    struct event event = {.kind = EVENT_TOOL_PROGRESS};
    event.as.tool_progress = (struct tool_progress){.id = name, .name = name, .stream = stream};
    event.as.tool_progress.text = (struct slice){text, strlen(text)};
    event.as.tool_progress.notice = strncmp(text, "[mortise", 8) == 0;
    emit(event);
}

static void end(const char *name)
{
    emit((struct event){.kind = EVENT_TOOL_RESULT,
                        .as.tool_result = {.id = name, .name = name, .success = true}});
}

static void assert_shown(const char *wanted)
{
    assert_string_equal(settled(), wanted);
}

/* ---- F40 ---- */

static void test_the_accessor(void **state)
{
    (void)state;
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        const struct event event = {.kind = (enum event_kind)kind};
        const struct tool_progress *told = event_tool_progress(&event);
        assert_ptr_equal(told, kind == EVENT_TOOL_PROGRESS ? &event.as.tool_progress : NULL);
    }
}

/* ---- numbers, where a line can be drawn over ---- */

static void test_a_bar(void **state)
{
    (void)state;
    open_terminal(80);
    assert_shown("");
    progress("build", 1, 4, "");
    assert_shown("\rbuild [######..................]  25%\033[K");
    assert_shown(""); /* nothing new */
    progress("build", 2, 4, "");
    progress("build", 3, 4, "");
    assert_shown("\rbuild [##################......]  75%\033[K"); /* the last counts */
    progress("build", 3, 4, "linking");
    assert_shown("\rbuild [##################......]  75% linking\033[K");
    end("build");
    assert_shown(ERASE "← build (0 µs) \n");
    close_output();
}

/* Whatever else is written erases the line, and it comes back. */
static void test_other_output(void **state)
{
    (void)state;
    open_terminal(80);
    progress("build", 1, 2, "");
    assert_shown("\rbuild [############............]  50%\033[K");
    say("other", "stdout", "line\n");
    assert_string_equal(capture_read(&shown), ERASE "  other: line\n");
    assert_shown("\rbuild [############............]  50%\033[K");
    emit((struct event){.kind = EVENT_BLOCK_DELTA, .as.block = {.text = {"Text", 4}}});
    emit((struct event){.kind = EVENT_TURN_END});
    assert_string_equal(capture_read(&shown), ERASE "Text\n");
    close_output();
}

/* A line that is not whole yet is not erased, and nothing is drawn behind it. */
static void test_an_open_line(void **state)
{
    (void)state;
    open_terminal(80);
    progress("build", 1, 2, "");
    say("other", "stdout", "half a ");
    assert_shown("  other: half a ");
    progress("build", 2, 2, "");
    assert_shown("");
    say("other", "stdout", "line\n");
    assert_shown("line\n\rbuild [########################] 100%\033[K");
    close_output();
}

static void test_several_calls(void **state)
{
    (void)state;
    open_terminal(81);
    progress("build", 1, 2, "");
    progress("test", 3, 0, "suite");
    assert_shown("\rbuild [############............]  50%   test 3 suite\033[K");
    for (char name[] = "c0"; name[1] < '5'; name[1]++)
        progress(name, 1, 10, "");
    const char *line = settled();
    assert_non_null(strstr(line, "build"));
    assert_non_null(strstr(line, "test"));
    assert_non_null(strstr(line, "   +3 more"));
    assert_true(strlen(line) - strlen("\r\033[K") < 81);
    end("build");
    assert_non_null(strstr(settled(), "test"));
    close_output();
}

/* Every width, every length of name and message: one row, whatever characters. */
static void test_it_fits(void **state)
{
    (void)state;
    static const char wide[] = "\xE6\x97\xA5\xE6\x9C\xAC"; /* two characters, four columns */
    for (unsigned short columns = 1; columns <= 120; columns++) {
        char message[400] = "";
        open_terminal(columns);
        for (int i = 0; i < 12; i++) {
            char name[16];
            snprintf(name, sizeof(name), "%.*s%d", i, "a-long-name-", i);
            progress(name, i * 7, 80 * (i % 3), message);
            strcat(message, i % 2 ? "plain" : wide);
            const char *line = settled();
            size_t width = 0;
            for (const char *c = line; *c; c++)
                width += ((unsigned char)*c & 0xC0) != 0x80;
            for (const char *c = line; (c = strstr(c, "\xE6")); c++)
                width++;
            if (columns < 20)
                assert_string_equal(line, "");
            else
                assert_in_range(width, 4, columns - 1 + strlen("\r\033[K"));
        }
        close_output();
    }
}

static void test_strange_numbers(void **state)
{
    (void)state;
    static const struct {
        double done, total;
        const char *shown;
    } cases[] = {{5, 4, "100%"},       {-1, 4, "  0%"},         {7, -1, " 7"},
                 {1e300, 0, "1e+300"}, {-1e300, 1e300, "  0%"}, {1e300, 1e-300, "100%"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        open_terminal(60);
        progress("t", cases[i].done, cases[i].total, "");
        const char *line = settled();
        if (!strstr(line, cases[i].shown))
            fail_msg("'%s' has no '%s'", line, cases[i].shown);
        close_output();
    }
}

/* D23, D24 */
static void test_foreign_text(void **state)
{
    (void)state;
    static const char key[] = "sk-0123456789abcdef";
    assert_true(secret_add(key, strlen(key)));
    open_terminal(80);
    progress("a\033[2J\nb", 1, 0, "x\r\033]0;t\007\n\tsk-0123456789abcdef");
    assert_shown("\ra[2J b 1 x]0;t  [redacted]\033[K");
    secret_clear();
    close_output();
}

/* A line that another thread logs erases the bar too. */
static void test_the_log_is_told(void **state)
{
    (void)state;
    open_terminal(80);
    struct capture log;
    capture_pipe(&log);
    int before = dup(2);
    dup2(log.writer, 2);
    log_warning("one");
    progress("t", 1, 2, "");
    settled();
    log_warning("two");
    output_erase(&notes);
    log_warning("three");
    dup2(before, 2);
    close(before);
    assert_string_equal(capture_read(&log), "mortise: warning: one\n" ERASE
                                            "mortise: warning: two\nmortise: warning: three\n");
    capture_close(&log);
    close_output();
}

/* ---- numbers, where only lines can be written ---- */

static void test_lines(void **state)
{
    (void)state;
    open_pipe();
    for (int i = 1; i <= 1000; i++)
        progress("t", i, 1000, "");
    assert_shown("  t:   0%\n  t:  10%\n  t:  20%\n  t:  30%\n  t:  40%\n  t:  50%\n  t:  60%\n"
                 "  t:  70%\n  t:  80%\n  t:  90%\n  t: 100%\n");
    progress("u", 1, 0, "one");
    progress("u", 2, 0, "one");
    progress("u", 3, 0, "two");
    assert_shown("  u: 1 one\n  u: 3 two\n");
    close_output();
}

static void test_a_terminal_that_cannot_erase(void **state)
{
    (void)state;
    capture_terminal(&shown);
    setenv("TERM", "dumb", 1);
    open_output();
    progress("t", 1, 2, "half");
    assert_shown("  t:  50% half\n");
    close_output();
}

/* ---- F50: what tools write, live and with their names ---- */

static void test_streams(void **state)
{
    (void)state;
    open_pipe();
    say("shell", "stdout", "one\ntwo\nthr");
    assert_shown(
        "  shell: one\n  shell: two\n  shell: thr"); /* it does not wait for the line's end */
    say("shell", "stdout", "ee\n");
    assert_shown("ee\n");
    say("shell", "stderr", "oops");
    say("shell", "stdout", "next");
    say("grep", "stdout", "found\n\nit\n");
    assert_shown("  shell (stderr): oops\n  shell: next\n  grep: found\n  grep: \n  grep: it\n");
    say("shell", "stdout", "unfinished");
    end("shell");
    assert_shown("  shell: unfinished\n← shell (0 µs) \n");
    close_output();
}

/* F47: the notice is a line of its own. */
static void test_the_notice(void **state)
{
    (void)state;
    open_pipe();
    say("flood", "stdout", "xxx");
    say("flood", "stdout", "[mortise: tool progress truncated]");
    say("flood", "stdout", "yyy\n");
    assert_shown("  flood: xxx\n  flood: [mortise: tool progress truncated]\n  flood: yyy\n");
    close_output();
}

/* ---- memory ---- */

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed && allowed < 2000; allowed++) {
        open_terminal(80);
        fail_after(allowed);
        say("t", "stdout", "half");
        progress("t", 1, 2, "message");
        progress("u", 1, 0, "message");
        emit((struct event){.kind = EVENT_SETTLED});
        end("t");
        failed = fail_never();
        capture_read(&shown);
        close_output();
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_accessor),
        cmocka_unit_test(test_a_bar),
        cmocka_unit_test(test_other_output),
        cmocka_unit_test(test_an_open_line),
        cmocka_unit_test(test_several_calls),
        cmocka_unit_test(test_it_fits),
        cmocka_unit_test(test_strange_numbers),
        cmocka_unit_test(test_foreign_text),
        cmocka_unit_test(test_the_log_is_told),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_a_terminal_that_cannot_erase),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_the_notice),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

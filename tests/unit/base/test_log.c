#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "failing.h"

static int pipe_ends[2];
static int real_stderr;

/* Standard error goes into a pipe while a test runs. */
static int catch_stderr(void **state)
{
    (void)state;
    real_stderr = dup(STDERR_FILENO);
    if (real_stderr < 0 || pipe2(pipe_ends, O_NONBLOCK) != 0)
        return -1;
    return dup2(pipe_ends[1], STDERR_FILENO) < 0 ? -1 : 0;
}

static int release_stderr(void **state)
{
    (void)state;
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    log_set_level(LOG_WARNING);
    log_set_before(NULL, NULL);
    secret_clear();
    return 0;
}

static const char *written(void)
{
    static char text[65536];
    ssize_t got = read(pipe_ends[0], text, sizeof(text) - 1);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static void test_levels(void **state)
{
    (void)state;
    static const struct {
        enum log_level level;
        const char *lines;
    } cases[] = {
        {LOG_ERROR, "mortise: e 1\n"},
        {LOG_WARNING, "mortise: e 1\nmortise: warning: w 2\n"},
        {LOG_NOTE, "mortise: e 1\nmortise: warning: w 2\nmortise: note: n 3\n"},
        {LOG_DEBUG,
         "mortise: e 1\nmortise: warning: w 2\nmortise: note: n 3\nmortise: debug: d 4\n"},
    };
    assert_int_equal(log_level(), LOG_WARNING);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        log_set_level(cases[i].level);
        assert_int_equal(log_level(), cases[i].level);
        log_error("e %d", 1);
        log_warning("w %d", 2);
        log_note("n %d", 3);
        log_debug("d %d", 4);
        assert_string_equal(written(), cases[i].lines);
    }
}

static void test_redacted_and_visible(void **state)
{
    (void)state;
    assert_true(secret_add("sk-12345678", 11));
    log_error("key sk-12345678, bell \a, title \x1b]0;x\x07, bad \xFF");
    assert_string_equal(written(),
                        "mortise: key [redacted], bell , title ]0;x, bad \xEF\xBF\xBD\n");
    log_error("split sk-1234\x1b"
              "5678"); /* leaving ESC out puts the halves together */
    assert_string_equal(written(), "mortise: split [redacted]\n");
}

static void note_call(void *argument)
{
    *(const char **)argument = written(); /* nothing is there yet */
}

static void test_before_comes_before(void **state)
{
    (void)state;
    const char *seen = NULL;
    log_set_before(note_call, &seen);
    log_debug("dropped");
    assert_null(seen);
    log_error("x");
    assert_non_null(seen);
    assert_string_equal(seen, "");
    assert_string_equal(written(), "mortise: x\n");
}

static void test_errno_is_kept(void **state)
{
    (void)state;
    close(STDERR_FILENO);
    errno = EDOM;
    log_error("nobody hears this");
    assert_int_equal(errno, EDOM);
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(secret_add("sk-12345678", 11));
    for (int allowed = 0;; allowed++) {
        fail_after(allowed);
        log_error("key sk-12345678");
        if (!fail_never())
            break;
        assert_string_equal(written(), "mortise: out of memory\n");
    }
    assert_string_equal(written(), "mortise: key [redacted]\n");
}

static void *log_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < 100; i++)
        log_error("%s", "a line that must not be mixed with another");
    return NULL;
}

static void test_lines_of_threads_do_not_mix(void **state)
{
    (void)state;
    static const char line[] = "mortise: a line that must not be mixed with another\n";
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    const char *text = written();
    assert_int_equal(strlen(text), 400 * (sizeof(line) - 1));
    for (; *text; text += sizeof(line) - 1)
        assert_memory_equal(text, line, sizeof(line) - 1);
}

#define CAUGHT(test) cmocka_unit_test_setup_teardown(test, catch_stderr, release_stderr)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAUGHT(test_levels),
        CAUGHT(test_redacted_and_visible),
        CAUGHT(test_before_comes_before),
        CAUGHT(test_errno_is_kept),
        CAUGHT(test_no_memory),
        CAUGHT(test_lines_of_threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

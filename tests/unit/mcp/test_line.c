/* S4, S15: lines out of bytes that come in pieces of any size, none above the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "mcp/line.h"

/* Takes what is there: lines in [], "!" for one that is too long. */
static void drain(struct line_reader *reader, bool at_end, struct text *out)
{
    struct slice line;
    enum line_kind kind;
    while ((kind = at_end ? line_last(reader, &line) : line_next(reader, &line)) != LINE_NONE) {
        if (kind == LINE_TOO_LONG)
            text_putc(out, '!');
        else
            text_printf(out, "[%.*s]", (int)line.length, line.data);
    }
}

/* The bytes, `step` at a time. */
static void check(const char *bytes, size_t max, size_t step, const char *expected)
{
    struct line_reader reader = LINE_READER(max);
    struct text out = TEXT_INIT;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    for (size_t at = 0, length = strlen(bytes); at < length; at += step) {
        size_t count = step < length - at ? step : length - at;
        assert_int_equal(write(fds[1], bytes + at, count), count);
        assert_int_equal(line_read(&reader, fds[0]), count);
        drain(&reader, false, &out);
    }
    close(fds[1]);
    assert_int_equal(line_read(&reader, fds[0]), 0);
    drain(&reader, true, &out);
    assert_string_equal(text_cstr(&out), expected);
    close(fds[0]);
    text_release(&out);
    line_reader_release(&reader);
}

static void test_lines(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t max;
        const char *expected;
    } cases[] = {
        {"", 9, ""},
        {"a\nbc\n", 9, "[a][bc]"},
        {"a\r\n\r\n \n\n  b \n", 9, "[a][b]"},
        {"a\nlast", 9, "[a][last]"},
        {"a\n  ", 9, "[a]"},
        {"1234\n12345\n1234\n", 4, "[1234]![1234]"},
        {"12345678901234567890\nab\n", 4, "![ab]"},
        {"12345678901234567890", 4, "!"},
        {"ab\n12345678901234567890", 4, "[ab]!"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t step = 1; step < 8; step++)
            check(cases[i].bytes, cases[i].max, step, cases[i].expected);
}

/* A long line is not kept, and what one took is given back. */
static void test_memory(void **state)
{
    (void)state;
    struct line_reader reader = LINE_READER(3 << 20);
    static char bytes[32 << 10];
    struct slice line;
    enum line_kind kind = LINE_NONE;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    memset(bytes, 'x', sizeof(bytes));
    for (size_t sent = 0; sent < (20 << 20); sent += sizeof(bytes)) {
        assert_int_equal(write(fds[1], bytes, sizeof(bytes)), sizeof(bytes));
        assert_int_equal(line_read(&reader, fds[0]), sizeof(bytes));
        enum line_kind now = line_next(&reader, &line);
        assert_true(now != LINE_WHOLE && (now == LINE_NONE || kind == LINE_NONE));
        kind = now ? now : kind;
        assert_true(reader.capacity <= (8 << 20));
    }
    assert_int_equal(kind, LINE_TOO_LONG);
    assert_int_equal(write(fds[1], "\nab\n", 4), 4);
    assert_int_equal(line_read(&reader, fds[0]), 4);
    assert_int_equal(line_next(&reader, &line), LINE_WHOLE);
    assert_true(slice_is(line, "ab"));
    assert_int_equal(line_next(&reader, &line), LINE_NONE);
    assert_true(reader.capacity <= (1 << 20));
    close(fds[0]);
    close(fds[1]);
    line_reader_release(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lines.h"

struct input {
    struct lines lines;
    struct text line;
    struct cancel *stop;
    int writer;
};

static void begin(struct input *input)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *input = (struct input){.lines.fd = ends[0], .writer = ends[1], .stop = cancel_new()};
    assert_non_null(input->stop);
}

static void end(struct input *input)
{
    close(input->lines.fd);
    close(input->writer);
    lines_release(&input->lines);
    text_release(&input->line);
    cancel_unref(input->stop);
}

static void put(struct input *input, const char *data, size_t length)
{
    assert_int_equal(write(input->writer, data, length), length);
}

static void check_line(struct input *input, const char *wanted, size_t length)
{
    assert_int_equal(lines_read(&input->lines, input->stop, &input->line), EDITOR_LINE);
    assert_int_equal(input->line.length, length);
    assert_memory_equal(text_cstr(&input->line), wanted, length);
}

static void lines_come_one_by_one(void **state)
{
    struct input input;
    (void)state;
    begin(&input);
    put(&input, "one\n\nthr", 8);
    check_line(&input, "one", 3);
    check_line(&input, "", 0);
    put(&input, "ee\0\r\nlast", 9);
    check_line(&input, "three\0\r", 7);
    close(input.writer);
    check_line(&input, "last", 4);
    assert_int_equal(lines_read(&input.lines, input.stop, &input.line), EDITOR_EOF);
    input.writer = -1;
    end(&input);
}

static void *write_slowly(void *data)
{
    struct input *input = data;
    for (int i = 0; i < 100000; i++)
        if (write(input->writer, i % 100 == 99 ? "y\n" : "y ", 2) != 2)
            return data;
    return NULL;
}

static void many_pieces_make_whole_lines(void **state)
{
    struct input input;
    pthread_t writer;
    void *failed;
    (void)state;
    begin(&input);
    pthread_create(&writer, NULL, write_slowly, &input);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(lines_read(&input.lines, input.stop, &input.line), EDITOR_LINE);
        assert_int_equal(input.line.length, 199);
    }
    pthread_join(writer, &failed);
    assert_null(failed);
    end(&input);
}

static void *trigger(void *data)
{
    usleep(50000);
    cancel_trigger(data);
    return NULL;
}

/* Also while nothing comes; half a line is there for the next reading. */
static void a_reading_is_stopped(void **state)
{
    struct input input;
    pthread_t thread;
    (void)state;
    begin(&input);
    put(&input, "half a", 6);
    pthread_create(&thread, NULL, trigger, input.stop);
    assert_int_equal(lines_read(&input.lines, input.stop, &input.line), EDITOR_STOPPED);
    pthread_join(thread, NULL);
    put(&input, " line\n", 6);
    assert_int_equal(lines_read(&input.lines, input.stop, &input.line), EDITOR_STOPPED);
    cancel_unref(input.stop);
    input.stop = cancel_new();
    check_line(&input, "half a line", 11);
    end(&input);
}

static void what_cannot_be_read_is_the_end(void **state)
{
    struct input input;
    (void)state;
    begin(&input);
    close(input.lines.fd);
    assert_int_equal(lines_read(&input.lines, input.stop, &input.line), EDITOR_EOF);
    input.lines.fd = -1;
    end(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_one_by_one),
        cmocka_unit_test(many_pieces_make_whole_lines),
        cmocka_unit_test(a_reading_is_stopped),
        cmocka_unit_test(what_cannot_be_read_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "failing.h"

static char path[] = "/tmp/mortise-file-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_bytes(size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < length; i++)
        fputc((int)(i * 31 & 0xFF), file);
    assert_int_equal(fclose(file), 0);
}

static void assert_bytes(const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        assert_int_equal((unsigned char)data[i], i * 31 & 0xFF);
}

static void test_reads_up_to_its_limit(void **state)
{
    (void)state;
    static const struct {
        size_t bytes, max;
        bool good;
    } cases[] = {
        {0, 0, true},
        {0, 10, true},
        {1, 0, false},
        {10, 10, true},
        {10, 11, true},
        {11, 10, false},
        {65535, 65536, true},
        {65536, 65536, true},
        {65537, 65536, false},
        {300000, 300000, true},
        {300000, 1000, false},
        {300000, 299999, false},
        {300000, SIZE_MAX, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text = TEXT_INIT;
        struct error error = ERROR_INIT;
        write_bytes(cases[i].bytes);
        text_puts(&text, "before");
        assert_int_equal(file_read(path, cases[i].max, &text, &error), cases[i].good);
        assert_memory_equal(text.data, "before", 6);
        assert_int_equal(text.data[text.length], '\0');
        if (cases[i].good) {
            assert_int_equal(text.length, 6 + cases[i].bytes);
            assert_bytes(text.data + 6, cases[i].bytes);
        } else {
            assert_int_equal(text.length, 6);
            assert_non_null(strstr(error.message, "cannot read '/tmp/mortise-file-"));
            assert_non_null(strstr(error.message, "larger than "));
        }
        text_release(&text);
    }
}

static void test_endless_file_stops_at_the_limit(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_false(file_read("/dev/zero", 1 << 20, &text, &error));
    assert_string_equal(error.message, "cannot read '/dev/zero': larger than 1048576 bytes");
    assert_true(text.capacity < 4 << 20);
    text_release(&text);
}

static void test_file_without_a_size(void **state)
{
    (void)state;
    struct text text = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_true(file_read("/proc/self/stat", 1 << 20, &text, &error));
    assert_true(text.length > 10);
    text_release(&text);
}

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    struct text text = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a\0b", 3), 3);
    close(ends[1]);
    assert_true(file_read_fd(ends[0], "the pipe", 3, &text, &error));
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    close(ends[0]);
    assert_false(file_read_fd(ends[0], "the pipe", 3, &text, &error));
    assert_string_equal(error.message, "cannot read 'the pipe': Bad file descriptor");
    text_release(&text);
}

static void test_unreadable(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/", "cannot read '/': Is a directory"},
        {"/nonexistent/x", "cannot read '/nonexistent/x': No such file or directory"},
        {"", "cannot read '': No such file or directory"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text = TEXT_INIT;
        struct error error = ERROR_INIT;
        assert_false(file_read(cases[i][0], 100, &text, &error));
        assert_string_equal(error.message, cases[i][1]);
        assert_int_equal(text.length, 0);
        assert_false(text.failed);
        text_release(&text);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    write_bytes(100000);
    for (int allowed = 0;; allowed++) {
        struct text text = TEXT_INIT;
        struct error error = ERROR_INIT;
        fail_after(allowed);
        bool good = file_read(path, SIZE_MAX, &text, &error);
        bool failed = fail_never();
        assert_int_equal(good, !failed);
        if (failed)
            assert_string_equal(error.message, "out of memory");
        text_release(&text);
        if (good)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_up_to_its_limit),
        cmocka_unit_test(test_endless_file_stops_at_the_limit),
        cmocka_unit_test(test_file_without_a_size),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}

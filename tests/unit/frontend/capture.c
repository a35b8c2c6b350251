#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

static void read_without_waiting(struct capture *capture)
{
    int flags = fcntl(capture->reader, F_GETFL);
    assert_int_equal(fcntl(capture->reader, F_SETFL, flags | O_NONBLOCK), 0);
}

void capture_pipe(struct capture *capture)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *capture = (struct capture){.reader = ends[0], .writer = ends[1]};
    read_without_waiting(capture);
}

void capture_terminal(struct capture *capture)
{
    struct termios raw = {0};
    *capture = (struct capture){0};
    cfmakeraw(&raw);
    assert_int_equal(openpty(&capture->reader, &capture->writer, NULL, &raw, NULL), 0);
    read_without_waiting(capture);
}

void capture_close(struct capture *capture)
{
    close(capture->reader);
    close(capture->writer);
}

const char *capture_read(struct capture *capture)
{
    size_t length = 0;
    ssize_t n;
    while ((n = read(capture->reader, capture->text + length, sizeof(capture->text) - 1 - length)) >
           0)
        length += (size_t)n;
    capture->text[length] = '\0';
    capture->length = length;
    return capture->text;
}

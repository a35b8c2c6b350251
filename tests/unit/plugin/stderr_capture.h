/* stderr_capture - what a piece of code writes to standard error. */
#ifndef TEST_STDERR_CAPTURE_H
#define TEST_STDERR_CAPTURE_H

#include <sys/mman.h>
#include <unistd.h>

struct stderr_capture {
    int saved, fd;
};

static inline struct stderr_capture capture_stderr(void)
{
    struct stderr_capture capture = {dup(STDERR_FILENO), memfd_create("stderr", MFD_CLOEXEC)};
    dup2(capture.fd, STDERR_FILENO);
    return capture;
}

static inline void captured_stderr(struct stderr_capture capture, char *out, size_t size)
{
    dup2(capture.saved, STDERR_FILENO);
    ssize_t got = pread(capture.fd, out, size - 1, 0);
    out[got > 0 ? got : 0] = '\0';
    close(capture.saved);
    close(capture.fd);
}

#endif

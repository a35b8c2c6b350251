/* capture - a pipe, or a terminal, whose other end a test reads. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <stddef.h>

struct capture {
    int writer; /* for struct output */
    int reader;
    char text[64 << 10]; /* what was read last, NUL-terminated */
    size_t length;
};

void capture_pipe(struct capture *capture);
/* A pseudo-terminal that passes bytes on as they are. */
void capture_terminal(struct capture *capture);
void capture_close(struct capture *capture);

/* Everything that was written since the last call. */
const char *capture_read(struct capture *capture);

#endif

/*
 * buffer - bytes that grow, with a NUL behind them.  After a failure nothing is added any more:
 * look once, at the end.
 */
#ifndef REDACT_BUFFER_H
#define REDACT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data;
    size_t length, capacity;
    bool failed; /* there was no memory */
};

void buffer_add(struct buffer *buffer, const char *bytes, size_t length);
void buffer_release(struct buffer *buffer);

#endif

/*
 * bench_buffer - bytes that grow.  Where there is no memory for them the program ends.
 */
#ifndef BENCH_BUFFER_H
#define BENCH_BUFFER_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    char *data; /* ends with NUL; NULL: empty */
    size_t length, capacity;
};

static inline void buffer_append(struct buffer *buffer, const char *data, size_t length)
{
    if (buffer->length + length >= buffer->capacity) {
        buffer->capacity = (buffer->length + length + 256) * 2;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data) {
            fputs("bench: no memory\n", stderr);
            exit(1);
        }
    }
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

#endif

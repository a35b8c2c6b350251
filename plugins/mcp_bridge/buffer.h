/*
 * buffer - text that grows: JSON that is written, lines that are read.
 *
 * A failure sticks: append freely and look at `failed` once.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *text; /* with a NUL behind it, or NULL as long as nothing was put */
    size_t length, capacity;
    bool failed; /* there was no memory */
};
#define BUFFER_INIT                                                                                \
    {                                                                                              \
        0                                                                                          \
    }

void buffer_put(struct buffer *buffer, const char *text, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A JSON string, quotes included. */
void buffer_quote(struct buffer *buffer, const char *text, size_t length);
/* JSON text as it is, in one line. */
void buffer_json(struct buffer *buffer, const char *json, size_t length);

/* Room for `bytes` more and a NUL behind them; where they go, or NULL. */
char *buffer_room(struct buffer *buffer, size_t bytes);
void buffer_clear(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
/* What was put, for free(), NULL if there was no memory; the buffer is empty then. */
char *buffer_take(struct buffer *buffer);

#endif

/*
 * sse - server-sent events out of bytes, however they arrive.
 *
 * Lines end with LF, CRLF or CR; a byte order mark at the very start and comments are passed over;
 * several data lines are joined with LF.  What is kept is bounded: an event, or a line, of more
 * than max_bytes ends the reading.
 */
#ifndef SSE_H
#define SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

enum { SSE_ID_BYTES = 1024, SSE_NAME_BYTES = 64 };

struct sse_event {
    const char *name; /* "": it has none */
    const char *data; /* with a NUL behind it */
    size_t length;    /* 0: it carries an id or a time alone */
};

/* Gets an event that is complete, and has to copy what it keeps. */
typedef void sse_take(void *self, const struct sse_event *event);

struct sse {
    sse_take *take;
    void *self;
    size_t max_bytes;
    int64_t retry_ms;      /* how long to wait before coming back; -1: it did not say */
    char id[SSE_ID_BYTES]; /* of the last event that was complete and had one, or "" */
    bool is_too_large;     /* why the reading ended; else there was no memory */

    /* its own */
    struct buffer line, data;
    char name[SSE_NAME_BYTES], next_id[SSE_ID_BYTES];
    bool has_id, has_fields, has_data, is_after_cr;
    unsigned mark; /* bytes of the byte order mark that were seen; 3: done */
};

void sse_begin(struct sse *sse, sse_take *take, void *self, size_t max_bytes);
/* Another stream comes, which goes on where this one ended: what was not complete is dropped. */
void sse_again(struct sse *sse);
/* False: nothing more may be fed. */
bool sse_feed(struct sse *sse, const char *bytes, size_t length);
/* The stream is at its end: the last line and the last event count as they are. */
bool sse_end(struct sse *sse);
void sse_release(struct sse *sse);

#endif

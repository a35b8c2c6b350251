/*
 * sse - cuts server-sent events out of bytes, however they arrive.
 *
 * Lines end with CR, LF or CRLF; a byte order mark at the very start is dropped; comments
 * and fields other than `data` are passed over; several data lines are joined with LF; an
 * event whose data is blank is no event.  One pass over the bytes: amortised linear for any
 * cut, and no copy of an event that lies in the fed bytes as one line.
 */
#ifndef PROVIDER_SSE_H
#define PROVIDER_SSE_H

#include "base/error.h"
#include "base/text.h"

/* The default limit of one event's data. */
#define SSE_MAX_EVENT_BYTES (64u << 20)

typedef void sse_event(void *context, const char *data, size_t length);

struct sse {
    sse_event *on_event;
    void *context;
    size_t max_event_bytes;
    struct text line; /* of a line that is not complete yet */
    struct text data; /* of an event that is not complete yet */
    const char *held; /* its first line instead, while that still lies in the fed bytes */
    size_t held_length;
    bool has_data;
    bool after_cr;
    unsigned bom; /* how many bytes of the mark were seen; 3 = done */
};

void sse_init(struct sse *sse, sse_event *on_event, void *context);
void sse_release(struct sse *sse);
/* Calls on_event for each event that is complete.  False when one is too large (kind server)
 * or there is no memory; nothing more may be fed then. */
bool sse_feed(struct sse *sse, const char *data, size_t length, struct error *error);
/* A clean end: the last line counts without its newline, and so does the last event. */
bool sse_end(struct sse *sse, struct error *error);

#endif

/*
 * event_stream - cuts the messages of an Amazon event stream out of bytes, however they arrive.
 *
 * A message (application/vnd.amazon.eventstream) is, in big-endian numbers: its length and that
 * of its headers, the CRC-32 of those eight bytes; the headers; the payload; the CRC-32 of
 * everything before.  No length is believed before its checksum, and no byte is looked at twice:
 * amortised linear for any cut, and no copy of a message that lies whole in the fed bytes.
 */
#ifndef PROVIDER_EVENT_STREAM_H
#define PROVIDER_EVENT_STREAM_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* What the format allows; it keeps the first byte of every message at zero. */
#define EVENT_STREAM_MAX_BYTES ((16u << 20) - 1)

/* The headers that say what a message is; empty where they are not there, or are no text. */
struct event_stream_message {
    struct slice type;       /* "event", "exception" or "error" */
    struct slice event;      /* the kind of event: "chunk" */
    struct slice exception;  /* of an exception: "throttlingException" */
    struct slice error_code; /* of an error, which has no payload */
    struct slice error_message;
    struct slice payload;
};

typedef void event_stream_message(void *context, const struct event_stream_message *message);

struct event_stream {
    event_stream_message *on_message;
    void *context;
    size_t max_message_bytes;
    struct text pending; /* of a message that is not complete yet */
    size_t needed;       /* the length of that message; 0: not known yet */
};

void event_stream_init(struct event_stream *stream, event_stream_message *on_message,
                       void *context);
void event_stream_release(struct event_stream *stream);
/* Calls on_message for each message that is complete; what is in it is gone when that returns.
 * False when one is damaged (kind server, retryable) or too large (kind server), or there is no
 * memory; nothing more may be fed then.  Bytes that end within a message need no word here: what
 * is missing is the evidence that the response was complete. */
bool event_stream_feed(struct event_stream *stream, const char *data, size_t length,
                       struct error *error);

#endif

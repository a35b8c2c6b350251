#include "provider/event_stream.h"

#include <stdint.h>
#include <string.h>

#define PRELUDE_BYTES  12 /* two lengths and their checksum */
#define CHECKSUM_BYTES 4
#define LEAST_BYTES    (PRELUDE_BYTES + CHECKSUM_BYTES)

void event_stream_init(struct event_stream *stream, event_stream_message *on_message, void *context)
{
    *stream = (struct event_stream){
        .on_message = on_message, .context = context, .max_message_bytes = EVENT_STREAM_MAX_BYTES};
}

void event_stream_release(struct event_stream *stream)
{
    text_release(&stream->pending);
}

static bool damaged(struct error *error, const char *what)
{
    error_set(error, ERROR_SERVER, "the server's event stream is damaged: %s", what);
    error->retryable = true;
    return false;
}

/* ---- numbers ---- */

static uint32_t read_number(const char *data, unsigned bytes)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)data[i];
    return number;
}

/* CRC-32 as in zlib, half a byte at a time. */
static uint32_t checksum(const char *data, size_t length)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* ---- headers ---- */

enum { HEADER_BYTES = 6, HEADER_STRING = 7 };

/* How long a value of a type is that always has one length; -1: it has not. */
static int fixed_length(unsigned type)
{
    static const signed char lengths[] = {0, 0, 1, 2, 4, 8, -1, -1, 8, 16};
    return type < sizeof(lengths) ? lengths[type] : -1;
}

/* Takes `length` bytes from `rest`; false when there are not so many. */
static bool take(struct slice *rest, size_t length, struct slice *out)
{
    if (length > rest->length)
        return false;
    *out = (struct slice){rest->data, length};
    rest->data += length;
    rest->length -= length;
    return true;
}

/* A length of so many bytes, and what it is the length of. */
static bool take_counted(struct slice *rest, unsigned bytes, struct slice *out)
{
    struct slice count;
    return take(rest, bytes, &count) && take(rest, read_number(count.data, bytes), out);
}

static bool take_value(struct slice *rest, unsigned *type, struct slice *out)
{
    struct slice byte;
    if (!take(rest, 1, &byte))
        return false;
    *type = (unsigned char)*byte.data;
    int length = fixed_length(*type);
    if (length >= 0)
        return take(rest, (size_t)length, out);
    return (*type == HEADER_BYTES || *type == HEADER_STRING) && take_counted(rest, 2, out);
}

static void note_header(struct event_stream_message *message, struct slice name, struct slice value)
{
    const struct {
        const char *name;
        struct slice *value;
    } known[] = {
        {":message-type", &message->type},           {":event-type", &message->event},
        {":exception-type", &message->exception},    {":error-code", &message->error_code},
        {":error-message", &message->error_message},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_is(name, known[i].name))
            *known[i].value = value;
}

static bool read_headers(struct event_stream_message *message, struct slice rest)
{
    while (rest.length) {
        struct slice name, value;
        unsigned type;
        if (!take_counted(&rest, 1, &name) || !take_value(&rest, &type, &value))
            return false;
        if (type == HEADER_STRING)
            note_header(message, name, value);
    }
    return true;
}

/* ---- messages ---- */

/* Learns from its prelude how long the message is. */
static bool measure(struct event_stream *stream, const char *prelude, struct error *error)
{
    uint32_t length = read_number(prelude, 4);
    uint32_t headers = read_number(prelude + 4, 4);
    if (checksum(prelude, 8) != read_number(prelude + 8, 4))
        return damaged(error, "the checksum of a length is wrong");
    if (length < LEAST_BYTES || headers > length - LEAST_BYTES)
        return damaged(error, "a length is wrong");
    if (length > stream->max_message_bytes)
        return error_set(error, ERROR_SERVER, "the server sent an event of more than %zu bytes",
                         stream->max_message_bytes);
    stream->needed = length;
    return true;
}

static bool take_message(struct event_stream *stream, const char *data, struct error *error)
{
    struct event_stream_message message = {0};
    size_t end = stream->needed - CHECKSUM_BYTES;
    uint32_t headers = read_number(data + 4, 4);
    stream->needed = 0;
    if (checksum(data, end) != read_number(data + end, 4))
        return damaged(error, "the checksum of an event is wrong");
    if (!read_headers(&message, (struct slice){data + PRELUDE_BYTES, headers}))
        return damaged(error, "the headers of an event cannot be read");
    message.payload = (struct slice){data + PRELUDE_BYTES + headers, end - PRELUDE_BYTES - headers};
    stream->on_message(stream->context, &message);
    return true;
}

/* Appends what is still missing of the prelude, or of the message. */
static bool keep(struct event_stream *stream, struct slice *rest, struct error *error)
{
    size_t goal = stream->needed ? stream->needed : PRELUDE_BYTES;
    size_t missing = goal - stream->pending.length;
    size_t more = missing < rest->length ? missing : rest->length;
    text_append(&stream->pending, rest->data, more);
    rest->data += more;
    rest->length -= more;
    return !stream->pending.failed || error_memory(error);
}

static bool feed_pending(struct event_stream *stream, struct slice *rest, struct error *error)
{
    if (!keep(stream, rest, error))
        return false;
    if (!stream->needed)
        return stream->pending.length < PRELUDE_BYTES ||
               measure(stream, stream->pending.data, error);
    if (stream->pending.length < stream->needed)
        return true;
    bool taken = take_message(stream, stream->pending.data, error);
    text_reset(&stream->pending);
    return taken;
}

bool event_stream_feed(struct event_stream *stream, const char *data, size_t length,
                       struct error *error)
{
    struct slice rest = {data, length};
    while (rest.length) {
        bool is_measured = !stream->pending.length && rest.length >= PRELUDE_BYTES;
        if (is_measured && !measure(stream, rest.data, error))
            return false;
        if (is_measured && rest.length >= stream->needed) {
            struct slice message;
            take(&rest, stream->needed, &message);
            if (!take_message(stream, message.data, error))
                return false;
        } else if (!feed_pending(stream, &rest, error)) {
            return false;
        }
    }
    return true;
}

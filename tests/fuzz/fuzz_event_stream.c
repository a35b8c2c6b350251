/* Bytes in any pieces give the same messages as in one piece.  Checksums are made right first:
 * otherwise nothing would get past them. */
#include "fuzz_pieces.h"
#include "provider/event_stream.h"
#include "provider/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_MESSAGE_BYTES 512

static void put(struct text *out, struct slice slice)
{
    text_printf(out, "%zu:", slice.length);
    text_append(out, slice.data, slice.length);
}

static void on_message(void *context, const struct event_stream_message *message)
{
    put(context, message->type);
    put(context, message->event);
    put(context, message->exception);
    put(context, message->error_code);
    put(context, message->error_message);
    put(context, message->payload);
}

static void set_number(char *at, uint32_t number)
{
    for (int i = 3; i >= 0; i--, number >>= 8)
        at[i] = (char)(number & 0xFF);
}

/* Two bytes of the input are what a message's two lengths are made of. */
static void correct(char *data, size_t size)
{
    for (size_t at = 0; size - at >= 16;) {
        uint32_t length = 16 + (uint32_t)(unsigned char)data[at + 3];
        bool is_whole = length <= size - at;
        set_number(data + at, length);
        set_number(data + at + 4, (unsigned char)data[at + 7]);
        set_number(data + at + 8, frame_checksum(data + at, 8));
        if (!is_whole)
            return;
        set_number(data + at + length - 4, frame_checksum(data + at, length - 4));
        at += length;
    }
}

static bool feed(void *reader, const char *piece, size_t length)
{
    struct error error = ERROR_INIT;
    return event_stream_feed(reader, piece, length, &error);
}

/* The first bytes of the input choose the cuts. */
static bool read_in_pieces(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                           struct text *messages)
{
    struct event_stream stream;
    event_stream_init(&stream, on_message, messages);
    stream.max_message_bytes = MAX_MESSAGE_BYTES;
    bool ok = fuzz_in_pieces(data, size, cuts, cut_count, 32, feed, &stream);
    event_stream_release(&stream);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    char *body = malloc(size - 4);
    if (!body)
        abort();
    memcpy(body, data + 4, size - 4);
    if (data[0] & 1) /* else as it is */
        correct(body, size - 4);
    fuzz_both_ways(read_in_pieces, body, size - 4, data, 4);
    free(body);
    return 0;
}

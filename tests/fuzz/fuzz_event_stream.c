/* Bytes in any pieces give the same messages as in one piece.  Checksums are made right first:
 * otherwise nothing would get past them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "provider/event_stream.h"

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

static uint32_t checksum(const char *data, size_t length)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    return ~crc;
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
        set_number(data + at + 8, checksum(data + at, 8));
        if (!is_whole)
            return;
        set_number(data + at + length - 4, checksum(data + at, length - 4));
        at += length;
    }
}

/* The first bytes of the input choose the cuts. */
static bool read_in_pieces(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                           struct text *messages)
{
    struct error error = ERROR_INIT;
    struct event_stream stream;
    size_t at = 0;
    bool ok = true;
    event_stream_init(&stream, on_message, messages);
    stream.max_message_bytes = MAX_MESSAGE_BYTES;
    for (size_t i = 0; ok && at < size; i++) {
        size_t step = cut_count ? cuts[i % cut_count] % 33u : size;
        step = step < size - at ? step : size - at;
        if (!step && cut_count)
            step = i % 3 ? 1 : 0;
        char *piece = malloc(step ? step : 1); /* exactly as long: one byte too far is seen */
        if (!piece)
            abort();
        memcpy(piece, data + at, step);
        ok = event_stream_feed(&stream, piece, step, &error);
        free(piece);
        at += step;
    }
    event_stream_release(&stream);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    struct text whole = TEXT_INIT, pieces = TEXT_INIT;
    char *body = malloc(size - 4);
    if (!body)
        abort();
    memcpy(body, data + 4, size - 4);
    if (data[0] & 1) /* else as it is */
        correct(body, size - 4);
    bool whole_ok = read_in_pieces(body, size - 4, NULL, 0, &whole);
    bool pieces_ok = read_in_pieces(body, size - 4, data, 4, &pieces);
    if (whole_ok != pieces_ok || whole.length != pieces.length ||
        (whole.length && memcmp(whole.data, pieces.data, whole.length) != 0))
        abort();
    text_release(&whole);
    text_release(&pieces);
    free(body);
    return 0;
}

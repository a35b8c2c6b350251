#include "frame.h"

#include <string.h>

#include "base/base64.h"

uint32_t frame_checksum(const char *data, size_t length)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    return ~crc;
}

static void put_number(struct text *out, size_t number, int bytes)
{
    while (bytes-- > 0)
        text_putc(out, (char)(number >> 8 * bytes & 0xFF));
}

void frame_put_raw(struct text *out, const char *headers, size_t headers_length,
                   const char *payload, size_t payload_length, size_t told_headers,
                   size_t told_total)
{
    size_t start = out->length;
    put_number(out, told_total, 4);
    put_number(out, told_headers, 4);
    put_number(out, frame_checksum(out->data + start, 8), 4);
    text_append(out, headers, headers_length);
    text_append(out, payload, payload_length);
    put_number(out, frame_checksum(out->data + start, out->length - start), 4);
}

static void put_header(struct text *out, const char *name, const char *value)
{
    put_number(out, strlen(name), 1);
    text_puts(out, name);
    put_number(out, 7, 1); /* a text */
    put_number(out, strlen(value), 2);
    text_puts(out, value);
}

static void put_frame(struct text *out, const struct text *headers, const char *payload)
{
    size_t length = strlen(payload);
    frame_put_raw(out, headers->data, headers->length, payload, length, headers->length,
                  16 + headers->length + length);
}

void frame_put_event(struct text *out, const char *data)
{
    struct text headers = TEXT_INIT, payload = TEXT_INIT;
    put_header(&headers, ":event-type", "chunk");
    put_header(&headers, ":content-type", "application/json");
    put_header(&headers, ":message-type", "event");
    text_puts(&payload, "{\"bytes\":\"");
    base64_append(&payload, data, strlen(data));
    text_puts(&payload, "\",\"p\":\"abcdefghijk\"}");
    put_frame(out, &headers, payload.data);
    text_release(&headers);
    text_release(&payload);
}

void frame_put_exception(struct text *out, const char *name, const char *payload)
{
    struct text headers = TEXT_INIT;
    put_header(&headers, ":exception-type", name);
    put_header(&headers, ":content-type", "application/json");
    put_header(&headers, ":message-type", "exception");
    put_frame(out, &headers, payload);
    text_release(&headers);
}

#include "buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>

char *buffer_room(struct buffer *buffer, size_t bytes)
{
    if (buffer->failed || bytes >= SIZE_MAX / 4 - buffer->length) {
        buffer->failed = true;
        return NULL;
    }
    size_t needed = buffer->length + bytes + 1;
    if (needed > buffer->capacity) {
        size_t capacity = buffer->capacity * 2 > needed ? buffer->capacity * 2 : needed + 64;
        char *text = realloc(buffer->text, capacity);
        if (!text) {
            buffer->failed = true;
            return NULL;
        }
        buffer->text = text;
        buffer->capacity = capacity;
    }
    return buffer->text + buffer->length;
}

void buffer_put(struct buffer *buffer, const char *text, size_t length)
{
    char *at = buffer_room(buffer, length);
    if (!at)
        return;
    if (length > 0)
        memcpy(at, text, length);
    at[length] = '\0';
    buffer->length += length;
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_put(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *at = length >= 0 ? buffer_room(buffer, (size_t)length) : NULL;
    if (at) {
        vsnprintf(at, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    } else {
        buffer->failed = true;
    }
    va_end(again);
    va_end(args);
}

void buffer_quote(struct buffer *buffer, const char *text, size_t length)
{
    size_t bytes = mortise_json_quote(NULL, 0, text, length);
    char *at = buffer_room(buffer, bytes);
    if (!at)
        return;
    mortise_json_quote(at, bytes + 1, text, length);
    buffer->length += bytes;
}

/* A line feed in JSON text stands between its tokens, where a space is as good. */
void buffer_json(struct buffer *buffer, const char *json, size_t length)
{
    size_t begin = buffer->length;
    buffer_put(buffer, json, length);
    if (buffer->failed)
        return;
    char *at = buffer->text + begin, *end = at + length;
    while ((at = memchr(at, '\n', (size_t)(end - at))))
        *at = ' ';
    at = buffer->text + begin;
    while ((at = memchr(at, '\r', (size_t)(end - at))))
        *at = ' ';
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
    if (buffer->text)
        buffer->text[0] = '\0';
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->text);
    *buffer = (struct buffer)BUFFER_INIT;
}

char *buffer_take(struct buffer *buffer)
{
    char *text = NULL;
    if (!buffer->failed && (buffer->text || buffer_room(buffer, 0))) {
        text = buffer->text;
        text[buffer->length] = '\0';
        buffer->text = NULL;
    }
    buffer_release(buffer);
    return text;
}

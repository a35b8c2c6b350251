#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_token.h"
#include "base/utf8.h"

#define FIRST_CAPACITY ((size_t)64)

void text_release(struct text *text)
{
    free(text->data);
    *text = (struct text)TEXT_INIT;
}

void text_wipe(struct text *text)
{
    if (text->data)
        explicit_bzero(text->data, text->length);
    text_release(text);
}

void text_reset(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

/* Doubling keeps the cost of many small appends linear. */
static bool grow(struct text *text, size_t needed)
{
    size_t capacity = text->capacity <= SIZE_MAX / 2 ? text->capacity * 2 : needed;
    if (capacity < needed)
        capacity = needed;
    if (capacity < FIRST_CAPACITY)
        capacity = FIRST_CAPACITY;
    char *data = realloc(text->data, capacity);
    if (!data)
        return false;
    data[text->length] = '\0';
    text->data = data;
    text->capacity = capacity;
    return true;
}

bool text_reserve(struct text *text, size_t more)
{
    if (text->failed)
        return false;
    if (more < text->capacity - text->length)
        return true;
    if (more >= SIZE_MAX - text->length || !grow(text, text->length + more + 1))
        text->failed = true;
    return !text->failed;
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

void text_vprintf(struct text *text, const char *format, va_list args)
{
    if (!text_reserve(text, 0))
        return;
    va_list again;
    va_copy(again, args);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(text->data + text->length, room, format, args);
    if (length < 0)
        text->failed = true;
    else if ((size_t)length >= room && text_reserve(text, (size_t)length))
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    va_end(again);

    if (text->failed)
        text->data[text->length] = '\0';
    else
        text->length += (size_t)length;
}

/* A byte that cannot stand in a JSON string as it is. */
static void append_escape(struct text *text, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"; /* of the controls */
    char letter = byte < 0x20 ? letters[byte] : (char)byte;
    char escape[6] = {'\\', letter, '0', '0', hex[byte >> 4], hex[byte & 15]};
    text_append(text, escape, letter == 'u' ? 6 : 2);
}

static void append_escaped(struct text *text, const char *data, size_t length)
{
    for (;;) {
        size_t plain = json_plain(data, length);
        text_append(text, data, plain);
        if (plain == length)
            return;
        append_escape(text, (unsigned char)data[plain]);
        data += plain + 1;
        length -= plain + 1;
    }
}

void text_json_string(struct text *text, const char *data, size_t length)
{
    text_reserve(text, length + 2);
    text_putc(text, '"');
    while (length) {
        size_t valid = utf8_valid(data, length);
        append_escaped(text, data, valid);
        if (valid == length)
            break;
        text_puts(text, "\xEF\xBF\xBD");
        data += valid + 1;
        length -= valid + 1;
    }
    text_putc(text, '"');
}

static int append_dump(const char *buffer, size_t size, void *data)
{
    struct text *text = data;
    text_append(text, buffer, size);
    return text->failed ? -1 : 0;
}

void text_json(struct text *text, const json_t *value)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    if (!text->failed && json_dump_callback(value, append_dump, text, flags) != 0)
        text->failed = true;
}

char *text_take(struct text *text, size_t *length)
{
    char *data = NULL;
    size_t taken = 0;
    if (text_reserve(text, 0)) { /* "" too is malloc'ed */
        data = text->data;
        taken = text->length;
        text->data = NULL;
    }
    text_release(text);
    if (length)
        *length = taken;
    return data;
}

char *text_keep(struct text *text, struct arena *memory)
{
    char *copy = text->failed ? NULL : arena_copy(memory, text_cstr(text), text->length);
    text_release(text);
    return copy;
}

const char *text_cstr(const struct text *text)
{
    return text->data ? text->data : "";
}

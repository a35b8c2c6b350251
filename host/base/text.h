/*
 * text - a growable byte string with its length and a sticky failure flag.
 *
 * Append freely and test `failed` once at the end: after a failed allocation every
 * further append does nothing.  `data` is NUL-terminated whenever it is not NULL, but
 * the bytes may hold NULs: `length` rules.  Not thread-safe.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

struct arena;

struct text {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
};

#define TEXT_INIT {0}

void text_release(struct text *text);
/* The same of what is secret: the bytes are overwritten first. */
void text_wipe(struct text *text);
/* Empties it and clears `failed`, but keeps the memory for reuse. */
void text_reset(struct text *text);

/* Makes room for `more` further bytes.  False (and failed) when there is no memory. */
bool text_reserve(struct text *text, size_t more);
/* Inline, because most of what the host does is to put texts together. */
static inline void text_append(struct text *text, const void *data, size_t length)
{
    if (!length || text->failed)
        return;
    if (length >= text->capacity - text->length && !text_reserve(text, length))
        return;
    memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

static inline void text_puts(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

static inline void text_putc(struct text *text, char byte)
{
    text_append(text, &byte, 1);
}

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A JSON string with its quotes.  The bytes are made valid UTF-8 first (utf8.h); control
 * characters, quotes and backslashes are escaped, everything else is left as it is. */
void text_json_string(struct text *text, const char *data, size_t length);
/* The compact JSON of a value, in insertion order, reals with 15 digits. */
void text_json(struct text *text, const json_t *value);

/* The bytes, malloc'ed and NUL-terminated, now the caller's; NULL when it failed.
 * `length` may be NULL.  Leaves the text empty. */
char *text_take(struct text *text, size_t *length);
/* The same in memory of the arena's. */
char *text_keep(struct text *text, struct arena *memory);
/* data, or "" when nothing was ever appended. */
const char *text_cstr(const struct text *text);

#endif

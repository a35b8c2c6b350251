#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT      "\xEF\xBF\xBD"
#define REPLACEMENT_SIZE (sizeof(REPLACEMENT) - 1)
#define MESSAGE_SIZE     sizeof(((struct error *)0)->message)
/* Longer than a message by a character, so that copy_valid() sees where to cut. */
#define DRAFT_SIZE       (MESSAGE_SIZE + 4)

static const char *const kind_names[] = {
#define X(name, text) [ERROR_##name] = text,
    ERROR_KINDS(X)
#undef X
};

/* Like utf8_append_clean(), but into a message: needs no memory, and what does not fit is
 * cut on a character border. */
static void copy_valid(char out[MESSAGE_SIZE], const char *data, size_t length)
{
    size_t used = 0;
    while (length) {
        size_t room = MESSAGE_SIZE - 1 - used;
        size_t valid = utf8_valid(data, length);
        size_t fits = utf8_cut(data, valid, room);
        memcpy(out + used, data, fits);
        used += fits;
        if (valid == length || fits < valid || room - fits < REPLACEMENT_SIZE)
            break;
        memcpy(out + used, REPLACEMENT, REPLACEMENT_SIZE);
        used += REPLACEMENT_SIZE;
        data += valid + 1;
        length -= valid + 1;
    }
    out[used] = '\0';
}

static void draft(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void draft(char *out, size_t size, const char *format, va_list args)
{
    if (vsnprintf(out, size, format, args) < 0)
        snprintf(out, size, "%s", format);
}

bool error_set(struct error *error, enum error_kind kind, const char *format, ...)
{
    if (!error)
        return false;
    /* Drafted elsewhere first: an argument may be the old message. */
    char text[DRAFT_SIZE];
    va_list args;
    va_start(args, format);
    draft(text, sizeof(text), format, args);
    va_end(args);

    error_clear(error);
    error->kind = kind;
    copy_valid(error->message, text, strlen(text));
    return false;
}

bool error_memory(struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "out of memory");
}

void error_prefix(struct error *error, const char *format, ...)
{
    if (!error)
        return;
    char text[DRAFT_SIZE + MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    draft(text, DRAFT_SIZE, format, args);
    va_end(args);

    size_t length = strlen(text);
    if (error->message[0])
        snprintf(text + length, sizeof(text) - length, ": %s", error->message);
    copy_valid(error->message, text, strlen(text));
}

void error_clear(struct error *error)
{
    if (!error)
        return;
    error->kind = ERROR_NONE;
    error->retryable = false;
    error->retry_after_ms = -1;
    error->status = 0;
    error->message[0] = '\0';
}

const char *error_kind_name(enum error_kind kind)
{
    size_t count = sizeof(kind_names) / sizeof(kind_names[0]);
    return (size_t)kind < count ? kind_names[kind] : kind_names[ERROR_INTERNAL];
}

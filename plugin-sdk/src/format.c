/* Formatted text, and text that is put together piece by piece. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MORTISE__PRINTF(2, 0)
static void format_any(struct mortise__text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(text->small, sizeof(text->small), format, args);
    text->bytes = length < 0 ? NULL : text->small;
    text->length = length < 0 ? 0 : (size_t)length;
    if (text->length >= sizeof(text->small)) {
        text->bytes = text->large = malloc(text->length + 1);
        if (text->large)
            vsnprintf(text->large, text->length + 1, format, again);
    }
    va_end(again);
}

void mortise__text_format(struct mortise__text *text, const char *format, va_list args)
{
    text->large = NULL;
    if (strcmp(format, "%s") != 0) {
        format_any(text, format, args);
        return;
    }
    const char *whole = va_arg(args, const char *);
    text->bytes = whole ? whole : "(null)";
    text->length = strlen(text->bytes);
}

void mortise__text_release(struct mortise__text *text)
{
    free(text->large);
}

size_t mortise__put(char *out, size_t size, size_t at, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && size > 0 && at + i < size - 1; i++)
        out[at + i] = bytes[i];
    return at + length;
}

void mortise__put_end(char *out, size_t size, size_t length)
{
    if (size > 0)
        out[length < size ? length : size - 1] = '\0';
}

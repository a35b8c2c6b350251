/* Formatted text, and text that is put together piece by piece. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

void mortise__text_format(struct mortise__text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(text->small, sizeof(text->small), format, args);
    text->bytes = length < 0 ? NULL : text->small;
    text->length = length < 0 ? 0 : (size_t)length;
    if (text->length >= sizeof(text->small)) {
        text->bytes = malloc(text->length + 1);
        if (text->bytes)
            vsnprintf(text->bytes, text->length + 1, format, again);
    }
    va_end(again);
}

void mortise__text_release(struct mortise__text *text)
{
    if (text->bytes != text->small)
        free(text->bytes);
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

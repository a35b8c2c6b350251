#include "newline.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool newline_is_crlf(const char *data, size_t length)
{
    const char *at = data, *end = data + length;
    bool is_there = false;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        if (at == data || at[-1] != '\r')
            return false;
        is_there = true;
        at++;
    }
    return is_there;
}

char *newline_to_crlf(const char *data, size_t length, size_t *out_length)
{
    char *out = length < SIZE_MAX / 2 ? malloc(length * 2 + 1) : NULL;
    size_t used = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if (data[i] == '\n' && (i == 0 || data[i - 1] != '\r'))
            out[used++] = '\r';
        out[used++] = data[i];
    }
    out[used] = '\0';
    *out_length = used;
    return out;
}

#include "base64.h"

#include <stdlib.h>
#include <sys/types.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buffer *out, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (; length > 0; at += 3) {
        size_t count = length < 3 ? length : 3;
        unsigned group = (unsigned)at[0] << 16 | (count > 1 ? (unsigned)at[1] << 8 : 0) |
                         (count > 2 ? (unsigned)at[2] : 0);
        char text[4];
        for (size_t i = 0; i < 4; i++)
            text[i] = i <= count ? alphabet[group >> (18 - 6 * i) & 63] : '=';
        buffer_put(out, text, 4);
        length -= count;
    }
}

/* -1: none of the alphabet. */
static int value_of(char byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    return byte == '+' || byte == '-' ? 62 : byte == '/' || byte == '_' ? 63 : -1;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Behind the last character: padding and white space alone. */
static bool is_end(const char *text, size_t length)
{
    size_t padding = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '=')
            padding++;
        else if (!is_space(text[i]))
            return false;
    return padding <= 2;
}

/* How many bytes; -1: it is no base64. */
static ssize_t decode(const char *text, size_t length, char *out)
{
    unsigned group = 0, digits = 0;
    ssize_t used = 0;
    size_t at = 0;
    for (; at < length && text[at] != '='; at++) {
        int value = value_of(text[at]);
        if (value < 0 && !is_space(text[at]))
            return -1;
        if (value < 0)
            continue;
        group = group << 6 | (unsigned)value;
        if (++digits % 4 != 1)
            out[used++] = (char)(group >> (6 - 2 * ((digits - 1) % 4)) & 255);
    }
    return digits % 4 != 1 && is_end(text + at, length - at) ? used : -1;
}

char *base64_decode(const char *text, size_t length, size_t *out_length)
{
    char *out = malloc(length / 4 * 3 + 4);
    ssize_t used = out ? decode(text, length, out) : -1;
    if (used < 0) {
        free(out);
        return NULL;
    }
    *out_length = (size_t)used;
    return out;
}

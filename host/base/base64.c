#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_append(struct text *out, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    if (!length || !text_reserve(out, (length + 2) / 3 * 4))
        return;
    char *to = out->data + out->length;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        *to++ = alphabet[group >> 18];
        *to++ = alphabet[group >> 12 & 63];
        *to++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[group & 63] : '=';
    }
    *to = '\0';
    out->length = (size_t)(to - out->data);
}

/* 0 to 63; more: it is no digit. */
static unsigned value_of(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return (unsigned)(digit - 'A');
    if (digit >= 'a' && digit <= 'z')
        return (unsigned)(digit - 'a') + 26;
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0') + 52;
    return digit == '+' || digit == '-' ? 62 : digit == '/' || digit == '_' ? 63 : 64;
}

/* How many of the characters are digits; false: nothing of this length is base64. */
static bool count_digits(const char *data, size_t length, size_t *digits)
{
    *digits = length;
    while (*digits && length - *digits < 2 && data[*digits - 1] == '=')
        --*digits;
    return *digits < length ? length % 4 == 0 : length % 4 != 1;
}

bool base64_read(struct text *out, const char *data, size_t length)
{
    size_t digits;
    if (!count_digits(data, length, &digits) || !text_reserve(out, digits / 4 * 3 + 3))
        return false;
    char *to = out->data + out->length;
    unsigned seen = 0;
    for (size_t i = 0; i < digits; i += 4) {
        size_t count = digits - i < 4 ? digits - i : 4;
        uint32_t group = 0;
        for (size_t j = 0; j < 4; j++) {
            unsigned value = j < count ? value_of(data[i + j]) : 0;
            seen |= value;
            group = group << 6 | (value & 63);
        }
        for (size_t j = 1; j < count; j++)
            *to++ = (char)(group >> (24 - 8 * j) & 255);
    }
    if (seen < 64)
        out->length = (size_t)(to - out->data);
    out->data[out->length] = '\0';
    return seen < 64;
}

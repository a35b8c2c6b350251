#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_append(struct text *out, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char four[4] = {alphabet[group >> 18], alphabet[group >> 12 & 63],
                        left > 1 ? alphabet[group >> 6 & 63] : '=',
                        left > 2 ? alphabet[group & 63] : '='};
        text_append(out, four, sizeof(four));
    }
}

/* 0 to 63, or -1. */
static int value_of(char digit)
{
    const char *at = digit ? strchr(alphabet, digit) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

static size_t padding(const char *data, size_t length)
{
    if (length == 0 || data[length - 1] != '=')
        return 0;
    return data[length - 2] == '=' ? 2 : 1;
}

bool base64_read(struct text *out, const char *data, size_t length)
{
    size_t start = out->length;
    size_t padded = length % 4 == 0 ? padding(data, length) : 0;
    bool good = length % 4 == 0;
    for (size_t i = 0; good && i < length; i += 4) {
        size_t digits = i + 4 == length ? 4 - padded : 4;
        uint32_t group = 0;
        for (size_t j = 0; j < 4; j++) {
            int value = j < digits ? value_of(data[i + j]) : 0;
            good = good && value >= 0;
            group = group << 6 | (uint32_t)(value & 63);
        }
        unsigned char three[3] = {(unsigned char)(group >> 16), (unsigned char)(group >> 8),
                                  (unsigned char)group};
        text_append(out, three, digits - 1);
    }
    if (good && !out->failed)
        return true;
    out->length = start;
    return false;
}

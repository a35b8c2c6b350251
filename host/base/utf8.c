#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

static inline bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The length of the valid character at p, or 0.  What may follow a lead byte differs for
 * the second byte only: that is where overlong forms, surrogates and too high ones show. */
static size_t character(const unsigned char *p, size_t left)
{
    unsigned char lead = p[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || left < length)
        return 0;
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!is_continuation(p[i]))
            return 0;
    return length;
}

size_t utf8_valid(const char *data, size_t length)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t i = 0;
    while (i < length) {
        uint64_t eight;
        while (length - i >= sizeof(eight)) {
            memcpy(&eight, p + i, sizeof(eight));
            if (eight & 0x8080808080808080)
                break;
            i += sizeof(eight);
        }
        /* The rest of these eight, or of a run that is not ASCII. */
        while (i < length) {
            size_t n = character(p + i, length - i);
            if (!n)
                return i;
            i += n;
            if (n == 1 && (i & 7) == 0)
                break;
        }
    }
    return length;
}

static void append_without_nul(struct text *out, const char *data, size_t length)
{
    const char *nul;
    while (length && (nul = memchr(data, '\0', length))) {
        size_t run = (size_t)(nul - data);
        text_append(out, data, run);
        text_puts(out, REPLACEMENT);
        data += run + 1;
        length -= run + 1;
    }
    text_append(out, data, length);
}

size_t utf8_count(const char *data, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += !is_continuation((unsigned char)data[i]);
    return count;
}

void utf8_append_clean(struct text *out, const char *data, size_t length)
{
    text_reserve(out, length);
    for (;;) {
        size_t valid = utf8_valid(data, length);
        append_without_nul(out, data, valid);
        if (valid == length)
            return;
        text_puts(out, REPLACEMENT);
        data += valid + 1;
        length -= valid + 1;
    }
}

/* At most three steps back: bytes that are no text must not swallow what is before them. */
size_t utf8_cut(const char *data, size_t length, size_t max)
{
    if (max >= length)
        return length;
    for (size_t back = 0; back <= 3 && back <= max; back++)
        if (!is_continuation((unsigned char)data[max - back]))
            return max - back;
    return max;
}

size_t utf8_cut_tail(const char *data, size_t length, size_t min)
{
    while (min < length && is_continuation((unsigned char)data[min]))
        min++;
    return min < length ? min : length;
}

/* Whether a terminal may be given this valid character. */
static bool is_visible(const unsigned char *p, size_t length)
{
    if (length == 1)
        return (p[0] >= 0x20 && p[0] != 0x7F) || p[0] == '\n' || p[0] == '\t';
    if (length == 2)
        return !(p[0] == 0xC2 && p[1] < 0xA0); /* C1: U+0080-009F */
    if (length == 3 && p[0] == 0xE2) {
        bool embeds = p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE;   /* U+202A-202E */
        bool isolates = p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9; /* U+2066-2069 */
        return !embeds && !isolates;
    }
    return true;
}

void utf8_append_visible(struct text *out, const char *data, size_t length)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t start = 0; /* of the run that is shown as it is */
    size_t i = 0;
    if (!length || !text_reserve(out, length))
        return;
    while (i < length) {
        size_t n = character(p + i, length - i);
        bool bad = n == 0 || p[i] == '\0';
        if (bad)
            n = 1;
        if (bad || !is_visible(p + i, n)) {
            text_append(out, data + start, i - start);
            if (bad)
                text_puts(out, REPLACEMENT);
            start = i + n;
        }
        i += n;
    }
    text_append(out, data + start, length - start);
}

void utf8_append_line(struct text *out, const char *data, size_t length)
{
    size_t start = out->length;
    utf8_append_visible(out, data, length);
    for (size_t i = start; i < out->length; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t')
            out->data[i] = ' ';
}

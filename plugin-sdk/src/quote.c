/* Writing JSON strings. */
#include "internal.h"

#include <string.h>

/* Writes the JSON escape of `c` to `out`, at most 6 bytes; returns its length. */
static size_t escape(char out[6], unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* what it is, what it is called */
    for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
        if (names[i] == (char)c) {
            out[0] = '\\';
            out[1] = names[i + 1];
            return 2;
        }
    }
    if (c >= 0x20) {
        out[0] = (char)c;
        return 1;
    }
    memcpy(out, "\\u00", 4);
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    return 6;
}

/* The length of the UTF-8 character that begins at `p`; 0 when there is none. */
static size_t character_length(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
                 (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90);
    return wrong ? 0 : length; /* too long, half of a pair, or beyond the last character */
}

size_t mortise_json_quote(char *out, size_t size, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t n = mortise__put(out, size, 0, "\"", 1);
    for (size_t i = 0; i < length;) {
        char escaped[6];
        size_t taken = character_length(bytes + i, length - i);
        if (taken == 0)
            n = mortise__put(out, size, n, "\xef\xbf\xbd", 3);
        else if (taken == 1)
            n = mortise__put(out, size, n, escaped, escape(escaped, bytes[i]));
        else
            n = mortise__put(out, size, n, text + i, taken);
        i += taken ? taken : 1;
    }
    n = mortise__put(out, size, n, "\"", 1);
    mortise__put_end(out, size, n);
    return n;
}

const char *mortise_quote(mortise_call *call, const char *text)
{
    size_t length = strlen(text);
    size_t size = mortise_json_quote(NULL, 0, text, length) + 1;
    char *out = mortise_alloc(call, size);
    if (!out)
        return "null";
    mortise_json_quote(out, size, text, length);
    return out;
}

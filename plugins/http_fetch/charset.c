#include "charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOOKED_AT = 2048 };
static const char fallback[] = "WINDOWS-1252";
static const char unreadable[] = "\xEF\xBF\xBD";

/* ---- its name ---- */

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

/* The name behind the first "charset =" of a text. */
static void read_name(const char *text, size_t length, char name[CHARSET_NAME])
{
    static const char word[] = "charset";
    const char *end = text + length;
    size_t used = 0;
    for (; (size_t)(end - text) > sizeof(word); text++)
        if (strncasecmp(text, word, sizeof(word) - 1) == 0) {
            const char *at = text + sizeof(word) - 1;
            while (at < end && (*at == ' ' || *at == '\t'))
                at++;
            if (at == end || *at != '=')
                continue;
            for (at++; at < end && strchr(" \t\"'", *at) && *at;)
                at++;
            while (at < end && is_name_byte(*at) && used < CHARSET_NAME - 1)
                name[used++] = *at++;
            break;
        }
    name[used] = '\0';
}

void charset_find(const char *type, const char *bytes, size_t length, bool is_html,
                  char name[CHARSET_NAME])
{
    name[0] = '\0';
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        memcpy(name, "UTF-8", sizeof("UTF-8"));
    else if (length >= 2 &&
             (memcmp(bytes, "\xFE\xFF", 2) == 0 || memcmp(bytes, "\xFF\xFE", 2) == 0))
        memcpy(name, "UTF-16", sizeof("UTF-16"));
    if (!name[0] && type)
        read_name(type, strlen(type), name);
    if (!name[0] && is_html)
        read_name(bytes, length < LOOKED_AT ? length : LOOKED_AT, name);
}

/* As browsers have it: who says Latin-1 means Windows-1252. */
static const char *known_name(const char *name)
{
    static const char *const latin[] = {"iso-8859-1", "iso8859-1", "latin1", "us-ascii", "ascii"};
    for (size_t i = 0; i < sizeof(latin) / sizeof(latin[0]); i++)
        if (strcasecmp(name, latin[i]) == 0)
            return fallback;
    return name;
}

/* ---- the bytes ---- */

struct converted {
    char *text;
    size_t length, capacity;
};

static bool make_room(struct converted *out, size_t bytes)
{
    if (out->capacity - out->length > bytes)
        return true;
    size_t capacity = out->capacity * 2 + bytes + 1;
    char *grown = realloc(out->text, capacity);
    if (!grown)
        return false;
    out->text = grown;
    out->capacity = capacity;
    return true;
}

static bool put_unreadable(struct converted *out)
{
    if (!make_room(out, 3))
        return false;
    memcpy(out->text + out->length, unreadable, 3);
    out->length += 3;
    return true;
}

/* False: no memory.  *bad counts what could not be read. */
static bool convert(iconv_t way, const char *bytes, size_t length, struct converted *out,
                    size_t *bad)
{
    char *in = (char *)(uintptr_t)bytes;
    while (length > 0) {
        if (!make_room(out, 64))
            return false;
        char *at = out->text + out->length;
        size_t left = out->capacity - out->length - 1;
        size_t result = iconv(way, &in, &length, &at, &left);
        out->length = (size_t)(at - out->text);
        if (result != (size_t)-1)
            continue;
        if (errno == E2BIG) {
            if (!make_room(out, out->capacity))
                return false;
            continue;
        }
        if (!put_unreadable(out)) /* a byte that is wrong, or a character without its end */
            return false;
        ++*bad;
        in++;
        length--;
        iconv(way, NULL, NULL, NULL, NULL);
    }
    return true;
}

/* NULL in out->text: no memory. */
static bool try_name(const char *name, const char *bytes, size_t length, struct converted *out,
                     size_t *bad)
{
    iconv_t way = iconv_open("UTF-8", name);
    *out = (struct converted){.capacity = length + length / 2 + 64};
    *bad = 0;
    if (way == (iconv_t)-1)
        return false;
    out->text = malloc(out->capacity);
    if (out->text && !convert(way, bytes, length, out, bad)) {
        free(out->text);
        out->text = NULL;
    }
    iconv_close(way);
    return true;
}

/* iconv also writes surrogates and what lies beyond U+10FFFF, in bytes of the same form: each of
 * them, of three bytes or more, becomes U+FFFD in its place.  NUL becomes a space. */
static void clean(struct converted *out)
{
    unsigned char *text = (unsigned char *)out->text;
    size_t used = 0;
    for (size_t at = 0; at < out->length;) {
        size_t end = at + 1;
        while (end < out->length && (text[end] & 0xC0) == 0x80)
            end++;
        bool is_bad = (text[at] == 0xED && end > at + 1 && text[at + 1] >= 0xA0) ||
                      (text[at] == 0xF4 && end > at + 1 && text[at + 1] >= 0x90) || text[at] > 0xF4;
        if (is_bad) {
            memcpy(text + used, unreadable, 3);
            used += 3;
        } else {
            memmove(text + used, text + at, end - at);
            used += end - at;
        }
        at = end;
    }
    for (size_t i = 0; i < used; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[used] = '\0';
    out->length = used;
}

char *charset_convert(const char *name, const char *bytes, size_t length, size_t *out_length)
{
    struct converted out;
    size_t bad;
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    bool is_known = name[0] && try_name(known_name(name), bytes, length, &out, &bad);
    if (!is_known && try_name("UTF-8", bytes, length, &out, &bad) && bad > 0) {
        free(out.text);
        try_name(fallback, bytes, length, &out, &bad);
    }
    if (!out.text)
        return NULL;
    clean(&out);
    *out_length = out.length;
    return out.text;
}

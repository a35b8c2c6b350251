/*
 * Where a JSON value ends, and whether it is one.  Nothing here recurses, and nothing reads
 * beyond the NUL of its text: each function takes a place in the text and returns the one behind
 * what it read, or NULL.
 */
#include "internal.h"

#include <string.h>

enum { DEPTH_MAX = 2048 }; /* as the host's reader */

const char *mortise__json_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* ---- strings ---- */

/* The value of four hexadecimal digits, or -1. */
static int read_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = p[i] ? strchr(digits, p[i]) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int)((digit - digits) % 16);
    }
    return value;
}

/* Writes a code point as UTF-8; returns its length. */
static size_t write_utf8(char out[4], uint32_t code)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[length == 1 ? 0 : length] | code);
    return length;
}

static const char *read_code_point(const char *p, char out[4], size_t *length)
{
    int high = read_hex4(p);
    if (high < 0 || (high >= 0xdc00 && high < 0xe000))
        return NULL; /* no digits, or the second half of a pair alone */
    p += 4;
    uint32_t code = high == 0 ? 0xfffd : (uint32_t)high;
    if (high >= 0xd800 && high < 0xdc00) {
        int low = p[0] == '\\' && p[1] == 'u' ? read_hex4(p + 2) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        code = 0x10000u + (((uint32_t)high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
        p += 6;
    }
    *length = write_utf8(out, code);
    return p;
}

/* Reads what follows a backslash. */
static const char *read_escape(const char *p, char out[4], size_t *length)
{
    static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* what it is called, what it is */
    if (*p == 'u')
        return read_code_point(p + 1, out, length);
    for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
        if (names[i] == *p) {
            out[0] = names[i + 1];
            *length = 1;
            return p + 1;
        }
    }
    return NULL;
}

const char *mortise__json_character(const char *p, char out[4], size_t *length)
{
    *length = 0;
    if (*p == '"')
        return p + 1;
    if ((unsigned char)*p < 0x20)
        return NULL; /* also the end of the text */
    if (*p == '\\')
        return read_escape(p + 1, out, length);
    out[0] = *p;
    *length = 1;
    return p + 1;
}

static const char *skip_string(const char *p)
{
    char ignored[4];
    size_t length = *p == '"';
    for (p++; length > 0;) {
        while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
            p++; /* most characters stand for themselves */
        p = mortise__json_character(p, ignored, &length);
        if (!p)
            return NULL;
        if (length == 0)
            return p;
    }
    return NULL;
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *p)
{
    size_t count = strspn(p, "0123456789");
    return count > 0 ? p + count : NULL;
}

const char *mortise__json_number(const char *p)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : skip_digits(p);
    if (p && *p == '.')
        p = skip_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p = skip_digits(p + (*p == '+' || *p == '-'));
    }
    return p;
}

static const char *skip_word(const char *p, const char *word)
{
    size_t length = strlen(word);
    return strncmp(p, word, length) == 0 ? p + length : NULL;
}

static const char *skip_scalar(const char *p)
{
    switch (*p) {
    case '"':
        return skip_string(p);
    case 't':
        return skip_word(p, "true");
    case 'f':
        return skip_word(p, "false");
    case 'n':
        return skip_word(p, "null");
    default:
        return mortise__json_number(p);
    }
}

/* ---- any value ---- */

/* The open brackets around a place: a bit for each, set for objects. */
struct nesting {
    size_t depth;
    unsigned char is_object[DEPTH_MAX / 8];
};

static bool inside_object(const struct nesting *nesting)
{
    size_t top = nesting->depth - 1;
    return nesting->is_object[top / 8] >> top % 8 & 1;
}

static bool enter(struct nesting *nesting, bool is_object)
{
    if (nesting->depth == DEPTH_MAX)
        return false;
    unsigned char *bits = &nesting->is_object[nesting->depth / 8];
    unsigned char bit = (unsigned char)(1u << nesting->depth % 8);
    *bits = (unsigned char)(is_object ? *bits | bit : *bits & ~bit);
    nesting->depth++;
    return true;
}

/* To the value behind a name and its colon. */
static const char *skip_name(const char *p)
{
    p = skip_string(mortise__json_space(p));
    if (p)
        p = mortise__json_space(p);
    return p && *p == ':' ? p + 1 : NULL;
}

/* To the first value behind an opening bracket, or behind it all when it is empty. */
static const char *open_bracket(struct nesting *nesting, const char *p, bool *is_empty)
{
    bool is_object = *p == '{';
    p = mortise__json_space(p + 1);
    *is_empty = *p == (is_object ? '}' : ']');
    if (*is_empty)
        return p + 1;
    if (!enter(nesting, is_object))
        return NULL;
    return is_object ? skip_name(p) : p;
}

/* From behind a value to the next one; *is_over when the outermost has ended. */
static const char *to_next(struct nesting *nesting, const char *p, bool *is_over)
{
    while (nesting->depth > 0) {
        bool is_object = inside_object(nesting);
        p = mortise__json_space(p);
        if (*p == ',')
            return is_object ? skip_name(p + 1) : p + 1;
        if (*p != (is_object ? '}' : ']'))
            return NULL;
        nesting->depth--;
        p++;
    }
    *is_over = true;
    return p;
}

const char *mortise__json_end(const char *p)
{
    struct nesting nesting;
    bool is_over = false;
    nesting.depth = 0;
    while (p && !is_over) {
        bool is_whole = true;
        p = mortise__json_space(p);
        p = *p == '{' || *p == '[' ? open_bracket(&nesting, p, &is_whole) : skip_scalar(p);
        if (p && is_whole)
            p = to_next(&nesting, p, &is_over);
    }
    return p;
}

size_t mortise_json_length(const char *json)
{
    const char *begin = mortise__json_space(json), *end = mortise__json_end(begin);
    return end ? (size_t)(end - begin) : 0;
}

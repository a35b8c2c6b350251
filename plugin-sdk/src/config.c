/* Reading the configuration. */
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The host gives a JSON object that it wrote itself, so this reader checks as much as it needs
 * for not running astray: a text that is no JSON ends in MORTISE_INVALID, never beyond its NUL.
 * Each function takes a place in the text and returns the one behind what it read, or NULL.
 */
static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

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

/* Reads what follows a backslash; `out` gets 1 to 4 bytes. */
static const char *read_escape(const char *p, char out[4], size_t *length)
{
    static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (*p != 'u') {
        for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
            if (names[i] == *p) {
                out[0] = names[i + 1];
                *length = 1;
                return p + 1;
            }
        }
        return NULL;
    }
    int high = read_hex4(p + 1);
    p += 5;
    if (high <= 0 || (high >= 0xdc00 && high < 0xe000))
        return NULL; /* no digits, NUL, or the second half of a pair alone */
    uint32_t code = (uint32_t)high;
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

/* Reads a string to `out`, cut at `size`; *length is that of the whole. */
static const char *read_string(const char *p, char *out, size_t size, size_t *length)
{
    size_t n = 0;
    if (*p++ != '"')
        return NULL;
    while (*p != '"') {
        char bytes[4] = {*p};
        size_t count = 1;
        if ((unsigned char)*p < 0x20)
            return NULL; /* also the end of the text */
        p = *p == '\\' ? read_escape(p + 1, bytes, &count) : p + 1;
        if (!p)
            return NULL;
        n = mortise__put(out, size, n, bytes, count);
    }
    mortise__put_end(out, size, n);
    *length = n;
    return p + 1;
}

/* Passes over a value of any kind.  Brackets inside it are counted, not matched by kind. */
static const char *skip_value(const char *p)
{
    size_t depth = 0, ignored;
    do {
        p = skip_space(p);
        if (*p == '"') {
            p = read_string(p, NULL, 0, &ignored);
            if (!p)
                return NULL;
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (depth > 0 && (*p == '}' || *p == ']')) {
            depth--;
            p++;
        } else if (depth > 0 && (*p == ',' || *p == ':')) {
            p++;
        } else {
            size_t word = strspn(p, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
            if (word == 0)
                return NULL;
            p += word;
        }
    } while (depth > 0);
    return p;
}

/* Finds where the value of `key` begins in the object `json`. */
static mortise_status find_member(const char *json, const char *key, const char **value)
{
    size_t key_length = strlen(key);
    const char *p = skip_space(json);
    if (*p++ != '{')
        return MORTISE_INVALID;
    p = skip_space(p);
    while (*p != '}') {
        char name[128];
        size_t length;
        p = read_string(p, name, sizeof(name), &length);
        if (!p)
            return MORTISE_INVALID;
        p = skip_space(p);
        if (*p++ != ':')
            return MORTISE_INVALID;
        p = skip_space(p);
        if (length == key_length && length < sizeof(name) && strcmp(name, key) == 0) {
            *value = p;
            return strncmp(p, "null", 4) == 0 ? MORTISE_NOT_FOUND : MORTISE_OK;
        }
        p = skip_value(p);
        if (!p)
            return MORTISE_INVALID;
        p = skip_space(p);
        if (*p == ',')
            p = skip_space(p + 1);
        else if (*p != '}')
            return MORTISE_INVALID;
    }
    return MORTISE_NOT_FOUND;
}

static mortise_status find_config(const mortise_host *host, const char *key, const char **value)
{
    const char *json = host->config(host);
    return json ? find_member(json, key, value) : MORTISE_NOT_FOUND;
}

/* Whether a word or a number that ends at `p` really ends there. */
static bool at_end_of_value(const char *p)
{
    return *p != '\0' && strchr(" \t\r\n,}", *p) != NULL;
}

mortise_status mortise_config_string(const mortise_host *host, const char *key, char *out,
                                     size_t size)
{
    const char *value;
    size_t length;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (!read_string(value, NULL, 0, &length) || length >= size)
        return MORTISE_INVALID;
    read_string(value, out, size, &length);
    return MORTISE_OK;
}

mortise_status mortise_config_number(const mortise_host *host, const char *key, double *out)
{
    const char *value;
    char *end;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (*value != '-' && (*value < '0' || *value > '9'))
        return MORTISE_INVALID;
    double number = strtod(value, &end);
    if (!at_end_of_value(end) || !isfinite(number))
        return MORTISE_INVALID;
    *out = number;
    return MORTISE_OK;
}

mortise_status mortise_config_integer(const mortise_host *host, const char *key, int64_t *out)
{
    const char *value;
    char *end;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (*value != '-' && (*value < '0' || *value > '9'))
        return MORTISE_INVALID;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (!at_end_of_value(end) || errno == ERANGE)
        return MORTISE_INVALID;
    *out = number;
    return MORTISE_OK;
}

mortise_status mortise_config_boolean(const mortise_host *host, const char *key, bool *out)
{
    const char *value;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (strncmp(value, "true", 4) == 0 && at_end_of_value(value + 4))
        *out = true;
    else if (strncmp(value, "false", 5) == 0 && at_end_of_value(value + 5))
        *out = false;
    else
        return MORTISE_INVALID;
    return MORTISE_OK;
}

/* Reads a list of strings into `list`, with its texts in `texts`; either may be NULL to only
 * count and measure.  Returns whether it is one. */
static bool read_strings(const char *p, char **list, char *texts, size_t *count, size_t *bytes)
{
    *count = *bytes = 0;
    if (*p++ != '[')
        return false;
    for (p = skip_space(p); *p != ']'; p = skip_space(p)) {
        size_t length;
        if (*count > 0 && *p++ != ',')
            return false;
        p = skip_space(p);
        if (list)
            list[*count] = texts + *bytes;
        p = read_string(p, texts ? texts + *bytes : NULL, texts ? SIZE_MAX : 0, &length);
        if (!p)
            return false;
        *count += 1;
        *bytes += length + 1;
    }
    return true;
}

mortise_status mortise_config_strings(const mortise_host *host, const char *key, char ***out)
{
    const char *value;
    size_t count, bytes;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (!read_strings(value, NULL, NULL, &count, &bytes))
        return MORTISE_INVALID;
    size_t pointers = (count + 1) * sizeof(char *);
    char **list = malloc(pointers + bytes);
    if (!list)
        return MORTISE_NO_MEMORY;
    read_strings(value, list, (char *)list + pointers, &count, &bytes);
    list[count] = NULL;
    *out = list;
    return MORTISE_OK;
}

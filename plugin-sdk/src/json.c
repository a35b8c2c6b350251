/* Typed values of JSON text. */
#include <mortise/json.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- strings and names ---- */

/* Reads the string at `p` to `out`, cut at `size`; *length is that of the whole. */
static const char *read_string(const char *p, char *out, size_t size, size_t *length)
{
    char bytes[4];
    size_t count = 1, n = 0;
    *length = 0;
    if (*p++ != '"')
        return NULL;
    while (count > 0) {
        p = mortise__json_character(p, bytes, &count);
        if (!p)
            return NULL;
        n = mortise__put(out, size, n, bytes, count);
    }
    mortise__put_end(out, size, n);
    *length = n;
    return p;
}

/* Reads the string at `p` and tells whether it is `key`. */
static const char *compare_string(const char *p, const char *key, bool *is_same)
{
    char bytes[4];
    size_t count = 1, left = strlen(key);
    *is_same = true;
    if (*p++ != '"')
        return NULL;
    while (count > 0) {
        p = mortise__json_character(p, bytes, &count);
        if (!p)
            return NULL;
        *is_same = *is_same && count <= left && memcmp(key, bytes, count) == 0;
        key += *is_same ? count : 0;
        left -= *is_same ? count : 0;
    }
    *is_same = *is_same && left == 0;
    return p;
}

/* From behind a name to its value. */
static const char *skip_colon(const char *p)
{
    p = mortise__json_space(p);
    return *p == ':' ? mortise__json_space(p + 1) : NULL;
}

/* ---- finding ---- */

/* To where the next item or name begins, from an opening bracket or from behind a value. */
static mortise_status step(const char *p, bool is_first, char closing, const char **place)
{
    p = mortise__json_space(p);
    if (*p == closing)
        return MORTISE_NOT_FOUND;
    if (!is_first && *p++ != ',')
        return MORTISE_INVALID;
    *place = mortise__json_space(p);
    return MORTISE_OK;
}

static const char *find_last(const char *object, const char *key, mortise_status *status)
{
    const char *p = object + 1, *found = NULL;
    bool is_first = true, is_it;
    while ((*status = step(p, is_first, '}', &p)) == MORTISE_OK) {
        p = compare_string(p, key, &is_it);
        p = p ? skip_colon(p) : NULL;
        if (p && is_it)
            found = p;
        p = p ? mortise__json_end(p) : NULL;
        is_first = false;
        if (!p) {
            *status = MORTISE_INVALID;
            break;
        }
    }
    return found;
}

/* Where the value of `key` begins; all of the object is read, and is JSON. */
static mortise_status find(const char *json, const char *key, const char **value)
{
    mortise_status status = MORTISE_OK;
    const char *p = mortise__json_space(json);
    if (key && *p != '{')
        return MORTISE_INVALID;
    if (key)
        p = find_last(p, key, &status);
    else if (!mortise__json_end(p))
        status = MORTISE_INVALID;
    if (status == MORTISE_INVALID)
        return status;
    if (!p || strncmp(p, "null", 4) == 0)
        return MORTISE_NOT_FOUND;
    *value = p;
    return MORTISE_OK;
}

/* The same for a value that begins with `first`. */
static mortise_status find_kind(const char *json, const char *key, char first, const char **value)
{
    const char *p;
    mortise_status status = find(json, key, &p);
    if (status != MORTISE_OK)
        return status;
    if (*p != first)
        return MORTISE_INVALID;
    *value = p;
    return MORTISE_OK;
}

/* ---- values ---- */

mortise_status mortise_json_string(const char *json, const char *key, char *out, size_t size)
{
    const char *value;
    size_t length;
    mortise_status status = find_kind(json, key, '"', &value);
    if (status != MORTISE_OK)
        return status;
    read_string(value, NULL, 0, &length);
    if (length >= size)
        return MORTISE_INVALID;
    read_string(value, out, size, &length);
    return MORTISE_OK;
}

/* A text in memory of the call, or without one in a block for free(). */
static mortise_status copy_text(mortise_call *call, const char *json, const char *key, char **out)
{
    const char *value;
    size_t length;
    mortise_status status = find_kind(json, key, '"', &value);
    if (status != MORTISE_OK)
        return status;
    read_string(value, NULL, 0, &length);
    char *text = call ? mortise_alloc(call, length + 1) : malloc(length + 1);
    if (!text)
        return MORTISE_NO_MEMORY;
    read_string(value, text, length + 1, &length);
    *out = text;
    return MORTISE_OK;
}

mortise_status mortise_json_text(mortise_call *call, const char *json, const char *key,
                                 const char **out)
{
    char *text;
    mortise_status status = copy_text(call, json, key, &text);
    if (status == MORTISE_OK)
        *out = text;
    return status;
}

mortise_status mortise_json_copy(const char *json, const char *key, char **out)
{
    return copy_text(NULL, json, key, out);
}

mortise_status mortise_json_value(const char *json, const char *key, const char **out)
{
    return find(json, key, out);
}

/* Where a number begins and ends. */
static mortise_status find_number(const char *json, const char *key, const char **value,
                                  const char **end)
{
    mortise_status status = find(json, key, value);
    if (status == MORTISE_OK) {
        *end = mortise__json_number(*value);
        status = *end ? MORTISE_OK : MORTISE_INVALID;
    }
    return status;
}

mortise_status mortise_json_number(const char *json, const char *key, double *out)
{
    const char *value, *end;
    char *stop;
    mortise_status status = find_number(json, key, &value, &end);
    if (status != MORTISE_OK)
        return status;
    double number = strtod(value, &stop);
    if (stop != end || !isfinite(number))
        return MORTISE_INVALID;
    *out = number;
    return MORTISE_OK;
}

mortise_status mortise_json_integer(const char *json, const char *key, int64_t *out)
{
    const char *value, *end;
    char *stop;
    mortise_status status = find_number(json, key, &value, &end);
    if (status != MORTISE_OK)
        return status;
    errno = 0;
    long long integer = strtoll(value, &stop, 10);
    if (stop != end) {
        double number = 0;
        status = mortise_json_number(value, NULL, &number);
        bool fits = status == MORTISE_OK && number >= -0x1p63 && number < 0x1p63;
        if (!fits || number != (double)(long long)number)
            return MORTISE_INVALID;
        integer = (long long)number;
    } else if (errno == ERANGE) {
        return MORTISE_INVALID;
    }
    *out = integer;
    return MORTISE_OK;
}

mortise_status mortise_json_boolean(const char *json, const char *key, bool *out)
{
    const char *value;
    mortise_status status = find(json, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (*value != 't' && *value != 'f')
        return MORTISE_INVALID;
    *out = *value == 't';
    return MORTISE_OK;
}

mortise_status mortise_json_object(const char *json, const char *key, const char **out)
{
    return find_kind(json, key, '{', out);
}

mortise_status mortise_json_array(const char *json, const char *key, const char **out)
{
    return find_kind(json, key, '[', out);
}

/* ---- lists and members ---- */

mortise_status mortise_json_next(const char *array, const char **item)
{
    const char *p = mortise__json_space(array), *next;
    if (*p != '[')
        return MORTISE_INVALID;
    p = *item ? mortise__json_end(*item) : p + 1;
    mortise_status status = p ? step(p, !*item, ']', &next) : MORTISE_INVALID;
    if (status == MORTISE_OK && !mortise__json_end(next))
        status = MORTISE_INVALID;
    if (status == MORTISE_OK)
        *item = next;
    return status;
}

mortise_status mortise_json_next_member(const char *object, const char **value, char *name,
                                        size_t size)
{
    const char *p = mortise__json_space(object), *begin;
    size_t length;
    if (*p != '{')
        return MORTISE_INVALID;
    p = *value ? mortise__json_end(*value) : p + 1;
    mortise_status status = p ? step(p, !*value, '}', &begin) : MORTISE_INVALID;
    if (status != MORTISE_OK)
        return status;
    p = read_string(begin, NULL, 0, &length);
    p = p ? skip_colon(p) : NULL;
    if (!p || !mortise__json_end(p))
        return MORTISE_INVALID;
    read_string(begin, name, size, &length);
    *value = p;
    return MORTISE_OK;
}

/* Reads a list of strings into `list`, with its texts in `texts`; either may be NULL to only
 * count and measure. */
static mortise_status read_strings(const char *array, char **list, char *texts, size_t *count,
                                   size_t *bytes)
{
    const char *item = NULL;
    mortise_status status;
    *count = *bytes = 0;
    while ((status = mortise_json_next(array, &item)) == MORTISE_OK) {
        size_t length;
        if (list)
            list[*count] = texts + *bytes;
        if (!read_string(item, texts ? texts + *bytes : NULL, texts ? SIZE_MAX : 0, &length))
            return MORTISE_INVALID;
        *count += 1;
        *bytes += length + 1;
    }
    return status == MORTISE_NOT_FOUND ? MORTISE_OK : status;
}

mortise_status mortise_json_strings(const char *json, const char *key, char ***out)
{
    const char *array;
    size_t count, bytes;
    mortise_status status = mortise_json_array(json, key, &array);
    if (status == MORTISE_OK)
        status = read_strings(array, NULL, NULL, &count, &bytes);
    if (status != MORTISE_OK)
        return status;
    size_t pointers = (count + 1) * sizeof(char *);
    char **list = malloc(pointers + bytes);
    if (!list)
        return MORTISE_NO_MEMORY;
    read_strings(array, list, (char *)list + pointers, &count, &bytes);
    list[count] = NULL;
    *out = list;
    return MORTISE_OK;
}

#include "base/json.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"
#define READ_FLAGS  (JSON_DECODE_ANY | JSON_ALLOW_NUL)
#define QUOTE_BYTES 40
/* Where json_parse() keeps a lone surrogate: private use, U+10D800 to U+10DFFF. */
#define LONE_BASE   0x100000u

static bool is_high(unsigned unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(unsigned unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* A code point above U+FFFF: four bytes. */
static void append_code(struct text *out, unsigned code)
{
    char bytes[4] = {(char)(0xF0 | code >> 18), (char)(0x80 | (code >> 12 & 63)),
                     (char)(0x80 | (code >> 6 & 63)), (char)(0x80 | (code & 63))};
    text_append(out, bytes, sizeof(bytes));
}

/* The unit of a \uXXXX at data, or -1. */
static int escaped_unit(const char *data, size_t left)
{
    if (left < 6 || data[0] != '\\' || data[1] != 'u')
        return -1;
    int unit = 0;
    for (int i = 2; i < 6; i++) {
        char c = data[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Repairs the escape (data[0] is the backslash) and returns how many bytes it took. */
static size_t repair_escape(struct text *out, const char *data, size_t left, bool *lone)
{
    int unit = escaped_unit(data, left);
    size_t length = unit >= 0 ? 6 : left < 2 ? left : 2;
    if (unit < 0 || (!is_high((unsigned)unit) && !is_low((unsigned)unit))) {
        text_append(out, data, length);
        return length;
    }
    if (is_high((unsigned)unit)) {
        int next = escaped_unit(data + 6, left - 6);
        if (next >= 0 && is_low((unsigned)next)) {
            text_append(out, data, 12);
            return 12;
        }
    }
    if (lone) {
        *lone = true;
        append_code(out, LONE_BASE + (unsigned)unit);
    } else {
        text_puts(out, REPLACEMENT);
    }
    return length;
}

static void repair_escapes(struct text *out, const char *data, size_t length, bool *lone)
{
    const char *end = data + length;
    while (data < end) {
        const char *escape = memchr(data, '\\', (size_t)(end - data));
        if (!escape)
            break;
        text_append(out, data, (size_t)(escape - data));
        data = escape + repair_escape(out, escape, (size_t)(end - escape), lone);
    }
    text_append(out, data, (size_t)(end - data));
}

static void repair(struct text *out, const char *data, size_t length, bool *lone)
{
    text_reserve(out, length);
    for (;;) {
        size_t valid = utf8_valid(data, length);
        repair_escapes(out, data, valid, lone);
        if (valid == length)
            return;
        text_puts(out, REPLACEMENT);
        data += valid + 1;
        length -= valid + 1;
    }
}

static bool is_repairable(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    return code == json_error_invalid_utf8 || code == json_error_invalid_syntax;
}

/* What stands around the place, on one line. */
static void quote(char out[QUOTE_BYTES + 1], const char *data, size_t length, int position)
{
    size_t place = position > 0 ? (size_t)position : 0;
    if (place > length)
        place = length;
    size_t from = place > QUOTE_BYTES / 2 ? place - QUOTE_BYTES / 2 : 0;
    from = utf8_cut_tail(data, length, from);
    size_t taken = utf8_cut(data + from, length - from, QUOTE_BYTES);
    for (size_t i = 0; i < taken; i++) {
        char byte = data[from + i];
        out[i] = byte;
        if ((unsigned char)byte < ' ')
            out[i] = ' ';
    }
    out[taken] = '\0';
}

static json_t *refuse(const char *data, size_t length, json_error_t *problem, struct error *error)
{
    char near[QUOTE_BYTES + 1];
    quote(near, data, length, problem->position);
    char *own_quote = strstr(problem->text, " near ");
    if (own_quote)
        *own_quote = '\0';
    error_set(error, ERROR_BAD_REQUEST, "invalid JSON at line %d, column %d near '%s': %s",
              problem->line, problem->column, near, problem->text);
    return NULL;
}

json_t *json_parse(const char *data, size_t length, bool *lone, struct error *error)
{
    json_error_t problem = {0};
    bool no_memory;
    if (lone)
        *lone = false;
    json_t *value = json_read(data ? data : "", length, READ_FLAGS, &problem, &no_memory);
    if (value)
        return value;
    if (no_memory) {
        error_memory(error);
        return NULL;
    }
    if (!is_repairable(&problem))
        return refuse(data, length, &problem, error);

    struct text repaired = TEXT_INIT;
    repair(&repaired, data, length, lone);
    if (!repaired.failed)
        value = json_read(text_cstr(&repaired), repaired.length, READ_FLAGS, &problem, &no_memory);
    if (repaired.failed || no_memory)
        error_memory(error);
    else if (!value)
        refuse(text_cstr(&repaired), repaired.length, &problem, error);
    text_release(&repaired);
    return value;
}

json_t *json_parse_wide(const char *data, size_t length, struct error *error)
{
    json_error_t problem = {0};
    bool no_memory;
    json_t *value = json_read(data, length, READ_FLAGS, &problem, &no_memory);
    if (!value && !no_memory && json_error_code(&problem) == json_error_numeric_overflow)
        value = json_read(data, length, READ_FLAGS | JSON_DECODE_INT_AS_REAL, &problem, &no_memory);
    return value ? value : json_parse(data, length, NULL, error);
}

/* The surrogate that json_parse() kept at data, or 0. */
static unsigned kept_unit(const unsigned char *data, size_t left)
{
    if (left < 4 || data[0] != 0xF4 || data[1] != 0x8D || data[2] < 0xA0)
        return 0;
    return 0xD000 | (data[2] & 63u) << 6 | (data[3] & 63u);
}

static void join_unit(struct json_half *half, struct text *out, unsigned unit)
{
    if (is_low(unit) && half->high) {
        append_code(out, 0x10000 + ((half->high - 0xD800) << 10) + (unit - 0xDC00));
        half->high = 0;
        return;
    }
    json_half_end(half, out);
    if (is_high(unit))
        half->high = unit;
    else
        text_puts(out, REPLACEMENT);
}

static void join_plain(struct json_half *half, struct text *out, const char *data, size_t length)
{
    if (!length)
        return;
    json_half_end(half, out);
    text_append(out, data, length);
}

void json_join_halves(struct json_half *half, struct text *out, const char *data, size_t length,
                      bool lone)
{
    size_t start = 0; /* of the run without kept surrogates */
    for (size_t i = 0; lone && i < length; i++) {
        unsigned unit = kept_unit((const unsigned char *)data + i, length - i);
        if (!unit)
            continue;
        join_plain(half, out, data + start, i - start);
        join_unit(half, out, unit);
        start = i + 4;
        i += 3;
    }
    if (start < length)
        join_plain(half, out, data + start, length - start);
}

void json_half_end(struct json_half *half, struct text *out)
{
    if (half->high)
        text_puts(out, REPLACEMENT);
    half->high = 0;
}

static bool is_listed(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

const char *json_unknown_member(const json_t *object, const char *const *known)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        if (!is_listed(known, key))
            return key;
    }
    return NULL;
}

const char *json_member_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *json_member_text(const json_t *object, const char *key, size_t *length)
{
    const json_t *member = json_object_get(object, key);
    *length = json_string_length(member);
    return json_string_value(member);
}

json_int_t json_member_integer(const json_t *object, const char *key, json_int_t fallback)
{
    const json_t *member = json_object_get(object, key);
    if (json_is_integer(member))
        return json_integer_value(member);
    if (!json_is_real(member))
        return fallback;
    double real = json_real_value(member);
    if (!(real >= -0x1p63 && real < 0x1p63)) /* the cast would be undefined */
        return fallback;
    json_int_t integer = (json_int_t)real;
    return (double)integer == real ? integer : fallback;
}

bool json_member_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

bool json_array_holds(const json_t *list, const json_t *value)
{
    size_t i;
    json_t *one;
    json_array_foreach (list, i, one)
        if (json_equal(one, value))
            return true;
    return false;
}

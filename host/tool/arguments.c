#include "tool/arguments.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

#define QUOTE_BYTES  300
#define STRICT_FLAGS (JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES)

struct span {
    const char *data;
    size_t length;
};

static struct span trim(struct span span)
{
    static const char space[] = " \t\r\n";
    while (span.length && memchr(space, span.data[0], 4)) {
        span.data++;
        span.length--;
    }
    while (span.length && memchr(space, span.data[span.length - 1], 4))
        span.length--;
    return span;
}

static bool begins(struct span span, const char *prefix)
{
    size_t length = strlen(prefix);
    return span.length >= length && !memcmp(span.data, prefix, length);
}

static bool ends(struct span span, const char *suffix)
{
    size_t length = strlen(suffix);
    return span.length >= length && !memcmp(span.data + span.length - length, suffix, length);
}

/* Strictly: unlike json_parse() without any repair, and a key may occur only once. */
static json_t *load(struct span span, size_t flags, json_error_t *problem)
{
    bool no_memory;
    *problem = (json_error_t){0};
    return json_read(span.data, span.length, STRICT_FLAGS | flags, problem, &no_memory);
}

/* A number that is too big for jansson is still JSON: the tool gets its digits. */
static json_t *parse(struct span span)
{
    json_error_t problem;
    json_t *value = load(span, 0, &problem);
    if (!value && json_error_code(&problem) == json_error_numeric_overflow)
        value = load(span, JSON_DECODE_INT_AS_REAL, &problem);
    return value;
}

static bool append_object(struct span span, struct text *out)
{
    json_t *value = parse(span);
    bool object = json_is_object(value);
    json_decref(value);
    if (object)
        text_append(out, span.data, span.length);
    return object;
}

/* ---- the repairs: each true when it was the one that was needed ---- */

/* ```json {…} ``` */
static bool repair_fence(struct span span, struct text *out)
{
    if (!begins(span, "```") || !ends(span, "```") || span.length < 6)
        return false;
    struct span inner = {span.data + 3, span.length - 6};
    while (inner.length && isalnum((unsigned char)inner.data[0])) {
        inner.data++;
        inner.length--;
    }
    return append_object(trim(inner), out);
}

/* "{\"city\":\"Oslo\"}" */
static bool repair_encoded_twice(struct span span, struct text *out)
{
    if (!begins(span, "\""))
        return false;
    json_t *string = parse(span);
    struct span inner = {json_string_value(string), json_string_length(string)};
    bool object = json_is_string(string) && append_object(trim(inner), out);
    json_decref(string);
    return object;
}

/* Nothing but closing tags, such as "</arguments></tool_call>". */
static bool is_closing_tags(struct span span)
{
    if (!span.length)
        return false;
    while (span.length) {
        const char *end = memchr(span.data, '>', span.length);
        if (!begins(span, "</") || !end || end == span.data + 2)
            return false;
        for (const char *c = span.data + 2; c < end; c++)
            if (!isalnum((unsigned char)*c) && !strchr("_-:.|", *c))
                return false;
        span.length -= (size_t)(end + 1 - span.data);
        span.data = end + 1;
        span = trim(span);
    }
    return true;
}

/* The object that the text begins with; *end is where it stops. */
static json_t *parse_first(struct span span, size_t *end)
{
    json_error_t place;
    json_t *first = load(span, JSON_DISABLE_EOF_CHECK, &place);
    *end = place.position > 0 ? (size_t)place.position : 0;
    if (json_is_object(first) && *end <= span.length)
        return first;
    json_decref(first);
    return NULL;
}

static bool is_repeated(const json_t *first, struct span rest)
{
    bool same = rest.length > 0;
    while (same && rest.length) {
        size_t end;
        json_t *next = parse_first(rest, &end);
        same = next && json_equal(first, next);
        json_decref(next);
        rest = trim((struct span){rest.data + end, rest.length - end});
    }
    return same;
}

/* {…}</tool_call> or {…}{…} with the same object */
static bool repair_tail(struct span span, struct text *out)
{
    if (!begins(span, "{"))
        return false;
    size_t end;
    json_t *first = parse_first(span, &end);
    if (!first)
        return false;
    struct span rest = trim((struct span){span.data + end, span.length - end});
    bool fold = is_closing_tags(rest) || is_repeated(first, rest);
    if (fold)
        text_append(out, span.data, end);
    json_decref(first);
    return fold;
}

/* Bytes that are no UTF-8 and lone surrogates: the value is there, its text needs repair. */
static bool repair_encoding(struct span span, struct text *out)
{
    json_error_t strict;
    json_decref(load(span, 0, &strict));
    if (json_error_code(&strict) == json_error_duplicate_key)
        return false;
    json_t *value = json_parse(span.data, span.length, NULL, NULL);
    bool object = json_is_object(value);
    if (object) {
        struct text clean = TEXT_INIT;
        utf8_append_clean(&clean, span.data, span.length);
        if (!append_object((struct span){text_cstr(&clean), clean.length}, out))
            text_json(out, value);
        text_release(&clean);
    }
    json_decref(value);
    return object;
}

/* ---- what cannot be repaired ---- */

static const char *type_words(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_NULL:
        return "null";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    default:
        return "a number";
    }
}

static bool refuse(struct span span, struct error *error)
{
    struct error reason = ERROR_INIT;
    json_error_t strict;
    json_t *lenient = json_parse(span.data, span.length, NULL, &reason);
    json_decref(load(span, 0, &strict));
    int shown = (int)utf8_cut(span.data, span.length, QUOTE_BYTES);
    const char *more = (size_t)shown < span.length ? "…" : "";

    if (lenient && !json_is_object(lenient))
        error_set(error, ERROR_BAD_REQUEST, "the arguments must be a JSON object, got %s: %.*s%s",
                  type_words(lenient), shown, span.data, more);
    else if (lenient && json_error_code(&strict) == json_error_duplicate_key)
        error_set(error, ERROR_BAD_REQUEST,
                  "the arguments are not valid JSON: line %d, column %d: %s; they were: %.*s%s",
                  strict.line, strict.column, strict.text, shown, span.data, more);
    else if (lenient || reason.kind == ERROR_INTERNAL)
        error_memory(error);
    else
        error_set(error, ERROR_BAD_REQUEST,
                  "the arguments are not valid JSON: %s; they were: %.*s%s", reason.message, shown,
                  span.data, more);
    json_decref(lenient);
    return false;
}

bool arguments_repair(const char *raw, size_t length, struct text *out, struct error *error)
{
    struct span span = trim((struct span){raw ? raw : "", raw ? length : 0});
    bool repaired = true;
    if (!span.length)
        text_puts(out, "{}");
    else
        repaired = append_object(span, out) || repair_fence(span, out) ||
                   repair_encoded_twice(span, out) || repair_tail(span, out) ||
                   repair_encoding(span, out);
    if (!repaired)
        return refuse(span, error);
    return !out->failed || error_memory(error);
}

#include "document.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <mortise/tool.h>

enum { MAX_NESTING = 4 }; /* of JSON in strings of JSON; below that it is plain text */

static bool redact_any(const struct secrets *secrets, const char *text, size_t length, int nesting,
                       struct buffer *out);

/* ---- strings ---- */

/* The end of the string that begins with the quote at `at`: behind its closing quote. */
static size_t string_end(const char *json, size_t length, size_t at)
{
    for (at++; at < length && json[at] != '"'; at++)
        if (json[at] == '\\')
            at++;
    return at < length ? at + 1 : length;
}

/* Replaces a string, quotes included, if there are secrets in it. */
static bool redact_string(const struct secrets *secrets, const char *json, size_t length,
                          int nesting, struct buffer *out)
{
    struct buffer clean = {0};
    json_t *string = json_loadb(json, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    out->failed |= !string;
    bool changed = string && redact_any(secrets, json_string_value(string),
                                        json_string_length(string), nesting, &clean);
    if (changed && !clean.failed) {
        size_t size = mortise_json_quote(NULL, 0, clean.data, clean.length) + 1;
        char *quoted = malloc(size);
        out->failed |= !quoted;
        if (quoted) {
            mortise_json_quote(quoted, size, clean.data, clean.length);
            buffer_add(out, quoted, size - 1);
        }
        free(quoted);
    } else {
        buffer_add(out, json, length);
    }
    out->failed |= clean.failed;
    buffer_release(&clean);
    json_decref(string);
    return changed;
}

/* Replaces a number or a word; a secret number becomes a string. */
static bool redact_word(const struct secrets *secrets, const char *json, size_t length,
                        struct buffer *out)
{
    static const char redacted[] = "\"" REDACTED "\"";
    struct buffer clean = {0};
    bool changed = secrets_redact(secrets, json, length, &clean);
    out->failed |= clean.failed;
    buffer_release(&clean);
    if (changed)
        buffer_add(out, redacted, sizeof(redacted) - 1);
    else
        buffer_add(out, json, length);
    return changed;
}

/* ---- a document ---- */

static bool is_said(const char *key, size_t length)
{
    static const char *const said[] = {"\"text\"", "\"output\"", "\"arguments\""};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (length == strlen(said[i]) && memcmp(key, said[i], length) == 0)
            return true;
    return false;
}

static bool is_key(const char *json, size_t length, size_t end)
{
    while (end < length && json[end] && strchr(" \t\r\n", json[end]))
        end++;
    return end < length && json[end] == ':';
}

/* Walks through valid JSON.  In an item only the strings that somebody said are looked at. */
static bool redact_json(const struct secrets *secrets, const char *json, size_t length,
                        bool is_item, int nesting, struct buffer *out)
{
    bool changed = false, said = false;
    for (size_t at = 0, end; at < length; at = end) {
        end = at + 1;
        if (json[at] == '"') {
            end = string_end(json, length, at);
            if (is_item && is_key(json, length, end)) {
                said = is_said(json + at, end - at);
                buffer_add(out, json + at, end - at);
            } else if (is_item && !said) {
                buffer_add(out, json + at, end - at);
            } else {
                changed |= redact_string(secrets, json + at, end - at, nesting, out);
            }
        } else if (strchr("{}[],: \t\r\n", json[at])) {
            buffer_add(out, json + at, 1);
        } else {
            while (end < length && !strchr("{}[],: \t\r\n\"", json[end]))
                end++;
            if (is_item)
                buffer_add(out, json + at, end - at);
            else
                changed |= redact_word(secrets, json + at, end - at, out);
        }
        if (out->failed)
            return true;
    }
    return changed;
}

static bool is_json(const char *text, size_t length)
{
    size_t start = 0;
    while (start < length && text[start] && strchr(" \t\r\n", text[start]))
        start++;
    if (start == length || !text[start] || !strchr("{[\"", text[start]))
        return false;
    json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    json_decref(value);
    return value != NULL;
}

static bool redact_any(const struct secrets *secrets, const char *text, size_t length, int nesting,
                       struct buffer *out)
{
    if (nesting < MAX_NESTING && is_json(text, length))
        return redact_json(secrets, text, length, false, nesting + 1, out);
    return secrets_redact(secrets, text, length, out);
}

bool document_redact(const struct secrets *secrets, const char *text, size_t length,
                     struct buffer *out)
{
    return redact_any(secrets, text, length, 0, out);
}

bool document_redact_item(const struct secrets *secrets, const char *json, size_t length,
                          struct buffer *out)
{
    return redact_json(secrets, json, length, true, 0, out);
}

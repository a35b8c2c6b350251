#include "provider/wire_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "provider/wire_error.h"

#define ODD_BYTES 200

static const char sentinel[] = "[DONE]";

void wire_input_release(struct wire_input *input)
{
    text_release(&input->odd);
}

/* ---- failing ---- */

void wire_fail(struct stream *stream, enum error_kind kind, bool retryable, const char *format, ...)
{
    char message[sizeof(stream->error.message)];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    struct error error = ERROR_INIT;
    error_set(&error, kind, "%s", message);
    error.retryable = retryable;
    stream_fail(stream, &error);
}

void wire_fail_memory(struct stream *stream)
{
    struct error error = ERROR_INIT;
    error_memory(&error);
    stream_fail(stream, &error);
}

bool wire_fail_event(struct stream *stream, const json_t *event)
{
    struct error error = ERROR_INIT;
    if (!wire_error_from_json(&error, 0, event))
        return false;
    stream_fail(stream, &error);
    return true;
}

void wire_note(struct stream *stream, const char *about, const char *word)
{
    struct text text = TEXT_INIT;
    text_printf(&text, "%s: '%s'", about, word);
    stream_status(stream, text_cstr(&text));
    text_release(&text);
}

void wire_note_cut(struct stream *stream, const char *word)
{
    if (strcasecmp(word, "model_context_window_exceeded") == 0 ||
        strcasecmp(word, "context_length_exceeded") == 0)
        stream->context_full = true;
}

/* ---- events ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void trim(const char **data, size_t *length)
{
    while (*length && is_blank((*data)[*length - 1]))
        --*length;
    while (*length && is_blank(**data))
        ++*data, --*length;
}

static bool is_sentinel(const char *data, size_t length)
{
    return length == strlen(sentinel) && !memcmp(data, sentinel, length);
}

/* Cut JSON is a lost piece of the response if anything but the end follows it; other text
 * is a heartbeat or an explanation. */
static void keep_odd(struct wire_input *input, const char *data, size_t length)
{
    input->broken = *data == '{' || *data == '[';
    text_reset(&input->odd);
    utf8_append_visible(&input->odd, data, length < ODD_BYTES ? length : ODD_BYTES);
}

static bool is_memory(const struct error *error)
{
    return error->kind == ERROR_INTERNAL;
}

/* A number that no computer holds does not make the rest unreadable. */
static json_t *parse(const char *data, size_t length, bool *lone, struct error *error)
{
    json_t *value = json_parse(data, length, lone, error);
    if (value || is_memory(error))
        return value;
    struct error of_wide = ERROR_INIT;
    return json_parse_wide(data, length, &of_wide);
}

json_t *wire_read_event(struct wire_input *input, struct stream *stream, const char *data,
                        size_t length, bool *lone)
{
    trim(&data, &length);
    if (stream->ended || input->done || !length)
        return NULL;
    if (input->broken && stream->stop == STOP_UNKNOWN) {
        wire_fail(stream, ERROR_SERVER, true, "the server sent an event that is no JSON: '%s'",
                  text_cstr(&input->odd));
        return NULL;
    }
    if (is_sentinel(data, length)) {
        input->done = true;
        return NULL;
    }
    struct error error = ERROR_INIT;
    json_t *event = parse(data, length, lone, &error);
    if (event)
        return event;
    if (is_memory(&error))
        stream_fail(stream, &error);
    else
        keep_odd(input, data, length);
    return NULL;
}

void wire_read_end(struct wire_input *input, struct stream *stream)
{
    if (stream->stop == STOP_UNKNOWN && input->odd.length)
        wire_fail(stream, ERROR_STREAM_TRUNCATED, true,
                  "the response ended before it was complete, after '%s'", input->odd.data);
}

/* Without a "data: [DONE]" that some servers put behind a document. */
static size_t cut_sentinel(const char *data, size_t length)
{
    static const char field[] = "data:";
    const char *front = data;
    size_t left = length;
    trim(&front, &left);
    const char *end = front + left;
    size_t size = strlen(sentinel);
    if (left < size || memcmp(end - size, sentinel, size) != 0)
        return length;
    end -= size;
    while (end > data && is_blank(end[-1]))
        end--;
    size = strlen(field);
    if ((size_t)(end - data) < size || memcmp(end - size, field, size) != 0)
        return length;
    return (size_t)(end - size - data);
}

json_t *wire_read_whole(struct stream *stream, const char *data, size_t length, bool *lone)
{
    struct error error = ERROR_INIT;
    json_t *document = parse(data, cut_sentinel(data, length), lone, &error);
    if (document)
        return document;
    if (!is_memory(&error)) {
        error.kind = ERROR_STREAM_TRUNCATED;
        error.retryable = true;
        error_prefix(&error, "cannot read the response");
    }
    stream_fail(stream, &error);
    return NULL;
}

bool wire_read_text(struct stream *stream, const json_t *value, struct text *scratch,
                    struct slice *out)
{
    *out = (struct slice){"", 0};
    if (!value || json_is_null(value))
        return true;
    if (json_is_string(value)) {
        *out = (struct slice){json_string_value(value), json_string_length(value)};
        return true;
    }
    text_reset(scratch);
    text_json(scratch, value);
    if (scratch->failed) {
        wire_fail_memory(stream);
        return false;
    }
    *out = (struct slice){text_cstr(scratch), scratch->length};
    return true;
}

json_t *wire_clean(const json_t *value)
{
    struct text plain = TEXT_INIT, clean = TEXT_INIT;
    struct json_half half = {0};
    text_json(&plain, value);
    json_join_halves(&half, &clean, text_cstr(&plain), plain.length, true);
    json_t *copy = plain.failed || clean.failed
                       ? NULL
                       : json_parse(text_cstr(&clean), clean.length, NULL, NULL);
    text_release(&plain);
    text_release(&clean);
    return copy;
}

void wire_keep_verbatim(struct stream *stream, struct text *array, bool whole)
{
    if (array->failed)
        wire_fail_memory(stream);
    else if (whole && array->length > strlen("[]"))
        stream_verbatim(stream, array->data, array->length);
    text_release(array);
}

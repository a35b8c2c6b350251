#include "provider/gemini_result.h"

#include <string.h>

#include "base/json.h"

/* More levels than the server reads are sent as text. */
#define MAX_DEPTH  20
/* A number of more digits than the server keeps is sent as text. */
#define MAX_DIGITS 15

/* ---- the response ---- */

static bool is_flat(const json_t *value, unsigned depth)
{
    const char *name;
    size_t i;
    json_t *member;
    if (depth > MAX_DEPTH)
        return false;
    json_object_foreach ((json_t *)(uintptr_t)value, name, member)
        if (!is_flat(member, depth + 1))
            return false;
    json_array_foreach (value, i, member)
        if (!is_flat(member, depth + 1))
            return false;
    return true;
}

static json_t *parse(const struct bytes *text, struct text *out)
{
    struct error error = ERROR_INIT;
    json_t *value = text->length ? json_parse(text->data, text->length, NULL, &error) : NULL;
    if (error.kind == ERROR_INTERNAL)
        out->failed = true;
    bool is_long = json_is_number(value) && text->length > MAX_DIGITS;
    if (value && !is_long && is_flat(value, 0))
        return value;
    json_decref(value);
    return NULL;
}

/* The text when it is JSON, else as a string. */
static void put_value(const json_t *value, const struct bytes *text, struct text *out)
{
    if (json_is_object(value))
        wire_put_object(out, text->data, text->length);
    else if (value)
        text_json(out, value);
    else
        text_json_string(out, text->data ? text->data : "", text->length);
}

/* `more` is said beside the result; empty: nothing is. */
static void put_response(const struct item *item, const struct text *more, struct text *out)
{
    json_t *value = item->is_error ? NULL : parse(&item->text, out);
    text_puts(out, ",\"response\":");
    if (json_is_object(value) && !more->length) {
        put_value(value, &item->text, out);
    } else {
        text_puts(out, item->is_error ? "{\"error\":" : "{\"result\":");
        put_value(value, &item->text, out);
        if (more->length) {
            text_puts(out, ",\"attachments\":");
            text_json_string(out, more->data, more->length);
        }
        text_putc(out, '}');
    }
    json_decref(value);
}

void gemini_make_result(const struct item *item, struct text *out)
{
    static const struct text nothing = TEXT_INIT;
    put_response(item, &nothing, out);
}

/* ---- its parts ---- */

struct parts {
    const struct wire_writer *writer;
    struct text *text; /* what is said of them in the response */
    bool places;       /* those that are somewhere else are put, not those that are here */
    size_t count;
};

static void say_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    if (choice->form == PART_TEXT)
        wire_put_text_part(parts->text, part);
}

static const char *mime_type_of(const struct attachment *part, const struct part_choice *choice)
{
    return choice->mime_type ? choice->mime_type : part->mime_type;
}

static void put_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    struct text *body = parts->writer->body;
    bool is_place = choice->form == PART_IMAGE_AT || choice->form == PART_PDF_AT;
    if (choice->form == PART_TEXT || is_place != parts->places)
        return;
    text_puts(body, parts->count++ ? "," : ",\"parts\":[");
    text_puts(body, is_place ? "{\"fileData\":{\"mimeType\":" : "{\"inlineData\":{\"mimeType\":");
    wire_put_string(body, mime_type_of(part, choice));
    if (is_place) {
        text_puts(body, ",\"fileUri\":");
        wire_put_string(body, part->uri);
    } else {
        text_puts(body, ",\"data\":\"");
        wire_put_data(body, part);
        text_putc(body, '"');
    }
    text_puts(body, "}}");
}

void gemini_put_result(const struct wire_writer *writer, size_t index)
{
    struct text more = TEXT_INIT, unsent = TEXT_INIT;
    struct parts parts = {.writer = writer, .text = &more};
    wire_each_part(writer, index, say_part, &parts);
    wire_put_unsent(writer, index, &unsent);
    if (unsent.length)
        text_printf(&more, "%s%s", more.length ? "\n" : "", unsent.data);
    put_response(writer->request->items[index], &more, writer->body);
    wire_each_part(writer, index, put_part, &parts);
    parts.places = true;
    wire_each_part(writer, index, put_part, &parts);
    if (parts.count)
        text_putc(writer->body, ']');
    if (more.failed || unsent.failed)
        writer->body->failed = true;
    text_release(&unsent);
    text_release(&more);
}

#include "provider/anthropic_parts.h"

#include <string.h>

struct parts {
    const struct wire_writer *writer;
    bool is_error;
    size_t count; /* of blocks */
};

static void begin_part(struct parts *parts, const char *type)
{
    text_printf(parts->writer->body, "%s{\"type\":\"%s\"", parts->count++ ? "," : "", type);
}

static void put_part_text(struct parts *parts, const struct text *text)
{
    if (text->failed)
        parts->writer->body->failed = true;
    if (wire_is_blank(text_cstr(text), text->length))
        return;
    begin_part(parts, "text");
    text_puts(parts->writer->body, ",\"text\":");
    text_json_string(parts->writer->body, text->data, text->length);
    text_putc(parts->writer->body, '}');
}

/* An image or a PDF. */
static void put_source(struct parts *parts, const struct attachment *part,
                       const struct part_choice *choice)
{
    struct text *body = parts->writer->body;
    if (choice->form == PART_IMAGE_AT || choice->form == PART_PDF_AT) {
        text_puts(body, ",\"source\":{\"type\":\"url\",\"url\":");
        wire_put_string(body, part->uri);
    } else {
        text_printf(body, ",\"source\":{\"type\":\"base64\",\"media_type\":\"%s\",\"data\":\"",
                    choice->mime_type);
        wire_put_data(body, part);
        text_putc(body, '"');
    }
    text_putc(body, '}');
}

static void put_title(struct text *body, const struct attachment *part)
{
    if (!part->name || wire_is_blank(part->name, strlen(part->name)))
        return;
    text_puts(body, ",\"title\":");
    wire_put_string(body, part->name);
}

/* A document, where the model takes any. */
static void put_text_part(struct parts *parts, const struct attachment *part)
{
    const struct part_rules *rules = parts->writer->request->parts;
    struct text *body = parts->writer->body;
    if (parts->is_error || !rules || !(rules->takes & PART_TAKES_PDF)) {
        struct text text = TEXT_INIT;
        wire_put_text_part(&text, part);
        put_part_text(parts, &text);
        text_release(&text);
        return;
    }
    begin_part(parts, "document");
    text_puts(body, ",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":");
    text_json_string(body, part->data.data, part->data.length);
    text_putc(body, '}');
    put_title(body, part);
    text_putc(body, '}');
}

static void put_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    bool is_image = choice->form == PART_IMAGE_BYTES || choice->form == PART_IMAGE_AT;
    if (choice->form == PART_TEXT) {
        put_text_part(parts, part);
        return;
    }
    begin_part(parts, is_image ? "image" : "document");
    put_source(parts, part, choice);
    if (!is_image)
        put_title(parts->writer->body, part);
    text_putc(parts->writer->body, '}');
}

void anthropic_put_result(const struct wire_writer *writer, size_t index)
{
    const struct item *item = writer->request->items[index];
    struct parts parts = {.writer = writer, .is_error = item->is_error};
    struct text text = TEXT_INIT;
    text_puts(writer->body, ",\"content\":[");
    text_append(&text, item->text.data, item->text.length);
    put_part_text(&parts, &text);
    wire_each_part(writer, index, put_part, &parts);
    text_reset(&text);
    wire_put_unsent(writer, index, &text);
    put_part_text(&parts, &text);
    text_release(&text);
    text_puts(writer->body, item->is_error ? "],\"is_error\":true" : "]");
}

/*
 * Requests of OpenAI Responses.  Model, tools, instructions and items stand first, and everything
 * that may change from one request to the next behind them, so that one request begins with the
 * bytes of the one before (D17).  Nothing is stored by the server: what a response is built on
 * goes along with every request, reasoning in its encrypted form.
 *
 * Kept bytes: of a message the whole item; of a call and of a result (without parts) what stands
 * behind the id.
 */
#include "provider/openai_responses.h"

#include <fnmatch.h>
#include <string.h>

#include "conversation/history.h"
#include "provider/wire_id.h"
#include "provider/wire_parts.h"
#include "provider/wire_walk.h"

/* ---- bytes of items ---- */

static void make_message(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    item_append_text(item, &text);
    text_printf(out, "{\"role\":\"%s\",\"content\":", item_role_name(item->role));
    text_json_string(out, text_cstr(&text), text.length);
    text_putc(out, '}');
    out->failed |= text.failed;
    text_release(&text);
}

static void make_call(const struct item *item, struct text *out)
{
    text_puts(out, ",\"name\":");
    wire_put_tool_name(out, item->name);
    text_puts(out, ",\"arguments\":");
    if (item->arguments_valid)
        wire_put_object_string(out, item->arguments.data, item->arguments.length);
    else
        text_puts(out, "\"{}\""); /* the result quotes what the model wrote */
    text_putc(out, '}');
}

static void put_output_string(struct text *out, const struct text *text)
{
    text_puts(out, ",\"output\":");
    text_json_string(out, text_cstr(text), text->length);
    text_putc(out, '}');
    out->failed |= text->failed;
}

static void make_output(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    wire_put_output_text(item, &text);
    put_output_string(out, &text);
    text_release(&text);
}

/* What is not "strict" takes any schema. */
static void make_tool(const struct tool_definition *tool, struct text *out)
{
    text_puts(out, "{\"type\":\"function\",");
    wire_put_tool(out, tool, "parameters");
    text_puts(out, ",\"strict\":false}");
}

/* ---- the parts of results ---- */

struct parts {
    struct text *body;
    struct text text; /* of the result, with its text parts */
    size_t count;     /* of what is no text */
    bool is_begun;    /* something stands in the list */
};

static void take_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    if (choice->form == PART_TEXT)
        wire_put_text_part(&parts->text, part);
    else
        parts->count++;
}

static void send_image(struct text *body, const struct attachment *part,
                       const struct part_choice *choice)
{
    text_puts(body, "{\"type\":\"input_image\",\"image_url\":");
    if (choice->form == PART_IMAGE_AT) {
        wire_put_string(body, part->uri);
    } else {
        wire_put_data_url(body, choice->mime_type, part);
    }
    text_putc(body, '}');
}

/* A file has a place or a name, not both. */
static void send_pdf(struct text *body, const struct attachment *part,
                     const struct part_choice *choice)
{
    if (choice->form == PART_PDF_AT) {
        text_puts(body, "{\"type\":\"input_file\",\"file_url\":");
        wire_put_string(body, part->uri);
    } else {
        text_puts(body, "{\"type\":\"input_file\",\"filename\":");
        wire_put_string(body, part->name ? part->name : "document.pdf");
        text_puts(body, ",\"file_data\":");
        wire_put_data_url(body, "application/pdf", part);
    }
    text_putc(body, '}');
}

static void send_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    if (choice->form == PART_TEXT)
        return;
    text_puts(parts->body, parts->is_begun ? "," : "");
    parts->is_begun = true;
    if (choice->form == PART_IMAGE_BYTES || choice->form == PART_IMAGE_AT)
        send_image(parts->body, part, choice);
    else
        send_pdf(parts->body, part, choice);
}

/* A list, if there is more than text.  It depends on the model, so its bytes are not kept. */
static void put_output_with_parts(const struct wire_writer *writer, size_t index)
{
    struct parts parts = {.body = writer->body};
    struct text unsent = TEXT_INIT;
    wire_put_output_text(writer->request->items[index], &parts.text);
    wire_each_part(writer, index, take_part, &parts);
    wire_put_unsent(writer, index, &unsent);
    if (unsent.length)
        text_printf(&parts.text, "%s%s", parts.text.length ? "\n" : "", unsent.data);
    parts.text.failed |= unsent.failed;
    if (parts.count) {
        text_puts(writer->body, ",\"output\":[");
        parts.is_begun = !wire_is_blank(text_cstr(&parts.text), parts.text.length);
        if (parts.is_begun) {
            text_puts(writer->body, "{\"type\":\"input_text\",\"text\":");
            text_json_string(writer->body, parts.text.data, parts.text.length);
            text_putc(writer->body, '}');
        }
        wire_each_part(writer, index, send_part, &parts);
        text_puts(writer->body, "]}");
        writer->body->failed |= parts.text.failed;
    } else {
        put_output_string(writer->body, &parts.text);
    }
    text_release(&unsent);
    text_release(&parts.text);
}

/* ---- items ---- */

struct items {
    struct wire_writer writer;
    struct wire_place place; /* state: something stands in the list */
    bool is_begun;
};

static struct text *begin_item(struct items *items)
{
    text_puts(items->writer.body, items->is_begun ? "," : "");
    items->is_begun = true;
    return items->writer.body;
}

static bool is_blank(const struct item *message)
{
    for (size_t i = 0; i < message->part_count; i++)
        if (!wire_is_blank(message->parts[i].text.data, message->parts[i].text.length))
            return false;
    return true;
}

static void put_message(void *self, size_t index)
{
    struct items *items = self;
    struct item *item = items->writer.request->items[index];
    if (item->role == ROLE_ASSISTANT && is_blank(item))
        return;
    begin_item(items);
    wire_put_item(&items->writer, item, make_message);
    wire_note_item(&items->writer, index, 0);
}

static void put_call(void *self, size_t index)
{
    struct items *items = self;
    struct item *item = items->writer.request->items[index];
    text_puts(begin_item(items), "{\"type\":\"function_call\",\"call_id\":");
    wire_put_call_id(&items->writer, item);
    wire_put_item(&items->writer, item, make_call);
    wire_note_item(&items->writer, index, 0);
}

static void put_output(void *self, const struct item *call, size_t index)
{
    struct items *items = self;
    struct item *item = items->writer.request->items[index];
    text_puts(begin_item(items), "{\"type\":\"function_call_output\",\"call_id\":");
    wire_put_call_id(&items->writer, call);
    if (item->attachment_count)
        put_output_with_parts(&items->writer, index);
    else
        wire_put_item(&items->writer, item, make_output);
    wire_note_item(&items->writer, index, 0);
}

/* A response to the letter: `count` items from `at` on. */
static void put_verbatim(void *self, size_t at, size_t count)
{
    struct items *items = self;
    const struct bytes *array = &items->writer.request->items[at]->origin->verbatim;
    text_append(begin_item(items), array->data + 1, array->length - 2);
    wire_note_item(&items->writer, at + count - 1, 0);
}

/* Before anything the user says. */
static void put_outputs(void *self, size_t from, size_t to)
{
    struct items *items = self;
    wire_each_output(items->writer.request, from, to, to, put_output, items);
}

static int state_of(const void *self)
{
    const struct items *items = self;
    return items->is_begun;
}

/* From item place.next on; reasoning that is not to the letter is refused. */
static void put_items(struct items *items)
{
    static const struct wire_walk walk = {state_of, put_message, put_call, put_verbatim,
                                          put_outputs};
    wire_walk(&items->writer, &items->place, &walk, items);
}

/* ---- the request ---- */

/* What stands before the items. */
static void put_head(struct items *items)
{
    const struct wire_writer *writer = &items->writer;
    const char *system = writer->request->system;
    struct text *body = writer->body;
    text_puts(body, "{\"model\":");
    wire_put_string(body, writer->model);
    wire_note_part(writer, PREFIX_MODEL);
    wire_put_tools(writer, make_tool);
    wire_note_part(writer, PREFIX_TOOLS);
    if (system && *system) {
        text_puts(body, ",\"instructions\":");
        wire_put_string(body, system);
    }
    text_puts(body, ",\"input\":[");
    wire_note_part(writer, PREFIX_SYSTEM);
    items->place.offset = body->length;
}

/* Models that do not reason refuse to be asked for what they would reason. */
static bool may_reason(const char *model)
{
    static const char *const others[] = {"gpt-3*", "gpt-4*", "chatgpt-*", "gpt-5-chat*",
                                         "gpt-5.?-chat*"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (fnmatch(others[i], model, 0) == 0)
            return false;
    return true;
}

static void put_settings(const struct wire_writer *writer)
{
    const struct request_config settings = wire_config(writer);
    const struct request_config *config = &settings;
    const struct request_prefix *prefix = writer->request->prefix;
    struct text *body = writer->body;
    if (may_reason(writer->model))
        text_puts(body, ",\"include\":[\"reasoning.encrypted_content\"]");
    wire_put_integer(body, "max_output_tokens", config->max_tokens);
    wire_put_real(body, "temperature", config->temperature);
    wire_put_real(body, "top_p", config->top_p);
    if (config->reasoning) {
        text_puts(body, ",\"reasoning\":{\"effort\":");
        wire_put_string(body, config->reasoning);
        text_putc(body, '}');
    }
    if (prefix) /* requests with the same key go to the same cache */
        text_printf(body, ",\"prompt_cache_key\":\"%.32s\"", prefix->sha256);
}

bool openai_responses_write(struct text *body, const struct profile *profile, const char *model,
                            const struct request *request, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct part_load load = {0};
    struct wire_ids ids = {0};
    struct items items = {
        .writer = {body, WIRE_OPENAI_RESPONSES, profile, model, request, &load, &ids}};
    if (!wire_resume(&items.writer, &items.place))
        put_head(&items);
    items.is_begun = items.place.state;
    put_items(&items);
    wire_ids_release(&ids);
    if (!wire_take_prefix(&items.writer, error))
        return false;
    wire_keep_start(&items.writer, &items.place);
    text_puts(body, "],\"stream\":true,\"store\":false");
    put_settings(&items.writer);
    text_putc(body, '}');
    return !body->failed || error_memory(error);
}

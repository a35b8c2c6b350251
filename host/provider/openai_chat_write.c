/*
 * Requests of Chat Completions.  Model, tools and messages stand first, and everything that
 * may change from one request to the next behind them, so that one request begins with the
 * bytes of the one before (D17).
 *
 * Kept bytes: of a message, reasoning or result (without parts) its text as a JSON string; of a
 * call the value of "function".
 */
#include "provider/openai_chat.h"

#include <string.h>

#include "conversation/history.h"
#include "conversation/item_view.h"
#include "provider/wire_id.h"
#include "provider/wire_parts.h"
#include "provider/wire_walk.h"

/* ---- bytes of items ---- */

static void make_text(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    item_append_text(item, &text);
    text_json_string(out, text_cstr(&text), text.length);
    if (text.failed)
        out->failed = true;
    text_release(&text);
}

static void make_reasoning(const struct item *item, struct text *out)
{
    text_json_string(out, item->text.data, item->text.length);
}

static void make_output(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    wire_put_output_text(item, &text);
    text_json_string(out, text_cstr(&text), text.length);
    if (text.failed)
        out->failed = true;
    text_release(&text);
}

static void make_function(const struct item *item, struct text *out)
{
    text_puts(out, "{\"name\":");
    wire_put_tool_name(out, item->name);
    text_puts(out, ",\"arguments\":");
    if (item->arguments_valid)
        wire_put_object_string(out, item->arguments.data, item->arguments.length);
    else
        text_puts(out, "\"{}\""); /* the result quotes what the model wrote */
    text_putc(out, '}');
}

static void make_tool(const struct tool_definition *tool, struct text *out)
{
    text_puts(out, "{\"type\":\"function\",\"function\":{");
    wire_put_tool(out, tool, "parameters");
    text_puts(out, "}}");
}

/* ---- messages ---- */

/* One message of the assistant: a run of its items, or the part of a run that is one
 * response without calls. */
struct group {
    size_t from, to;
    bool has_text, has_call;
};

/* Two responses that stand together stay two messages, except around calls: nothing may
 * come between a call and its result. */
static struct group next_group(const struct request *request, size_t from, size_t run_end)
{
    struct group group = {.from = from, .to = from};
    const struct origin *origin = request->items[from]->origin;
    for (; group.to < run_end; group.to++) {
        const struct item *item = request->items[group.to];
        bool another =
            item->origin != origin || (!origin && group.has_text && item->kind == ITEM_MESSAGE);
        if (another && group.to > from && !group.has_call)
            break;
        group.has_call |= item->kind == ITEM_CALL;
        group.has_text |= item->kind == ITEM_MESSAGE;
    }
    return group;
}

/* The strings of all items of a kind as one string. */
static void put_joined(const struct wire_writer *writer, const struct group *group,
                       enum item_kind kind, void (*make)(const struct item *, struct text *))
{
    struct text *body = writer->body;
    bool first = true;
    for (size_t i = group->from; i < group->to; i++) {
        struct item *item = writer->request->items[i];
        if (item->kind != kind)
            continue;
        size_t start = body->length;
        wire_put_item(writer, item, make);
        if (!first && !body->failed) { /* "a""b" becomes "ab" */
            memmove(body->data + start - 1, body->data + start + 1, body->length - start);
            body->length -= 2;
        }
        wire_note_item(writer, i, 1); /* the quote goes when another text joins */
        first = false;
    }
    if (first)
        text_puts(body, "\"\"");
}

static void put_calls(const struct wire_writer *writer, const struct group *group)
{
    struct text *body = writer->body;
    const char *glue = ",\"tool_calls\":[{\"id\":";
    for (size_t i = group->from; i < group->to; i++) {
        struct item *item = writer->request->items[i];
        if (item->kind != ITEM_CALL)
            continue;
        text_puts(body, glue);
        wire_put_call_id(writer, item);
        text_puts(body, ",\"type\":\"function\",\"function\":");
        wire_put_item(writer, item, make_function);
        wire_note_item(writer, i, 0);
        glue = "},{\"id\":";
    }
    text_puts(body, "}]");
}

/* ---- the parts of results ---- */

/*
 * A result of a tool is text only.  Text parts join it; images and PDFs follow in one message of
 * the user's, behind all results of the response, and the results name them by number.
 */
struct parts {
    const struct wire_writer *writer;
    struct text *text; /* of the result that is written */
    size_t count;      /* what was named, or sent, so far */
    size_t last;       /* the last result whose parts were sent */
};

static void name_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    if (choice->form == PART_TEXT) {
        wire_put_text_part(parts->text, part);
        return;
    }
    text_printf(parts->text, "%s[part %zu, below: ", parts->text->length ? "\n" : "",
                ++parts->count);
    attachment_describe(part, parts->text);
    text_putc(parts->text, ']');
}

/* The value of "content"; it depends on the model, so its bytes are not kept. */
static void put_output_with_parts(struct parts *parts, size_t index)
{
    const struct wire_writer *writer = parts->writer;
    struct text text = TEXT_INIT;
    parts->text = &text;
    wire_put_output_text(writer->request->items[index], &text);
    wire_each_part(writer, index, name_part, parts);
    struct text unsent = TEXT_INIT;
    wire_put_unsent(writer, index, &unsent);
    if (unsent.length)
        text_printf(&text, "%s%s", text.length ? "\n" : "", unsent.data);
    text_json_string(writer->body, text_cstr(&text), text.length);
    if (text.failed || unsent.failed)
        writer->body->failed = true;
    text_release(&unsent);
    text_release(&text);
}

static void send_image(struct text *body, const struct attachment *part,
                       const struct part_choice *choice)
{
    text_puts(body, ",{\"type\":\"image_url\",\"image_url\":{\"url\":");
    if (choice->form == PART_IMAGE_AT) {
        wire_put_string(body, part->uri);
    } else {
        wire_put_data_url(body, choice->mime_type, part);
    }
    text_puts(body, "}}");
}

static void send_pdf(struct text *body, const struct attachment *part)
{
    text_puts(body, ",{\"type\":\"file\",\"file\":{\"filename\":");
    wire_put_string(body, part->name ? part->name : "document.pdf");
    text_puts(body, ",\"file_data\":");
    wire_put_data_url(body, "application/pdf", part);
    text_puts(body, "}}");
}

static void send_part(void *data, const struct attachment *part, const struct part_choice *choice)
{
    struct parts *parts = data;
    struct text *body = parts->writer->body;
    if (choice->form == PART_TEXT)
        return;
    text_puts(body, parts->count ? "," : ",{\"role\":\"user\",\"content\":[");
    text_printf(body, "{\"type\":\"text\",\"text\":\"[part %zu]\"}", ++parts->count);
    if (choice->form == PART_PDF_BYTES)
        send_pdf(body, part);
    else
        send_image(body, part, choice);
}

static void send_parts_of(void *data, const struct item *call, size_t output)
{
    struct parts *parts = data;
    (void)call;
    parts->last = output > parts->last ? output : parts->last;
    wire_each_part(parts->writer, output, send_part, parts);
}

/* `from` as for put_outputs(). */
static void send_parts(const struct wire_writer *writer, const struct group *group, size_t from)
{
    struct parts parts = {.writer = writer};
    wire_each_output(writer->request, group->from, group->to, from, send_parts_of, &parts);
    if (!parts.count)
        return;
    text_puts(writer->body, "]}");
    wire_note_item(writer, parts.last, 0); /* all of a response are locked, or not the last */
}

static void put_output(void *data, const struct item *call, size_t output)
{
    struct parts *parts = data;
    const struct wire_writer *writer = parts->writer;
    text_puts(writer->body, ",{\"role\":\"tool\",\"tool_call_id\":");
    wire_put_call_id(writer, call);
    text_puts(writer->body, ",\"content\":");
    if (writer->request->items[output]->attachment_count)
        put_output_with_parts(parts, output);
    else
        wire_put_item(writer, writer->request->items[output], make_output);
    text_putc(writer->body, '}');
    wire_note_item(writer, output, 0);
}

/* In the order of the calls, each right behind the message that made it. */
static void put_outputs(const struct wire_writer *writer, const struct group *group, size_t from)
{
    struct parts parts = {.writer = writer};
    wire_each_output(writer->request, group->from, group->to, from, put_output, &parts);
    if (parts.count)
        send_parts(writer, group, from);
}

static bool has_readable_text(const struct wire_writer *writer, const struct group *group)
{
    for (size_t i = group->from; i < group->to; i++) {
        const struct item *item = writer->request->items[i];
        for (size_t part = 0; part < item->part_count; part++)
            if (item->parts[part].text.length)
                return true;
    }
    return false;
}

/* False: nothing of the group can be sent. */
static bool put_group(const struct wire_writer *writer, const struct group *group, bool first)
{
    struct text *body = writer->body;
    bool readable = has_readable_text(writer, group);
    if (!readable && !group->has_call)
        return false;
    text_puts(body, first ? "" : ",");
    text_puts(body, "{\"role\":\"assistant\",\"content\":");
    if (readable)
        put_joined(writer, group, ITEM_MESSAGE, make_text);
    else
        text_puts(body, "null");
    if (writer->profile->reasoning_field) { /* a message without it is refused (FAULTS 80) */
        text_printf(body, ",\"%s\":", writer->profile->reasoning_field);
        put_joined(writer, group, ITEM_REASONING, make_reasoning);
    }
    if (group->has_call)
        put_calls(writer, group);
    text_putc(body, '}');
    return true;
}

static void put_message(const struct wire_writer *writer, struct item *item, bool first)
{
    text_puts(writer->body, first ? "" : ",");
    text_puts(writer->body, item->role == ROLE_SYSTEM ? "{\"role\":\"system\",\"content\":"
                                                      : "{\"role\":\"user\",\"content\":");
    wire_put_item(writer, item, make_text);
    text_putc(writer->body, '}');
}

/* From item place->next on.  Where an item begins that is no part of a message before it, all
 * before it is settled: its calls have their results.  place->state: nothing stands before. */
static void put_messages(const struct wire_writer *writer, struct wire_place *place)
{
    const struct request *request = writer->request;
    bool first = place->state;
    for (size_t i = place->next; i < request->item_count;) {
        place->next = i;
        place->state = first;
        place->offset = writer->body->length;
        size_t run_end = wire_run_end(request, i);
        if (run_end > i) {
            struct group group = next_group(request, i, run_end);
            if (put_group(writer, &group, first))
                first = false;
            put_outputs(writer, &group, run_end);
            i = group.to;
            continue;
        }
        if (request->items[i]->kind == ITEM_MESSAGE) { /* results stand behind their calls */
            put_message(writer, request->items[i], first);
            wire_note_item(writer, i, 0);
            first = false;
        }
        i++;
    }
}

/* ---- the request ---- */

/* What stands before the items. */
static void put_head(const struct wire_writer *writer, struct wire_place *place)
{
    const char *system = writer->request->system;
    struct text *body = writer->body;
    text_puts(body, "{\"model\":");
    wire_put_string(body, writer->model);
    wire_note_part(writer, PREFIX_MODEL);
    wire_put_tools(writer, make_tool);
    wire_note_part(writer, PREFIX_TOOLS);
    text_puts(body, ",\"messages\":[");
    place->state = !system || !*system;
    if (!place->state) {
        text_puts(body, "{\"role\":\"system\",\"content\":");
        wire_put_string(body, system);
        text_putc(body, '}');
    }
    wire_note_part(writer, PREFIX_SYSTEM);
    place->offset = body->length;
}

static void put_settings(const struct wire_writer *writer)
{
    const struct request_config settings = wire_config(writer);
    const struct request_config *config = &settings;
    struct text *body = writer->body;
    const char *most = writer->profile->max_tokens_field;
    wire_put_integer(body, most ? most : "max_tokens", config->max_tokens);
    wire_put_real(body, "temperature", config->temperature);
    wire_put_real(body, "top_p", config->top_p);
    wire_put_integer(body, "top_k", config->top_k); /* of servers that have made a place for it */
    wire_put_strings(body, "stop", config->stop);
    if (config->reasoning) {
        text_puts(body, ",\"reasoning_effort\":");
        wire_put_string(body, config->reasoning);
    }
}

/* Requests with the same key go to the same cache. */
static void put_cache_key(const struct wire_writer *writer)
{
    const struct request_prefix *prefix = writer->request->prefix;
    if (prefix && writer->profile->takes_cache_key)
        text_printf(writer->body, ",\"prompt_cache_key\":\"%.32s\"", prefix->sha256);
}

bool openai_chat_write(struct text *body, const struct profile *profile, const char *model,
                       const struct request *request, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct part_load load = {0};
    struct wire_ids ids = {0};
    struct wire_writer writer = {body, WIRE_OPENAI_CHAT, profile, model, request, &load, &ids};
    struct wire_place place;
    if (!wire_resume(&writer, &place))
        put_head(&writer, &place);
    put_messages(&writer, &place);
    wire_ids_release(&ids);
    if (!wire_take_prefix(&writer, error))
        return false;
    wire_keep_start(&writer, &place);
    text_puts(body, "],\"stream\":true");
    if (!profile->no_stream_options)
        text_puts(body, ",\"stream_options\":{\"include_usage\":true}");
    put_settings(&writer);
    put_cache_key(&writer);
    text_putc(body, '}');
    return !body->failed || error_memory(error);
}

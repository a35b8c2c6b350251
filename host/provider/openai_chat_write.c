/*
 * Requests of Chat Completions.  What never changes within a session stands first and the
 * messages last, so that one request begins with the bytes of the one before (D17).
 *
 * Kept bytes: of a message, reasoning or result its text as a JSON string; of a call the
 * value of "function".
 */
#include "provider/openai_chat.h"

#include <string.h>
#include <strings.h>

#include "conversation/history.h"
#include "provider/wire_write.h"

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

/* The format has no place for "this went wrong" (D7). */
static void make_output(const struct item *item, struct text *out)
{
    static const char mark[] = "Error: ";
    const struct bytes *text = &item->text;
    if (!item->is_error || !strncasecmp(text->data, mark, 5)) {
        text_json_string(out, text->data, text->length);
        return;
    }
    struct text marked = TEXT_INIT;
    text_puts(&marked, mark);
    text_append(&marked, text->data, text->length);
    text_json_string(out, text_cstr(&marked), marked.length);
    if (marked.failed)
        out->failed = true;
    text_release(&marked);
}

static void make_function(const struct item *item, struct text *out)
{
    struct text arguments = TEXT_INIT;
    if (item->arguments_valid)
        wire_put_object(&arguments, item->arguments.data, item->arguments.length);
    else
        text_puts(&arguments, "{}"); /* the result quotes what the model wrote */
    text_puts(out, "{\"name\":");
    wire_put_tool_name(out, item->name);
    text_puts(out, ",\"arguments\":");
    text_json_string(out, text_cstr(&arguments), arguments.length);
    text_putc(out, '}');
    if (arguments.failed)
        out->failed = true;
    text_release(&arguments);
}

static void make_tool(const struct tool_definition *tool, struct text *out)
{
    text_puts(out, "{\"type\":\"function\",\"function\":{\"name\":");
    wire_put_string(out, tool->name);
    if (tool->description && *tool->description) {
        text_puts(out, ",\"description\":");
        wire_put_string(out, tool->description);
    }
    text_puts(out, ",\"parameters\":");
    text_puts(out, tool->schema && *tool->schema ? tool->schema
                                                 : "{\"type\":\"object\",\"properties\":{}}");
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
        glue = "},{\"id\":";
    }
    text_puts(body, "}]");
}

/* In the order of the calls, each right behind the message that made it. */
static void put_outputs(const struct wire_writer *writer, const struct group *group, size_t from)
{
    struct text *body = writer->body;
    for (size_t i = group->from; i < group->to; i++) {
        const struct item *call = writer->request->items[i];
        if (call->kind != ITEM_CALL)
            continue;
        struct item *output = wire_find_output(writer->request, call, from++);
        if (!output)
            continue;
        text_puts(body, ",{\"role\":\"tool\",\"tool_call_id\":");
        wire_put_call_id(writer, output);
        text_puts(body, ",\"content\":");
        wire_put_item(writer, output, make_output);
        text_putc(body, '}');
    }
}

/* These want their reasoning back and refuse a message without the field (FAULTS 80). */
static bool wants_reasoning(const char *provider)
{
    return !strcmp(provider, "deepseek") || !strcmp(provider, "kimi") ||
           !strcmp(provider, "moonshot");
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
    if (wants_reasoning(writer->provider)) {
        text_puts(body, ",\"reasoning_content\":");
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

static void put_messages(const struct wire_writer *writer)
{
    const struct request *request = writer->request;
    bool first = !request->system || !*request->system;
    if (!first) {
        text_puts(writer->body, "{\"role\":\"system\",\"content\":");
        wire_put_string(writer->body, request->system);
        text_putc(writer->body, '}');
    }
    for (size_t i = 0; i < request->item_count;) {
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
            first = false;
        }
        i++;
    }
}

/* ---- the request ---- */

static void put_settings(const struct wire_writer *writer)
{
    static const struct request_config unset = REQUEST_CONFIG_INIT;
    const struct request_config *config =
        writer->request->config ? writer->request->config : &unset;
    struct text *body = writer->body;
    bool is_openai = !strcmp(writer->provider, "openai");
    wire_put_integer(body, is_openai ? "max_completion_tokens" : "max_tokens", config->max_tokens);
    wire_put_real(body, "temperature", config->temperature);
    wire_put_real(body, "top_p", config->top_p);
    wire_put_strings(body, "stop", config->stop);
    if (config->reasoning) {
        text_puts(body, ",\"reasoning_effort\":");
        wire_put_string(body, config->reasoning);
    }
}

bool openai_chat_write(struct text *body, const char *provider, const char *model,
                       const struct request *request, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct wire_writer writer = {body, WIRE_OPENAI_CHAT, provider, model, request};
    text_puts(body, "{\"model\":");
    wire_put_string(body, model);
    text_puts(body, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    put_settings(&writer);
    wire_put_tools(&writer, make_tool);
    text_puts(body, ",\"messages\":[");
    put_messages(&writer);
    text_puts(body, "]}");
    return !body->failed || error_memory(error);
}

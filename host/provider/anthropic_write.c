/*
 * Requests of Anthropic Messages.  What never changes within a session stands first and the
 * messages last, so that one request begins with the bytes of the one before (D17).
 *
 * Kept bytes: of a message its text blocks; of a call its name and input; of a result its
 * content.  Neighbours of one role become one message (D13).
 */
#include "provider/anthropic.h"

#include <math.h>
#include <string.h>

#include "conversation/history.h"
#include "provider/wire_write.h"

/* The format wants a limit, whatever the settings say. */
#define DEFAULT_MAX_TOKENS  8192
#define LEAST_BUDGET_TOKENS 1024

/* ---- bytes of items ---- */

static void put_text_block(struct text *out, const char *data, size_t length)
{
    if (wire_is_blank(data, length))
        return; /* the server refuses it */
    text_puts(out, out->length ? ",{\"type\":\"text\",\"text\":" : "{\"type\":\"text\",\"text\":");
    text_json_string(out, data, length);
    text_putc(out, '}');
}

/* Nothing for an assistant's message without text; a user's message says so instead, because
 * without it two answers would stand together, or none would be asked for. */
static void make_message(const struct item *item, struct text *out)
{
    static const char empty[] = "(empty message)";
    for (size_t i = 0; i < item->part_count; i++)
        put_text_block(out, item->parts[i].text.data, item->parts[i].text.length);
    if (!out->length && item->role != ROLE_ASSISTANT)
        put_text_block(out, empty, strlen(empty));
}

/* There is no such role within a conversation. */
static void make_system(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    text_puts(&text, "<system>");
    item_append_text(item, &text);
    text_puts(&text, "</system>");
    put_text_block(out, text_cstr(&text), text.length);
    if (text.failed)
        out->failed = true;
    text_release(&text);
}

static void make_use(const struct item *item, struct text *out)
{
    text_puts(out, ",\"name\":");
    wire_put_tool_name(out, item->name);
    text_puts(out, ",\"input\":");
    if (item->arguments_valid)
        wire_put_object(out, item->arguments.data, item->arguments.length);
    else
        text_puts(out, "{}"); /* the result quotes what the model wrote */
}

static void make_result(const struct item *item, struct text *out)
{
    if (item->text.length) {
        text_puts(out, ",\"content\":");
        text_json_string(out, item->text.data, item->text.length);
    } else if (item->is_error) {
        text_puts(out, ",\"content\":\"Error\""); /* an error has to say something */
    }
    if (item->is_error)
        text_puts(out, ",\"is_error\":true");
}

static void make_tool(const struct tool_definition *tool, struct text *out)
{
    text_puts(out, "{\"name\":");
    wire_put_string(out, tool->name);
    if (tool->description && *tool->description) {
        text_puts(out, ",\"description\":");
        wire_put_string(out, tool->description);
    }
    text_puts(out, ",\"input_schema\":");
    text_puts(out, tool->schema && *tool->schema ? tool->schema
                                                 : "{\"type\":\"object\",\"properties\":{}}");
    text_putc(out, '}');
}

/* ---- messages ---- */

struct messages {
    struct wire_writer writer;
    enum item_role role; /* of the message that is open; ROLE_SYSTEM: none yet */
};

static void begin_block(struct messages *messages, enum item_role role)
{
    struct text *body = messages->writer.body;
    if (role == messages->role) {
        text_putc(body, ',');
        return;
    }
    if (messages->role != ROLE_SYSTEM)
        text_puts(body, "]},");
    else if (role == ROLE_ASSISTANT)
        text_puts(body, "{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                        "\"text\":\"(start of the conversation)\"}]},");
    text_printf(body, "{\"role\":\"%s\",\"content\":[", item_role_name(role));
    messages->role = role;
}

/* Begins a block unless it turns out that nothing is to be sent. */
static void put_message(struct messages *messages, struct item *item)
{
    struct text *body = messages->writer.body;
    struct messages before = *messages;
    size_t start = body->length;
    begin_block(messages, item->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER);
    size_t block = body->length;
    wire_put_item(&messages->writer, item, item->role == ROLE_SYSTEM ? make_system : make_message);
    if (body->length > block || body->failed)
        return;
    body->length = start;
    body->data[start] = '\0';
    *messages = before;
}

static void put_call(struct messages *messages, struct item *item)
{
    begin_block(messages, ROLE_ASSISTANT);
    text_puts(messages->writer.body, "{\"type\":\"tool_use\",\"id\":");
    wire_put_call_id(&messages->writer, item);
    wire_put_item(&messages->writer, item, make_use);
    text_putc(messages->writer.body, '}');
}

static void put_output(struct messages *messages, struct item *item)
{
    begin_block(messages, ROLE_USER);
    text_puts(messages->writer.body, "{\"type\":\"tool_result\",\"tool_use_id\":");
    wire_put_call_id(&messages->writer, item);
    wire_put_item(&messages->writer, item, make_result);
    text_putc(messages->writer.body, '}');
}

/* How many items from `at` on are a response of this provider and model that is whole and
 * can go back to the letter (D15); 0 = none. */
static size_t verbatim_count(const struct wire_writer *writer, size_t at, size_t run_end)
{
    struct item *const *items = writer->request->items;
    const struct origin *origin = items[at]->origin;
    if (!origin || origin->verbatim.length <= strlen("[]") ||
        strcmp(origin->model, writer->model) || strcmp(origin->provider, writer->provider) ||
        (at > 0 && items[at - 1]->origin == origin))
        return 0;
    size_t count = 0;
    while (at + count < run_end && items[at + count]->origin == origin)
        count++;
    return count == origin->item_count ? count : 0;
}

/* The assistant's items of [from, to). */
static void put_run(struct messages *messages, size_t from, size_t to)
{
    const struct wire_writer *writer = &messages->writer;
    for (size_t i = from; i < to;) {
        struct item *item = writer->request->items[i];
        size_t count = verbatim_count(writer, i, to);
        if (count) {
            const struct bytes *array = &item->origin->verbatim;
            begin_block(messages, ROLE_ASSISTANT);
            text_append(writer->body, array->data + 1, array->length - 2);
            i += count;
            continue;
        }
        if (item->kind == ITEM_CALL)
            put_call(messages, item);
        else if (item->kind == ITEM_MESSAGE)
            put_message(messages, item);
        /* Reasoning without its signature is refused. */
        i++;
    }
}

/* In the order of the calls, in one message, before anything the user says (FAULTS 100). */
static void put_outputs(struct messages *messages, size_t from, size_t to)
{
    const struct request *request = messages->writer.request;
    size_t place = to;
    for (size_t i = from; i < to; i++) {
        if (request->items[i]->kind != ITEM_CALL)
            continue;
        struct item *output = wire_find_output(request, request->items[i], place++);
        if (output)
            put_output(messages, output);
    }
}

static void put_messages(struct messages *messages)
{
    const struct request *request = messages->writer.request;
    for (size_t i = 0; i < request->item_count;) {
        size_t run_end = wire_run_end(request, i);
        if (run_end > i) {
            put_run(messages, i, run_end);
            put_outputs(messages, i, run_end);
            i = run_end;
            continue;
        }
        if (request->items[i]->kind == ITEM_MESSAGE) /* results stand behind their calls */
            put_message(messages, request->items[i]);
        i++;
    }
    if (messages->role == ROLE_SYSTEM) /* at least one message is wanted */
        text_puts(messages->writer.body, "{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                                         "\"text\":\"(empty message)\"}");
    text_puts(messages->writer.body, "]}");
}

/* ---- settings ---- */

/* Models before the one that decides by itself how long it thinks take a budget of tokens;
 * so do other makers' models behind this format. */
static bool takes_budget(const char *model)
{
    static const char *const old[] = {"claude-3",          "claude-haiku-4",    "claude-sonnet-4-0",
                                      "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-opus-4-0",
                                      "claude-opus-4-1",   "claude-opus-4-2",   "claude-opus-4-5"};
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        if (!strncmp(model, old[i], strlen(old[i])))
            return true;
    return strncmp(model, "claude-", 7) != 0;
}

static int64_t budget_of(const char *reasoning)
{
    return !strcmp(reasoning, "high") ? 24576 : !strcmp(reasoning, "low") ? 2048 : 8192;
}

/* Thinking counts against max_tokens: without a limit of the user's it comes on top. */
static void put_budget(const struct wire_writer *writer, const struct request_config *config)
{
    int64_t budget = budget_of(config->reasoning);
    int64_t most = config->max_tokens;
    if (most < 0)
        most = DEFAULT_MAX_TOKENS + budget;
    else if (budget > most / 2)
        budget = most / 2;
    wire_put_integer(writer->body, "max_tokens", most);
    if (budget >= LEAST_BUDGET_TOKENS)
        text_printf(writer->body, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":%lld}",
                    (long long)budget);
}

static void put_settings(const struct wire_writer *writer)
{
    static const struct request_config unset = REQUEST_CONFIG_INIT;
    const struct request_config *config =
        writer->request->config ? writer->request->config : &unset;
    struct text *body = writer->body;
    if (config->reasoning && takes_budget(writer->model)) {
        put_budget(writer, config);
    } else {
        wire_put_integer(body, "max_tokens",
                         config->max_tokens < 0 ? DEFAULT_MAX_TOKENS : config->max_tokens);
        if (config->reasoning) {
            text_puts(body, ",\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":");
            wire_put_string(body, config->reasoning);
            text_putc(body, '}');
        }
    }
    wire_put_strings(body, "stop_sequences", config->stop);
    if (config->reasoning)
        return; /* thinking excludes what follows */
    wire_put_real(body, "temperature", config->temperature);
    wire_put_real(body, "top_p", config->top_p);
    wire_put_integer(body, "top_k", config->top_k);
}

bool anthropic_write(struct text *body, const char *provider, const char *model,
                     const struct request *request, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct messages messages = {{body, WIRE_ANTHROPIC, provider, model, request}, ROLE_SYSTEM};
    text_puts(body, "{\"model\":");
    wire_put_string(body, model);
    text_puts(body, ",\"stream\":true");
    put_settings(&messages.writer);
    wire_put_tools(&messages.writer, make_tool);
    if (request->system && !wire_is_blank(request->system, strlen(request->system))) {
        text_puts(body, ",\"system\":");
        wire_put_string(body, request->system);
    }
    text_puts(body, ",\"messages\":[");
    put_messages(&messages);
    text_puts(body, "]}");
    return !body->failed || error_memory(error);
}

/*
 * Requests of Anthropic Messages.  Model, tools, system prompt and messages stand first, and
 * everything that may change from one request to the next behind them, so that one request
 * begins with the bytes of the one before (D17).  In a locked session three marks tell the
 * server what to cache: behind the tools, the system prompt and the last locked block.
 *
 * Kept bytes: of a message its text blocks; of a call its name and input; of a result its
 * content, if it has no parts.  Neighbours of one role become one message (D13).
 */
#include "provider/anthropic.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "conversation/history.h"
#include "provider/anthropic_parts.h"
#include "provider/wire_id.h"
#include "provider/wire_walk.h"

/* The format wants a limit, whatever the settings say. */
#define DEFAULT_MAX_TOKENS  8192
#define LEAST_BUDGET_TOKENS 1024
#define CACHE_MARK          ",\"cache_control\":{\"type\":\"ephemeral\"}"

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
    text_putc(out, '{');
    wire_put_tool(out, tool, "input_schema");
    text_putc(out, '}');
}

/* ---- messages ---- */

struct messages {
    struct wire_writer writer;
    enum item_role role; /* of the message that is open; ROLE_SYSTEM: none yet */
    size_t mark_at;      /* before the last byte of the last locked block; 0: none */
    bool is_marked;      /* that block is marked already */
    struct wire_place place;
    bool for_bedrock;
};

/* Item `index` ends here; `markable` tells whether its last block may be marked. */
static void note_item(struct messages *messages, size_t index, bool markable)
{
    const struct wire_writer *writer = &messages->writer;
    if (!writer->request->prefix || index >= writer->request->locked_items)
        return;
    wire_note_item(writer, index, 0);
    if (markable && !writer->body->failed)
        messages->mark_at = writer->body->length - 1;
}

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
static void put_message(void *self, size_t index)
{
    struct messages *messages = self;
    struct item *item = messages->writer.request->items[index];
    struct text *body = messages->writer.body;
    struct messages before = *messages;
    size_t start = body->length;
    begin_block(messages, item->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER);
    size_t block = body->length;
    wire_put_item(&messages->writer, item, item->role == ROLE_SYSTEM ? make_system : make_message);
    if (body->length > block || body->failed) {
        note_item(messages, index, true);
        return;
    }
    body->length = start;
    body->data[start] = '\0';
    *messages = before;
}

static void put_call(void *self, size_t index)
{
    struct messages *messages = self;
    struct item *item = messages->writer.request->items[index];
    begin_block(messages, ROLE_ASSISTANT);
    text_puts(messages->writer.body, "{\"type\":\"tool_use\",\"id\":");
    wire_put_call_id(&messages->writer, item);
    wire_put_item(&messages->writer, item, make_use);
    text_putc(messages->writer.body, '}');
    note_item(messages, index, true);
}

static void put_output(void *self, const struct item *call, size_t index)
{
    struct messages *messages = self;
    begin_block(messages, ROLE_USER);
    text_puts(messages->writer.body, "{\"type\":\"tool_result\",\"tool_use_id\":");
    wire_put_call_id(&messages->writer, call);
    struct item *item = messages->writer.request->items[index];
    if (item->attachment_count)
        anthropic_put_result(&messages->writer, index);
    else
        wire_put_item(&messages->writer, item, make_result);
    text_putc(messages->writer.body, '}');
    note_item(messages, index, true);
}

/* Thinking takes no mark. */
static bool ends_with_thinking(const struct bytes *array)
{
    json_t *blocks = json_parse(array->data, array->length, NULL, NULL);
    const json_t *last = json_array_get(blocks, json_array_size(blocks) - 1);
    const char *type = json_member_string(last, "type");
    bool thinking = !type || strstr(type, "thinking");
    json_decref(blocks);
    return thinking;
}

/* A response to the letter: `count` items from `at` on. */
static void put_verbatim(void *self, size_t at, size_t count)
{
    struct messages *messages = self;
    const struct request *request = messages->writer.request;
    const struct bytes *array = &request->items[at]->origin->verbatim;
    size_t last = at + count - 1;
    bool is_border = last + 1 == request->locked_items && request->prefix;
    begin_block(messages, ROLE_ASSISTANT);
    text_append(messages->writer.body, array->data + 1, array->length - 2);
    note_item(messages, last, !is_border || !ends_with_thinking(array));
}

/* In one message, before anything the user says (FAULTS 100). */
static void put_outputs(void *self, size_t from, size_t to)
{
    struct messages *messages = self;
    wire_each_output(messages->writer.request, from, to, to, put_output, messages);
}

static int state_of(const void *self)
{
    const struct messages *messages = self;
    return (int)messages->role;
}

/* From item place.next on; reasoning without its signature is refused. */
static void put_messages(struct messages *messages)
{
    static const struct wire_walk walk = {state_of, put_message, put_call, put_verbatim,
                                          put_outputs};
    wire_walk(&messages->writer, &messages->place, &walk, messages);
    if (messages->role == ROLE_SYSTEM) /* at least one message is wanted */
        text_puts(messages->writer.body, "{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                                         "\"text\":\"(empty message)\"}");
    text_puts(messages->writer.body, "]}");
}

/* The block was written before it was known to be the last one. */
static void mark_last_block(struct messages *messages)
{
    struct text *body = messages->writer.body;
    size_t at = messages->mark_at;
    size_t tail = body->length - at;
    if (!at || messages->is_marked || body->failed || body->data[at] != '}')
        return;
    text_puts(body, CACHE_MARK);
    if (body->failed)
        return;
    memmove(body->data + at + strlen(CACHE_MARK), body->data + at, tail);
    memcpy(body->data + at, CACHE_MARK, strlen(CACHE_MARK));
    prefix_insert(messages->writer.request->prefix, at, strlen(CACHE_MARK));
    if (at < messages->place.offset) {
        messages->place.offset += strlen(CACHE_MARK);
        messages->is_marked = true;
    }
}

/* ---- tools and system prompt ---- */

static void put_tools(const struct wire_writer *writer)
{
    struct text *body = writer->body;
    size_t start = body->length;
    wire_put_tools(writer, make_tool);
    if (!writer->request->prefix || body->length == start || body->failed)
        return;
    body->length -= strlen("}]");
    text_puts(body, CACHE_MARK "}]");
}

static void put_system(const struct wire_writer *writer)
{
    const char *system = writer->request->system;
    bool locked = writer->request->prefix != NULL;
    if (!system || wire_is_blank(system, strlen(system)))
        return;
    text_puts(writer->body, ",\"system\":");
    text_puts(writer->body, locked ? "[{\"type\":\"text\",\"text\":" : "");
    wire_put_string(writer->body, system);
    text_puts(writer->body, locked ? CACHE_MARK "}]" : "");
}

/* ---- settings ---- */

/* Amazon puts region and maker before the name: "us.anthropic.claude-…", or a whole ARN. */
static const char *plain_name(const char *model)
{
    static const char maker[] = "anthropic.";
    const char *at = strstr(model, maker);
    return at ? at + strlen(maker) : model;
}

/* Models before the one that decides by itself how long it thinks take a budget of tokens;
 * so do other makers' models behind this format. */
static bool takes_budget(const char *model)
{
    static const char *const old[] = {"claude-3",          "claude-haiku-4",    "claude-sonnet-4-0",
                                      "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-opus-4-0",
                                      "claude-opus-4-1",   "claude-opus-4-2",   "claude-opus-4-5"};
    model = plain_name(model);
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
    const struct request_config settings = wire_config(writer);
    const struct request_config *config = &settings;
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

/* What stands before the items. */
static void put_head(struct messages *messages)
{
    struct text *body = messages->writer.body;
    if (messages->for_bedrock) {
        text_puts(body, "{\"anthropic_version\":\"bedrock-2023-05-31\"");
    } else {
        text_puts(body, "{\"model\":");
        wire_put_string(body, messages->writer.model);
    }
    wire_note_part(&messages->writer, PREFIX_MODEL);
    put_tools(&messages->writer);
    wire_note_part(&messages->writer, PREFIX_TOOLS);
    put_system(&messages->writer);
    text_puts(body, ",\"messages\":[");
    wire_note_part(&messages->writer, PREFIX_SYSTEM);
    messages->place.state = ROLE_SYSTEM;
    messages->place.offset = body->length;
}

/* The state of a place: the role of the open message, and whether the last block is marked. */
enum { STATE_MARKED = 8 };

static void begin_messages(struct messages *messages)
{
    if (!wire_resume(&messages->writer, &messages->place))
        put_head(messages);
    messages->is_marked = messages->place.state & STATE_MARKED;
    messages->role = (enum item_role)(messages->place.state & ~STATE_MARKED);
}

static void keep_start(struct messages *messages)
{
    if (messages->is_marked)
        messages->place.state |= STATE_MARKED;
    wire_keep_start(&messages->writer, &messages->place);
}

static bool write_request(struct text *body, const struct profile *profile, const char *model,
                          const struct request *request, bool for_bedrock, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct part_load load = {0};
    struct wire_ids ids = {0};
    struct messages messages = {
        .writer = {body, WIRE_ANTHROPIC, profile, model, request, &load, &ids},
        .role = ROLE_SYSTEM,
        .for_bedrock = for_bedrock};
    begin_messages(&messages);
    put_messages(&messages);
    mark_last_block(&messages);
    wire_ids_release(&ids);
    if (!wire_take_prefix(&messages.writer, error))
        return false;
    keep_start(&messages);
    text_puts(body, for_bedrock ? "]" : "],\"stream\":true");
    put_settings(&messages.writer);
    text_putc(body, '}');
    return !body->failed || error_memory(error);
}

bool anthropic_write(struct text *body, const struct profile *profile, const char *model,
                     const struct request *request, struct error *error)
{
    return write_request(body, profile, model, request, false, error);
}

bool bedrock_write(struct text *body, const struct profile *profile, const char *model,
                   const struct request *request, struct error *error)
{
    return write_request(body, profile, model, request, true, error);
}

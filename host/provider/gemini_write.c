/*
 * Requests of Gemini.  Tools, system prompt and contents stand first, and everything that may
 * change from one request to the next behind them, so that one request begins with the bytes of the
 * one before (D17); the model is in the path.
 *
 * Kept bytes: of a message its text parts; of a call its name and arguments; of a result its
 * response, if it has no parts.  Neighbours of one role become one content (D13).
 */
#include "provider/gemini.h"

#include <string.h>

#include "base/json.h"
#include "conversation/history.h"
#include "provider/gemini_result.h"
#include "provider/wire_id.h"
#include "provider/wire_walk.h"

#define NAME_MAX_BYTES      64
#define LEAST_BUDGET_TOKENS 512
/* Documented for calls that another model made: they have no signature, and without one they are
 * refused. */
#define NO_SIGNATURE        ",\"thoughtSignature\":\"skip_thought_signature_validator\""

unsigned gemini_generation(const char *model)
{
    static const char name[] = "gemini-";
    const char *at = strstr(model, name);
    unsigned number = 0;
    for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9' && number < 1000; at++)
        number = number * 10 + (unsigned)(*at - '0');
    return number;
}

static bool begins_well(const char *name)
{
    return !*name || !strchr("0123456789-", *name);
}

static const char front[] = "functions.";

bool gemini_takes_name(const char *name)
{
    return begins_well(name) || strlen(name) <= NAME_MAX_BYTES - strlen(front);
}

/* One that is too long with the front before it can only have been called by another provider's
 * model. */
void gemini_put_name(struct text *out, const char *name)
{
    if (!strncmp(name, front, strlen(front)) && !begins_well(name + strlen(front)))
        name += strlen(front);
    if (begins_well(name)) {
        wire_put_tool_name(out, name);
        return;
    }
    struct text longer = TEXT_INIT;
    if (gemini_takes_name(name)) {
        wire_put_tool_name(&longer, name);
        text_printf(out, "\"%s%s", front, longer.length ? longer.data + 1 : "");
    } else {
        text_printf(&longer, "functions_%s", name);
        wire_put_tool_name(out, text_cstr(&longer));
    }
    out->failed |= longer.failed;
    text_release(&longer);
}

/* ---- bytes of items ---- */

static void put_text_part(struct text *out, const char *data, size_t length)
{
    if (wire_is_blank(data, length))
        return; /* an empty part is refused */
    text_puts(out, out->length ? ",{\"text\":" : "{\"text\":");
    text_json_string(out, data, length);
    text_putc(out, '}');
}

/* Nothing for an assistant's message without text; a user's message says so instead, because
 * without it nothing would be asked. */
static void make_message(const struct item *item, struct text *out)
{
    static const char empty[] = "(empty message)";
    for (size_t i = 0; i < item->part_count; i++)
        put_text_part(out, item->parts[i].text.data, item->parts[i].text.length);
    if (!out->length && item->role != ROLE_ASSISTANT)
        put_text_part(out, empty, strlen(empty));
}

/* There is no such role within a conversation. */
static void make_system(const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    text_puts(&text, "<system>");
    item_append_text(item, &text);
    text_puts(&text, "</system>");
    put_text_part(out, text_cstr(&text), text.length);
    if (text.failed)
        out->failed = true;
    text_release(&text);
}

static void make_call(const struct item *item, struct text *out)
{
    text_puts(out, "\"name\":");
    gemini_put_name(out, item->name);
    text_puts(out, ",\"args\":");
    if (item->arguments_valid)
        wire_put_object(out, item->arguments.data, item->arguments.length);
    else
        text_puts(out, "{}"); /* the result quotes what the model wrote */
}

static void make_tool(const struct tool_definition *tool, struct text *out)
{
    text_puts(out, "{\"name\":");
    gemini_put_name(out, tool->name);
    if (tool->description && *tool->description) {
        text_puts(out, ",\"description\":");
        wire_put_string(out, tool->description);
    }
    text_puts(out, ",\"parametersJsonSchema\":");
    text_puts(out, tool->schema);
    text_putc(out, '}');
}

/* ---- contents ---- */

struct contents {
    struct wire_writer writer;
    enum item_role role; /* of the content that is open; ROLE_SYSTEM: none yet */
    bool has_call;       /* it has one */
    struct wire_place place;
};

static void begin_part(struct contents *contents, enum item_role role)
{
    struct text *body = contents->writer.body;
    if (role == contents->role) {
        text_putc(body, ',');
        return;
    }
    if (contents->role != ROLE_SYSTEM)
        text_puts(body, "]},");
    else if (role == ROLE_ASSISTANT)
        text_puts(body,
                  "{\"role\":\"user\",\"parts\":[{\"text\":\"(start of the conversation)\"}]},");
    text_printf(body, "{\"role\":\"%s\",\"parts\":[", role == ROLE_ASSISTANT ? "model" : "user");
    contents->role = role;
    contents->has_call = false;
}

/* Begins a part unless it turns out that nothing is to be sent. */
static void put_message(void *self, size_t index)
{
    struct contents *contents = self;
    struct item *item = contents->writer.request->items[index];
    struct text *body = contents->writer.body;
    struct contents before = *contents;
    size_t start = body->length;
    begin_part(contents, item->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER);
    size_t part = body->length;
    wire_put_item(&contents->writer, item, item->role == ROLE_SYSTEM ? make_system : make_message);
    if (body->length > part || body->failed) {
        wire_note_item(&contents->writer, index, 0);
        return;
    }
    body->length = start;
    body->data[start] = '\0';
    *contents = before;
}

/* Without an id: only what the server gave is echoed (FAULTS 110).  Results are matched by their
 * order. */
static void put_call(void *self, size_t index)
{
    struct contents *contents = self;
    struct item *item = contents->writer.request->items[index];
    struct text *body = contents->writer.body;
    begin_part(contents, ROLE_ASSISTANT);
    text_puts(body, "{\"functionCall\":{");
    wire_put_item(&contents->writer, item, make_call);
    text_putc(body, '}');
    if (!contents->has_call && gemini_generation(contents->writer.model) >= 3)
        text_puts(body, NO_SIGNATURE); /* the first call of a content is looked at */
    text_putc(body, '}');
    contents->has_call = true;
    wire_note_item(&contents->writer, index, 0);
}

/* `has_id`: its call went with one. */
static void put_output(struct contents *contents, const struct item *call, size_t index,
                       bool has_id)
{
    const struct wire_writer *writer = &contents->writer;
    struct item *item = writer->request->items[index];
    begin_part(contents, ROLE_USER);
    text_puts(writer->body, "{\"functionResponse\":{");
    if (has_id) {
        text_puts(writer->body, "\"id\":");
        wire_put_string(writer->body, call->call_id);
        text_putc(writer->body, ',');
    }
    text_puts(writer->body, "\"name\":");
    gemini_put_name(writer->body, call->name);
    if (item->attachment_count)
        gemini_put_result(writer, index);
    else
        wire_put_item(writer, item, gemini_make_result);
    text_puts(writer->body, "}}");
    wire_note_item(writer, index, 0);
}

/* A response to the letter: `count` items from `at` on. */
static void put_verbatim(void *self, size_t at, size_t count)
{
    struct contents *contents = self;
    const struct request *request = contents->writer.request;
    const struct bytes *array = &request->items[at]->origin->verbatim;
    begin_part(contents, ROLE_ASSISTANT);
    text_append(contents->writer.body, array->data + 1, array->length - 2);
    for (size_t i = at; i < at + count; i++)
        contents->has_call |= request->items[i]->kind == ITEM_CALL;
    wire_note_item(&contents->writer, at + count - 1, 0);
}

/* ---- results ---- */

/* The parts of the response that went back to the letter, to see which calls have an id. */
struct verbatim {
    json_t *parts;
    size_t next;
    size_t end; /* the item behind its last */
};

/* Whether the next call of the response has an id of the server's. */
static bool next_has_id(struct verbatim *verbatim)
{
    for (; verbatim->next < json_array_size(verbatim->parts); verbatim->next++) {
        const json_t *part = json_array_get(verbatim->parts, verbatim->next);
        const json_t *call = json_object_get(part, "functionCall");
        if (!json_is_object(call))
            continue;
        verbatim->next++;
        return json_object_get(call, "id") != NULL;
    }
    return false;
}

static void look_into(struct contents *contents, struct verbatim *verbatim, size_t at, size_t to)
{
    const struct wire_writer *writer = &contents->writer;
    size_t count = at < verbatim->end ? 0 : wire_verbatim_count(writer, at, to);
    if (!count)
        return;
    const struct bytes *array = &writer->request->items[at]->origin->verbatim;
    struct error error = ERROR_INIT;
    json_decref(verbatim->parts);
    verbatim->parts = json_parse(array->data, array->length, NULL, &error);
    verbatim->next = 0;
    verbatim->end = at + count;
    if (!verbatim->parts && error.kind == ERROR_INTERNAL)
        writer->body->failed = true;
}

/* In the order of the calls, in one content, before anything the user says (FAULTS 116). */
static void put_outputs(void *self, size_t from, size_t to)
{
    struct contents *contents = self;
    const struct request *request = contents->writer.request;
    struct verbatim verbatim = {.end = from};
    size_t place = to;
    for (size_t i = from; i < to; i++) {
        const struct item *call = request->items[i];
        look_into(contents, &verbatim, i, to);
        if (call->kind != ITEM_CALL)
            continue;
        bool has_id = i < verbatim.end && next_has_id(&verbatim);
        size_t output = wire_find_output(request, call, place++);
        if (output < request->item_count)
            put_output(contents, call, output, has_id);
    }
    json_decref(verbatim.parts);
}

static int state_of(const void *self)
{
    const struct contents *contents = self;
    return (int)contents->role;
}

/* From item place.next on; what another model thought is its own. */
static void put_contents(struct contents *contents)
{
    static const struct wire_walk walk = {state_of, put_message, put_call, put_verbatim,
                                          put_outputs};
    wire_walk(&contents->writer, &contents->place, &walk, contents);
    if (contents->role == ROLE_SYSTEM) /* at least one content is wanted */
        text_puts(contents->writer.body,
                  "{\"role\":\"user\",\"parts\":[{\"text\":\"(empty message)\"}");
    text_puts(contents->writer.body, "]}");
}

/* ---- settings ---- */

static int64_t budget_of(const struct request_config *config)
{
    const char *reasoning = config->reasoning;
    int64_t budget = !strcmp(reasoning, "high") ? 24576 : !strcmp(reasoning, "low") ? 2048 : 8192;
    if (config->max_tokens >= 0 && budget > config->max_tokens / 2)
        budget = config->max_tokens / 2; /* thinking counts against the limit */
    return budget;
}

/* Models from the third generation on take a level, those before a budget of tokens. */
static void put_thinking(const struct wire_writer *writer, const struct request_config *config)
{
    struct text *body = writer->body;
    text_puts(body, ",\"thinkingConfig\":{\"includeThoughts\":true");
    if (gemini_generation(writer->model) >= 3) {
        /* The first of them has no level between. */
        bool is_first = strstr(writer->model, "gemini-3-pro") != NULL;
        bool is_medium = !strcmp(config->reasoning, "medium");
        text_puts(body, ",\"thinkingLevel\":");
        wire_put_string(body, is_first && is_medium ? "high" : config->reasoning);
    } else if (budget_of(config) >= LEAST_BUDGET_TOKENS) {
        wire_put_integer(body, "thinkingBudget", budget_of(config));
    }
    text_putc(body, '}');
}

static void put_settings(const struct wire_writer *writer)
{
    const struct request_config settings = wire_config(writer);
    const struct request_config *config = &settings;
    struct text *body = writer->body;
    text_puts(body, ",\"generationConfig\":{\"candidateCount\":1");
    wire_put_integer(body, "maxOutputTokens", config->max_tokens);
    wire_put_real(body, "temperature", config->temperature);
    wire_put_real(body, "topP", config->top_p);
    wire_put_integer(body, "topK", config->top_k);
    wire_put_strings(body, "stopSequences", config->stop);
    if (config->reasoning)
        put_thinking(writer, config);
    text_putc(body, '}');
}

/* ---- the request ---- */

static void put_system(const struct wire_writer *writer)
{
    const char *system = writer->request->system;
    if (!system || wire_is_blank(system, strlen(system)))
        return;
    text_puts(writer->body, "\"systemInstruction\":{\"parts\":[{\"text\":");
    wire_put_string(writer->body, system);
    text_puts(writer->body, "}]},");
}

/* What stands before the items. */
static void put_head(struct contents *contents)
{
    const struct wire_writer *writer = &contents->writer;
    text_putc(writer->body, '{');
    wire_note_part(writer, PREFIX_MODEL);
    wire_put_tools_within(writer, "\"tools\":[{\"functionDeclarations\":[", make_tool, "]}],");
    wire_note_part(writer, PREFIX_TOOLS);
    put_system(writer);
    text_puts(writer->body, "\"contents\":[");
    wire_note_part(writer, PREFIX_SYSTEM);
    contents->place.state = ROLE_SYSTEM;
    contents->place.offset = writer->body->length;
}

bool gemini_write(struct text *body, const struct profile *profile, const char *model,
                  const struct request *request, struct error *error)
{
    if (!request->paired && !history_check(request->items, request->item_count, error))
        return false;
    struct part_load load = {0};
    struct wire_ids ids = {0};
    struct contents contents = {
        .writer = {body, WIRE_GEMINI, profile, model, request, &load, &ids}};
    if (!wire_resume(&contents.writer, &contents.place))
        put_head(&contents);
    contents.role = (enum item_role)contents.place.state;
    put_contents(&contents);
    wire_ids_release(&ids);
    if (!wire_take_prefix(&contents.writer, error))
        return false;
    wire_keep_start(&contents.writer, &contents.place);
    text_putc(body, ']');
    put_settings(&contents.writer);
    text_putc(body, '}');
    return !body->failed || error_memory(error);
}

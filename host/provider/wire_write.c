#include "provider/wire_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/log.h"
#include "provider/schema_reduce.h"
#include "provider/schema_top.h"
#include "provider/wire_id.h"
#include "provider/wire_verbatim.h"

/* ---- bytes that are kept ---- */

/* Moves what was made into its place and appends it. */
static void keep(const struct wire_writer *writer, struct bytes *place, struct text *made)
{
    place->data = text_take(made, &place->length);
    if (place->data)
        text_append(writer->body, place->data, place->length);
    else
        writer->body->failed = true;
}

void wire_put_item(const struct wire_writer *writer, struct item *item,
                   void (*make)(const struct item *item, struct text *out))
{
    struct bytes *place = &item->wire[writer->format];
    if (place->data) {
        text_append(writer->body, place->data, place->length);
        return;
    }
    struct text made = TEXT_INIT;
    make(item, &made);
    keep(writer, place, &made);
}

/* A server refuses a request with all its tools for one that it cannot read (FAULTS 115). */
static bool takes(const struct wire_writer *writer, const struct tool_definition *tool)
{
    const struct profile *profile = writer->profile;
    bool taken = !profile->wire->takes_name || profile->wire->takes_name(tool->name);
    if (!taken)
        log_warning("tool '%s' is not offered: %s takes no such name; give it another one with "
                    "\"rename\" in its plugin's section",
                    tool->name, profile->name);
    return taken;
}

/* With its schema as the server takes it. */
static void make_tool(const struct tool_definition *tool, bool is_reduced,
                      void (*make)(const struct tool_definition *tool, struct text *out),
                      struct text *out)
{
    struct text schema = TEXT_INIT;
    struct tool_definition told = *tool;
    (is_reduced ? schema_put_reduced : schema_put_top)(tool->schema, &schema);
    told.schema = text_cstr(&schema);
    make(&told, out);
    out->failed |= schema.failed;
    text_release(&schema);
}

void wire_put_tools_within(const struct wire_writer *writer, const char *open,
                           void (*make)(const struct tool_definition *tool, struct text *out),
                           const char *close)
{
    struct toolset *tools = writer->request->tools;
    if (!tools || !tools->count)
        return;
    struct bytes *place = &tools->wire[writer->format];
    bool is_reduced = writer->profile->wire->reduced_schemas || writer->profile->reduced_schemas;
    if (place->data && tools->is_reduced[writer->format] == is_reduced) {
        text_append(writer->body, place->data, place->length);
        return;
    }
    free(place->data);
    *place = (struct bytes){0};
    tools->is_reduced[writer->format] = is_reduced;
    struct text made = TEXT_INIT;
    text_puts(&made, open);
    size_t empty = made.length;
    for (size_t i = 0; i < tools->count; i++) {
        if (!takes(writer, &tools->items[i]))
            continue;
        text_puts(&made, made.length > empty ? "," : "");
        make_tool(&tools->items[i], is_reduced, make, &made);
    }
    text_puts(&made, close);
    keep(writer, place, &made);
}

void wire_put_tools(const struct wire_writer *writer,
                    void (*make)(const struct tool_definition *tool, struct text *out))
{
    wire_put_tools_within(writer, ",\"tools\":[", make, "]");
}

/* ---- the prefix ---- */

void wire_note_part(const struct wire_writer *writer, enum prefix_part part)
{
    struct request_prefix *prefix = writer->request->prefix;
    if (!prefix)
        return;
    if (part == PREFIX_MODEL)
        prefix_begin(prefix);
    prefix->now.parts[part] = prefix->now.end = writer->body->length;
}

void wire_note_item(const struct wire_writer *writer, size_t index, size_t back)
{
    const struct request *request = writer->request;
    if (request->prefix && index < request->locked_items &&
        !prefix_note_item(request->prefix, index, writer->body->length - back))
        writer->body->failed = true;
}

bool wire_take_prefix(const struct wire_writer *writer, struct error *error)
{
    struct request_prefix *prefix = writer->request->prefix;
    return !prefix || prefix_take(prefix, writer->body, error);
}

/* ---- how the last request began ---- */

void request_start_reset(struct request_start *start)
{
    text_release(&start->bytes);
    *start = (struct request_start){0};
}

bool wire_resume(const struct wire_writer *writer, struct wire_place *place)
{
    const struct request *request = writer->request;
    const struct request_start *start = request->start;
    bool locked = request->prefix != NULL;
    *place = (struct wire_place){0};
    if (!start || !start->bytes.length || start->next > request->item_count ||
        start->locked != locked || (locked && !request->prefix->current))
        return false;
    text_append(writer->body, start->bytes.data, start->bytes.length);
    *place = (struct wire_place){.next = start->next,
                                 .state = start->state,
                                 .offset = start->bytes.length,
                                 .resumed = start->bytes.length};
    return true;
}

void wire_keep_start(const struct wire_writer *writer, const struct wire_place *place)
{
    struct request_start *start = writer->request->start;
    if (!start || writer->body->failed)
        return;
    if (!place->resumed)
        text_reset(&start->bytes);
    text_append(&start->bytes, writer->body->data + place->resumed, place->offset - place->resumed);
    start->next = place->next;
    start->state = place->state;
    start->locked = writer->request->prefix != NULL;
    if (start->bytes.failed)
        request_start_reset(start);
}

/* ---- to the letter ---- */

/* Looked at once: the items of a response do not change. */
static bool is_whole(enum wire_format format, struct item *const *items, size_t count)
{
    struct origin *origin = items[0]->origin;
    if (origin->state == ORIGIN_UNKNOWN)
        origin->state = wire_verbatim_matches(&origin->verbatim, format, items, count)
                            ? ORIGIN_WHOLE
                            : ORIGIN_TORN;
    return origin->state == ORIGIN_WHOLE;
}

size_t wire_verbatim_count(const struct wire_writer *writer, size_t at, size_t run_end)
{
    struct item *const *items = writer->request->items;
    const struct origin *origin = items[at]->origin;
    if (!origin || origin->verbatim.length <= strlen("[]") ||
        strcmp(origin->model, writer->model) || strcmp(origin->provider, writer->profile->name) ||
        (at > 0 && items[at - 1]->origin == origin))
        return 0;
    size_t count = 0;
    while (at + count < run_end && items[at + count]->origin == origin &&
           (items[at + count]->kind != ITEM_CALL || wire_keeps_id(writer, items[at + count])))
        count++;
    return count == origin->item_count && is_whole(writer->format, items + at, count) ? count : 0;
}

void wire_put_tool(struct text *out, const struct tool_definition *tool, const char *schema_key)
{
    text_puts(out, "\"name\":");
    wire_put_string(out, tool->name);
    if (tool->description && *tool->description) {
        text_puts(out, ",\"description\":");
        wire_put_string(out, tool->description);
    }
    text_printf(out, ",\"%s\":", schema_key);
    text_puts(out, tool->schema);
}

int64_t wire_thinking_budget(const char *reasoning)
{
    return !strcmp(reasoning, "high") ? 24576 : !strcmp(reasoning, "low") ? 2048 : 8192;
}

struct request_config wire_config(const struct wire_writer *writer)
{
    const struct request_config unset = REQUEST_CONFIG_INIT;
    const char *const *left_out = profile_unsupported(writer->profile);
    struct request_config config = writer->request->config ? *writer->request->config : unset;
    for (; left_out && *left_out; left_out++) {
        if (!strcmp(*left_out, "max_tokens"))
            config.max_tokens = unset.max_tokens;
        else if (!strcmp(*left_out, "temperature"))
            config.temperature = unset.temperature;
        else if (!strcmp(*left_out, "top_p"))
            config.top_p = unset.top_p;
        else if (!strcmp(*left_out, "top_k"))
            config.top_k = unset.top_k;
        else if (!strcmp(*left_out, "stop"))
            config.stop = unset.stop;
        else if (!strcmp(*left_out, "reasoning"))
            config.reasoning = unset.reasoning;
    }
    return config;
}

/* ---- values ---- */

void wire_put_string(struct text *out, const char *string)
{
    text_json_string(out, string, strlen(string));
}

void wire_put_integer(struct text *out, const char *key, int64_t value)
{
    if (value >= 0)
        text_printf(out, ",\"%s\":%lld", key, (long long)value);
}

void wire_put_real(struct text *out, const char *key, double value)
{
    if (!isfinite(value) || value < 0)
        return;
    text_printf(out, ",\"%s\":", key);
    json_t *real = json_real(value); /* printf() would follow the locale */
    if (real)
        text_json(out, real);
    else
        out->failed = true;
    json_decref(real);
}

void wire_put_strings(struct text *out, const char *key, const char *const *strings)
{
    if (!strings || !strings[0])
        return;
    text_printf(out, ",\"%s\":", key);
    for (size_t i = 0; strings[i]; i++) {
        text_putc(out, i ? ',' : '[');
        wire_put_string(out, strings[i]);
    }
    text_putc(out, ']');
}

void wire_put_object(struct text *out, const char *data, size_t length)
{
    bool lone = false;
    struct error error = ERROR_INIT;
    json_t *value = json_parse(data, length, &lone, &error);
    if (value && lone) {
        json_decref(value);
        value = json_parse(data, length, NULL, &error);
    }
    if (!value && error.kind == ERROR_INTERNAL)
        out->failed = true;
    else if (!json_is_object(value))
        text_puts(out, "{}");
    else if (lone)
        text_json(out, value);
    else
        text_append(out, data, length); /* to the letter: a parser may lose digits */
    json_decref(value);
}

void wire_put_output_text(const struct item *item, struct text *out)
{
    static const char mark[] = "Error";
    if (item->is_error && !item->text.length)
        text_puts(out, mark);
    else if (item->is_error && strncasecmp(item->text.data, mark, strlen(mark)) != 0)
        text_printf(out, "%s: ", mark);
    text_append(out, item->text.data, item->text.length);
}

void wire_put_object_string(struct text *out, const char *data, size_t length)
{
    struct text object = TEXT_INIT;
    wire_put_object(&object, data, length);
    text_json_string(out, text_cstr(&object), object.length);
    out->failed |= object.failed;
    text_release(&object);
}

/* ---- items ---- */

bool wire_is_blank(const char *data, size_t length)
{
    size_t i = 0;
    while (i < length && strchr(" \t\n\r\f\v", data[i]) && data[i])
        i++;
    return i == length;
}

static bool is_assistant(const struct item *item)
{
    return item->kind == ITEM_CALL || item->kind == ITEM_REASONING ||
           (item->kind == ITEM_MESSAGE && item->role == ROLE_ASSISTANT);
}

size_t wire_run_end(const struct request *request, size_t from)
{
    while (from < request->item_count && is_assistant(request->items[from]))
        from++;
    return from;
}

static bool answers(const struct item *item, const struct item *call)
{
    return item->kind == ITEM_OUTPUT && !strcmp(item->call_id, call->call_id);
}

size_t wire_find_output(const struct request *request, const struct item *call, size_t from)
{
    for (size_t i = from; i < request->item_count; i++)
        if (answers(request->items[i], call))
            return i;
    for (size_t i = 0; i < from && i < request->item_count; i++)
        if (answers(request->items[i], call))
            return i;
    return request->item_count;
}

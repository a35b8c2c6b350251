#include "provider/anthropic_block.h"

#include <stdlib.h>
#include <string.h>

#include "provider/wire_read.h"
#include "provider/wire_write.h"

struct anthropic_block *anthropic_block_new(json_int_t index)
{
    struct anthropic_block *block = calloc(1, sizeof(*block));
    if (block) {
        block->index = index;
        block->block = -1;
    }
    return block;
}

void anthropic_block_free(struct anthropic_block *block)
{
    if (!block)
        return;
    json_decref(block->start);
    text_release(&block->input);
    free(block);
}

/* ---- what is shown ---- */

/* A block of the stream is opened by its first byte, so that an empty one is never seen. */
static void show(struct anthropic_block *block, struct stream *stream, enum block_kind kind,
                 const json_t *string, bool lone)
{
    size_t length = json_string_length(string);
    if (!length || block->stopped)
        return;
    if (block->block < 0)
        block->block = stream_open(stream, kind, NULL, NULL);
    if (block->block >= 0)
        stream_delta(stream, block->block, json_string_value(string), length, lone);
}

static void open_call(struct anthropic_block *block, struct stream *stream, const json_t *start)
{
    char number[32];
    const json_t *id = json_object_get(start, "id");
    const char *string = json_string_value(id);
    const char *name = json_member_string(start, "name");
    if (json_is_integer(id)) {
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(id));
        string = number;
    }
    block->block = stream_open(stream, BLOCK_TOOL_USE, string, name ? name : "");
}

static enum anthropic_type type_of(const json_t *start)
{
    const char *type = json_member_string(start, "type");
    return !type                       ? ANTHROPIC_OTHER
           : !strcmp(type, "text")     ? ANTHROPIC_TEXT
           : !strcmp(type, "thinking") ? ANTHROPIC_THINKING
           : !strcmp(type, "tool_use") ? ANTHROPIC_TOOL_USE
                                       : ANTHROPIC_OTHER;
}

void anthropic_block_start(struct anthropic_block *block, struct stream *stream,
                           const json_t *start, bool lone)
{
    if (!json_is_object(start)) {
        block->strange = true;
        return;
    }
    block->type = type_of(start);
    block->start = lone ? wire_clean(start) : json_deep_copy(start);
    if (!block->start)
        wire_fail_memory(stream);
    else if (block->type == ANTHROPIC_TEXT)
        show(block, stream, BLOCK_TEXT, json_object_get(start, "text"), lone);
    else if (block->type == ANTHROPIC_THINKING)
        show(block, stream, BLOCK_REASONING, json_object_get(start, "thinking"), lone);
    else if (block->type == ANTHROPIC_TOOL_USE)
        open_call(block, stream, start);
}

/* ---- deltas ---- */

static void set(struct anthropic_block *block, struct stream *stream, const char *key,
                const json_t *value)
{
    json_t *copy = json_deep_copy(value);
    if (!copy || json_object_set_new(block->start, key, copy) != 0)
        wire_fail_memory(stream);
}

static void add_citation(struct anthropic_block *block, struct stream *stream,
                         const json_t *citation)
{
    json_t *list = json_object_get(block->start, "citations");
    if (!json_is_array(list)) {
        list = json_array();
        if (!list || json_object_set_new(block->start, "citations", list) != 0) {
            wire_fail_memory(stream);
            return;
        }
    }
    json_t *copy = json_deep_copy(citation);
    if (!copy || json_array_append_new(list, copy) != 0)
        wire_fail_memory(stream);
}

static void add_input(struct anthropic_block *block, struct stream *stream, const json_t *piece,
                      struct text *scratch, bool lone)
{
    struct slice text;
    if (!wire_read_text(stream, piece, scratch, &text) || !text.length || block->stopped)
        return;
    block->has_input = true;
    if (block->type == ANTHROPIC_TOOL_USE) {
        stream_delta(stream, block->block, text.data, text.length, lone);
        return;
    }
    json_join_halves(&block->half, &block->input, text.data, text.length, lone);
    if (block->input.failed)
        wire_fail_memory(stream);
}

static bool is(const char *type, const char *name)
{
    return !strcmp(type, name);
}

void anthropic_block_delta(struct anthropic_block *block, struct stream *stream,
                           const json_t *delta, struct text *scratch, bool lone)
{
    const char *type = json_member_string(delta, "type");
    if (!type || !block->start)
        block->strange = true;
    else if (is(type, "text_delta") && block->type == ANTHROPIC_TEXT)
        show(block, stream, BLOCK_TEXT, json_object_get(delta, "text"), lone);
    else if (is(type, "thinking_delta") && block->type == ANTHROPIC_THINKING)
        show(block, stream, BLOCK_REASONING, json_object_get(delta, "thinking"), lone);
    else if (is(type, "signature_delta") && json_object_get(delta, "signature"))
        set(block, stream, "signature", json_object_get(delta, "signature"));
    else if (is(type, "input_json_delta"))
        add_input(block, stream, json_object_get(delta, "partial_json"), scratch, lone);
    else if (is(type, "citations_delta") && json_object_get(delta, "citation"))
        add_citation(block, stream, json_object_get(delta, "citation"));
    else
        block->strange = true;
}

/* ---- the end of a block ---- */

/* The input that came with the start counts when no delta followed (FAULTS 102, 103). */
static void show_start_input(struct anthropic_block *block, struct stream *stream)
{
    struct text scratch = TEXT_INIT;
    struct slice text;
    const json_t *input = json_object_get(block->start, "input");
    bool empty = json_is_object(input) && !json_object_size(input);
    if (!block->has_input && !empty && wire_read_text(stream, input, &scratch, &text) &&
        text.length)
        stream_delta(stream, block->block, text.data, text.length, false);
    text_release(&scratch);
}

void anthropic_block_stop(struct anthropic_block *block, struct stream *stream)
{
    if (block->stopped)
        return;
    if (block->type == ANTHROPIC_TOOL_USE)
        show_start_input(block, stream);
    json_half_end(&block->half, &block->input);
    block->stopped = true;
    if (block->block >= 0)
        stream_close(stream, block->block);
}

/* ---- going back ---- */

static const struct text *shown(const struct anthropic_block *block, const struct stream *stream)
{
    static const struct text none = TEXT_INIT;
    return block->block < 0 ? &none : &stream->blocks.items[block->block]->text;
}

static void write_call(const struct anthropic_block *block, const struct stream *stream,
                       struct text *out)
{
    const struct text *input = shown(block, stream);
    const char *name = json_member_string(block->start, "name");
    text_puts(out, "{\"type\":\"tool_use\",\"id\":");
    wire_put_string(out, stream_call_id(stream, block->block));
    text_puts(out, ",\"name\":");
    wire_put_tool_name(out, name ? name : "");
    text_puts(out, ",\"input\":");
    wire_put_object(out, text_cstr(input), input->length);
    text_putc(out, '}');
}

/* The start, with what came behind it as its member `key` (NULL: nothing came): a string, or
 * for "input" the object that it is. */
static void write_start(const struct anthropic_block *block, const char *key,
                        const struct text *whole, struct text *out)
{
    const char *name;
    json_t *value;
    const char *glue = "{";
    json_object_foreach (block->start, name, value) {
        if (key && !strcmp(name, key))
            continue;
        text_puts(out, glue);
        wire_put_string(out, name);
        text_putc(out, ':');
        text_json(out, value);
        glue = ",";
    }
    if (key)
        text_printf(out, ",\"%s\":", key);
    if (key && !strcmp(key, "input"))
        wire_put_object(out, text_cstr(whole), whole->length);
    else if (key)
        text_json_string(out, text_cstr(whole), whole->length);
    text_putc(out, '}');
}

bool anthropic_block_write(const struct anthropic_block *block, const struct stream *stream,
                           struct text *array)
{
    const struct text *text = shown(block, stream);
    if (block->strange || !block->start)
        return false;
    if (block->type == ANTHROPIC_TEXT && wire_is_blank(text_cstr(text), text->length))
        return true;
    if (array->length > 1)
        text_putc(array, ',');
    if (block->type == ANTHROPIC_TOOL_USE)
        write_call(block, stream, array);
    else if (block->type == ANTHROPIC_TEXT)
        write_start(block, "text", text, array);
    else if (block->type == ANTHROPIC_THINKING)
        write_start(block, "thinking", text, array);
    else
        write_start(block, block->has_input ? "input" : NULL, &block->input, array);
    return true;
}

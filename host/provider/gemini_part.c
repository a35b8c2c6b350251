#include "provider/gemini_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "provider/gemini.h"
#include "provider/wire_read.h"
#include "provider/wire_write.h"

/* Beyond it something is wrong with the server: pieces of text join. */
#define MAX_PARTS 16384

enum type {
    PART_OF_TEXT,
    PART_OF_CALL,
    PART_OTHER /* code that the server ran, files, what is not known */
};

struct gemini_part {
    enum type type;
    bool is_plain;         /* text that the next piece may join */
    json_t *members;       /* as it came; what stands below counts more */
    struct text text;      /* of PART_OF_TEXT, with what joined it */
    struct json_half half; /* of it */
    struct text args;      /* of PART_OF_CALL, to the letter */
    int block;             /* of the stream, of PART_OF_CALL; -1 = none */
};

void gemini_parts_init(struct gemini_parts *parts, struct stream *stream)
{
    *parts = (struct gemini_parts){.stream = stream, .block = -1};
}

static void part_free(struct gemini_part *part)
{
    json_decref(part->members);
    text_release(&part->text);
    text_release(&part->args);
    free(part);
}

void gemini_parts_release(struct gemini_parts *parts)
{
    for (size_t i = 0; i < parts->parts.count; i++)
        part_free(parts->parts.items[i]);
    free(parts->parts.items);
}

/* ---- what is shown ---- */

static void close_block(struct gemini_parts *parts)
{
    if (parts->block >= 0)
        stream_close(parts->stream, parts->block);
    parts->block = -1;
}

/* A block of the stream is opened by its first byte, so that an empty one is never seen. */
static void show(struct gemini_parts *parts, enum block_kind kind, const json_t *string, bool lone)
{
    size_t length = json_string_length(string);
    if (!length)
        return;
    if (parts->block < 0 || parts->kind != kind) {
        close_block(parts);
        parts->block = stream_open(parts->stream, kind, NULL, NULL);
        parts->kind = kind;
    }
    if (parts->block >= 0)
        stream_delta(parts->stream, parts->block, json_string_value(string), length, lone);
}

static void show_call(struct gemini_parts *parts, struct gemini_part *part, const json_t *call)
{
    char number[32];
    const json_t *id = json_object_get(call, "id");
    const char *string = json_string_value(id);
    const char *name = json_member_string(call, "name");
    if (json_is_integer(id)) {
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(id));
        string = number;
    }
    close_block(parts);
    parts->has_call = true;
    part->block = stream_open(parts->stream, BLOCK_TOOL_USE, string, name ? name : "");
    if (part->block < 0)
        return;
    stream_delta(parts->stream, part->block, text_cstr(&part->args), part->args.length, false);
    stream_close(parts->stream, part->block);
}

/* ---- taking ---- */

/* The arguments to the letter, because a parser may lose digits; else what it made of them. */
static void keep_args(struct gemini_parts *parts, struct gemini_part *part, const json_t *args,
                      struct json_piece raw)
{
    struct slice text;
    bool is_usable = raw.length && json_is_object(args) && *raw.data == '{' &&
                     utf8_valid(raw.data, raw.length) == raw.length &&
                     !memchr(raw.data, '\0', raw.length);
    struct text scratch = TEXT_INIT;
    if (is_usable)
        text_append(&part->args, raw.data, raw.length);
    else if (wire_read_text(parts->stream, args, &scratch, &text)) {
        struct json_half half = {0};
        json_join_halves(&half, &part->args, text.data, text.length, true);
        json_half_end(&half, &part->args);
    }
    text_release(&scratch);
}

/* Whether it has nothing beside its text. */
static bool is_plain(const json_t *part)
{
    size_t known = 1 + (json_object_get(part, "thought") != NULL);
    return json_object_size(part) == known;
}

static bool is_thought(const json_t *part)
{
    return json_member_true(part, "thought");
}

static struct gemini_part *add(struct gemini_parts *parts, enum type type)
{
    struct gemini_part *part = NULL;
    if (parts->parts.count == MAX_PARTS) {
        wire_fail(parts->stream, ERROR_SERVER, false, "the response has too many parts");
        return NULL;
    }
    if (array_reserve(&parts->parts, 1))
        part = calloc(1, sizeof(*part));
    if (!part) {
        wire_fail_memory(parts->stream);
        return NULL;
    }
    part->type = type;
    part->block = -1;
    parts->parts.items[parts->parts.count++] = part;
    return part;
}

static struct gemini_part *last_part(const struct gemini_parts *parts)
{
    return parts->parts.count ? parts->parts.items[parts->parts.count - 1] : NULL;
}

static bool joins(const struct gemini_part *last, const json_t *part)
{
    return last && last->is_plain && is_plain(part) &&
           is_thought(last->members) == is_thought(part);
}

static void keep_members(struct gemini_parts *parts, struct gemini_part *part, json_t *from,
                         bool lone)
{
    part->members = lone ? wire_clean(from) : json_incref(from);
    if (!part->members)
        wire_fail_memory(parts->stream);
}

static void take_text(struct gemini_parts *parts, json_t *from, const json_t *text, bool lone)
{
    struct gemini_part *part = last_part(parts);
    if (!joins(part, from)) {
        part = add(parts, PART_OF_TEXT);
        if (!part)
            return;
        keep_members(parts, part, from, lone);
        part->is_plain = is_plain(from);
    }
    json_join_halves(&part->half, &part->text, json_string_value(text), json_string_length(text),
                     lone);
    if (part->text.failed)
        wire_fail_memory(parts->stream);
    show(parts, is_thought(from) ? BLOCK_REASONING : BLOCK_TEXT, text, lone);
}

static void take_call(struct gemini_parts *parts, json_t *from, const json_t *call,
                      struct json_piece raw, bool lone)
{
    struct gemini_part *part = add(parts, PART_OF_CALL);
    if (!part)
        return;
    struct json_piece raw_args = json_walk_member(json_walk_member(raw, "functionCall"), "args");
    keep_members(parts, part, from, lone);
    keep_args(parts, part, json_object_get(call, "args"), raw_args);
    if (part->args.failed)
        wire_fail_memory(parts->stream);
    if (part->members)
        show_call(parts, part, json_object_get(part->members, "functionCall"));
}

void gemini_parts_take(struct gemini_parts *parts, json_t *part, struct json_piece raw, bool lone)
{
    const json_t *text = json_object_get(part, "text");
    const json_t *call = json_object_get(part, "functionCall");
    if (!json_object_size(part) || parts->stream->ended)
        return;
    if (json_is_object(call)) {
        take_call(parts, part, call, raw, lone);
    } else if (json_is_string(text)) {
        take_text(parts, part, text, lone);
    } else {
        struct gemini_part *other = add(parts, PART_OTHER);
        if (other)
            keep_members(parts, other, part, lone);
    }
}

void gemini_parts_end(struct gemini_parts *parts)
{
    close_block(parts);
    for (size_t i = 0; i < parts->parts.count; i++) {
        struct gemini_part *part = parts->parts.items[i];
        json_half_end(&part->half, &part->text);
        if (part->text.failed)
            wire_fail_memory(parts->stream);
    }
}

/* ---- going back ---- */

/* The id of the session, if the server gave one at all (FAULTS 110; D14). */
static void write_call(const struct gemini_parts *parts, const struct gemini_part *part,
                       struct text *out)
{
    const json_t *call = json_object_get(part->members, "functionCall");
    const char *name = json_member_string(call, "name");
    const json_t *id = json_object_get(call, "id");
    text_putc(out, '{');
    if (json_string_length(id) || json_is_integer(id)) {
        text_puts(out, "\"id\":");
        wire_put_string(out, stream_call_id(parts->stream, part->block));
        text_putc(out, ',');
    }
    text_puts(out, "\"name\":");
    gemini_put_name(out, name ? name : "");
    text_puts(out, ",\"args\":");
    wire_put_object(out, text_cstr(&part->args), part->args.length);
    text_putc(out, '}');
}

static void write_part(const struct gemini_parts *parts, const struct gemini_part *part,
                       struct text *out)
{
    const char *name;
    size_t length;
    json_t *value;
    const char *glue = "{";
    json_object_keylen_foreach(part->members, name, length, value)
    {
        text_puts(out, glue);
        text_json_string(out, name, length);
        text_putc(out, ':');
        if (part->type == PART_OF_TEXT && !strcmp(name, "text"))
            text_json_string(out, text_cstr(&part->text), part->text.length);
        else if (part->type == PART_OF_CALL && !strcmp(name, "functionCall"))
            write_call(parts, part, out);
        else
            text_json(out, value);
        glue = ",";
    }
    text_putc(out, '}');
}

/* A piece of text that says nothing and is not signed is refused. */
static bool is_nothing(const struct gemini_part *part)
{
    return part->type == PART_OF_TEXT && part->is_plain && !part->text.length;
}

void gemini_parts_write(const struct gemini_parts *parts, struct text *out)
{
    const char *glue = "[";
    for (size_t i = 0; i < parts->parts.count; i++) {
        if (is_nothing(parts->parts.items[i]))
            continue;
        text_puts(out, glue);
        write_part(parts, parts->parts.items[i], out);
        glue = ",";
    }
    text_puts(out, *glue == '[' ? "[]" : "]");
}

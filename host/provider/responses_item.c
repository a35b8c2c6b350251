#include "provider/responses_item.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "provider/wire_read.h"
#include "provider/wire_write.h"

static const char content[] = "content";
static const char summary[] = "summary";

enum responses_type responses_type_of(const json_t *object)
{
    const char *type = json_member_string(object, "type");
    return !type                            ? RESPONSES_OTHER
           : !strcmp(type, "message")       ? RESPONSES_MESSAGE
           : !strcmp(type, "reasoning")     ? RESPONSES_REASONING
           : !strcmp(type, "function_call") ? RESPONSES_CALL
                                            : RESPONSES_OTHER;
}

struct responses_item *responses_item_new(enum responses_type type)
{
    struct responses_item *item = calloc(1, sizeof(*item));
    if (item) {
        item->type = type;
        item->index = item->block = -1;
    }
    return item;
}

void responses_item_free(struct responses_item *item)
{
    if (!item)
        return;
    json_decref(item->whole);
    text_release(&item->id);
    text_release(&item->call_id);
    text_release(&item->name);
    text_release(&item->early);
    free(item->parts.items);
    free(item);
}

/* ---- text ---- */

static const struct text *shown(const struct stream *stream, int block)
{
    static const struct text none = TEXT_INIT;
    return block < 0 ? &none : &stream->blocks.items[block]->text;
}

static struct responses_part *find_part(const struct responses_item *item,
                                        const struct responses_place *place)
{
    for (size_t i = item->parts.count; i-- > 0;) {
        const struct responses_place *other = &item->parts.items[i].place;
        if (other->kind == place->kind && other->index == place->index)
            return &item->parts.items[i];
    }
    return NULL;
}

static void end_part(struct responses_part *part, struct stream *stream)
{
    part->done = true;
    stream_close(stream, part->block);
}

static struct responses_part *add_part(struct responses_item *item, struct stream *stream,
                                       const struct responses_place *place)
{
    if (item->parts.count)
        end_part(&item->parts.items[item->parts.count - 1], stream);
    if (!array_reserve(&item->parts, 1)) {
        wire_fail_memory(stream);
        return NULL;
    }
    int block = stream_open(stream, place->kind, NULL, NULL);
    if (block < 0)
        return NULL;
    item->parts.items[item->parts.count] = (struct responses_part){*place, block, false};
    return &item->parts.items[item->parts.count++];
}

/* A block of the stream is opened by its first byte, so that an empty one is never seen. */
static void show(struct responses_item *item, struct stream *stream,
                 const struct responses_place *place, const char *data, size_t length, bool lone)
{
    if (!length)
        return;
    struct responses_part *part = find_part(item, place);
    if (!part)
        part = add_part(item, stream, place);
    if (part && !part->done)
        stream_delta(stream, part->block, data, length, lone);
}

/* Appends a string as it would be shown. */
static void append_clean(struct text *out, const json_t *string, bool lone)
{
    struct json_half half = {0};
    const char *data = json_string_value(string);
    if (data)
        json_join_halves(&half, out, data, json_string_length(string), lone);
    json_half_end(&half, out);
}

static bool begins_with(const struct text *text, const struct text *start)
{
    return text->length >= start->length &&
           (!start->length || !memcmp(text->data, start->data, start->length));
}

/* What was shown cannot be taken back; what is missing of it can be added. */
static void show_rest(struct responses_item *item, struct stream *stream,
                      const struct responses_place *place, const struct text *seen,
                      const struct text *whole)
{
    if (seen->failed || whole->failed)
        wire_fail_memory(stream);
    else if (begins_with(whole, seen))
        show(item, stream, place, text_cstr(whole) + seen->length, whole->length - seen->length,
             false);
}

/* Summary and content of reasoning are two views of one thought (FAULTS 81). */
static bool is_shown_list(struct responses_item *item, const struct responses_place *place)
{
    if (place->kind != BLOCK_REASONING)
        return true;
    if (!item->list)
        item->list = place->list;
    return !strcmp(item->list, place->list);
}

void responses_item_text(struct responses_item *item, struct stream *stream,
                         const struct responses_place *place, const json_t *string, bool whole,
                         bool lone)
{
    if (!json_string_length(string) || !is_shown_list(item, place))
        return;
    if (!whole) {
        show(item, stream, place, json_string_value(string), json_string_length(string), lone);
        return;
    }
    struct responses_part *part = find_part(item, place);
    struct text all = TEXT_INIT;
    append_clean(&all, string, lone);
    show_rest(item, stream, place, shown(stream, part ? part->block : -1), &all);
    text_release(&all);
    part = find_part(item, place);
    if (part)
        end_part(part, stream);
}

/* ---- calls ---- */

static void open_call(struct responses_item *item, struct stream *stream)
{
    if (item->type != RESPONSES_CALL || item->block >= 0)
        return;
    item->block =
        stream_open(stream, BLOCK_TOOL_USE, text_cstr(&item->call_id), text_cstr(&item->name));
    if (item->block >= 0)
        stream_delta(stream, item->block, text_cstr(&item->early), item->early.length,
                     item->early_lone);
}

static void take_string(struct text *place, const json_t *value)
{
    if (place->length)
        return;
    if (json_is_integer(value))
        text_printf(place, "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value))
        text_puts(place, json_string_value(value));
}

void responses_item_identify(struct responses_item *item, struct stream *stream,
                             const json_t *object)
{
    take_string(&item->id, json_object_get(object, "id"));
    if (item->type == RESPONSES_CALL) {
        take_string(&item->call_id, json_object_get(object, "call_id"));
        take_string(&item->name, json_object_get(object, "name"));
    }
    if (item->id.failed || item->call_id.failed || item->name.failed)
        wire_fail_memory(stream);
    else if (item->call_id.length && item->name.length)
        open_call(item, stream);
}

static void add_arguments(struct responses_item *item, struct stream *stream, const char *data,
                          size_t length, bool lone)
{
    if (item->block >= 0) {
        stream_delta(stream, item->block, data, length, lone);
        return;
    }
    text_append(&item->early, data, length);
    item->early_lone |= lone;
    if (item->early.failed)
        wire_fail_memory(stream);
}

static bool means_the_same(const struct text *a, const struct text *b)
{
    json_t *left = json_parse(text_cstr(a), a->length, NULL, NULL);
    json_t *right = json_parse(text_cstr(b), b->length, NULL, NULL);
    bool same = left && right && json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return same;
}

/* Some servers write an empty object where the arguments will be. */
static bool is_placeholder(const struct text *arguments)
{
    return !arguments->length || !strcmp(arguments->data, "{}");
}

/* Arguments that are not those that were streamed make the text unreadable, so that the call is
 * answered with an error and nothing runs on a guess. */
static void settle_arguments(struct responses_item *item, struct stream *stream,
                             const struct text *whole)
{
    const struct text *seen = item->block >= 0 ? shown(stream, item->block) : &item->early;
    if (item->settled || !whole->length || (seen->length && is_placeholder(whole)))
        return;
    item->settled = true;
    if (item->block < 0) {
        text_reset(&item->early);
        add_arguments(item, stream, whole->data, whole->length, false);
    } else if (begins_with(whole, seen)) {
        add_arguments(item, stream, whole->data + seen->length, whole->length - seen->length,
                      false);
    } else if (!means_the_same(seen, whole)) {
        item->disputed = true;
        add_arguments(item, stream, whole->data, whole->length, false);
    }
}

void responses_item_arguments(struct responses_item *item, struct stream *stream,
                              const json_t *value, bool whole, bool lone)
{
    struct text scratch = TEXT_INIT;
    struct slice text;
    if (item->type == RESPONSES_CALL && !item->settled &&
        wire_read_text(stream, value, &scratch, &text)) {
        if (whole) {
            struct text all = TEXT_INIT;
            struct json_half half = {0};
            json_join_halves(&half, &all, text.data, text.length, lone);
            json_half_end(&half, &all);
            if (all.failed)
                wire_fail_memory(stream);
            else
                settle_arguments(item, stream, &all);
            text_release(&all);
        } else {
            add_arguments(item, stream, text.data, text.length, lone);
        }
    }
    text_release(&scratch);
}

/* ---- the end of an item ---- */

static enum block_kind kind_of_part(const struct responses_item *item, const json_t *part)
{
    if (item->type == RESPONSES_REASONING)
        return BLOCK_REASONING;
    return json_object_get(part, "refusal") ? BLOCK_REFUSAL : BLOCK_TEXT;
}

static const json_t *text_of_part(const json_t *part)
{
    const json_t *refusal = json_object_get(part, "refusal");
    return refusal ? refusal : json_object_get(part, "text");
}

/* Appends what was shown of a kind, but no more than it takes to see that it is the longer one: a
 * server may say again and again that an item is done. */
static void append_seen(const struct responses_item *item, const struct stream *stream,
                        enum block_kind kind, struct text *out, size_t most)
{
    for (size_t i = 0; i < item->parts.count && out->length <= most; i++) {
        const struct text *text = shown(stream, item->parts.items[i].block);
        size_t left = most + 1 - out->length;
        if (item->parts.items[i].place.kind == kind)
            text_append(out, text_cstr(text), text->length < left ? text->length : left);
    }
}

/* All text of one kind, in one of the lists, against what was shown of the kind. */
static void compare_texts(struct responses_item *item, struct stream *stream, const json_t *object,
                          struct responses_place place, bool lone)
{
    struct text seen = TEXT_INIT, whole = TEXT_INIT;
    size_t i;
    json_t *part;
    json_array_foreach (json_object_get(object, place.list), i, part)
        if (kind_of_part(item, part) == place.kind)
            append_clean(&whole, text_of_part(part), lone);
    append_seen(item, stream, place.kind, &seen, whole.length);
    place.index = -1 - (json_int_t)item->parts.count; /* a part of its own */
    if (whole.failed || (whole.length && is_shown_list(item, &place)))
        show_rest(item, stream, &place, &seen, &whole);
    text_release(&seen);
    text_release(&whole);
}

void responses_item_done(struct responses_item *item, struct stream *stream, const json_t *object,
                         bool lone)
{
    responses_item_identify(item, stream, object);
    if (item->type == RESPONSES_MESSAGE) {
        compare_texts(item, stream, object, (struct responses_place){BLOCK_TEXT, content, 0}, lone);
        compare_texts(item, stream, object, (struct responses_place){BLOCK_REFUSAL, content, 0},
                      lone);
    } else if (item->type == RESPONSES_REASONING) {
        compare_texts(item, stream, object, (struct responses_place){BLOCK_REASONING, summary, 0},
                      lone);
        compare_texts(item, stream, object, (struct responses_place){BLOCK_REASONING, content, 0},
                      lone);
    }
    responses_item_arguments(item, stream, json_object_get(object, "arguments"), true, lone);
    if (item->whole)
        return;
    item->whole = lone ? wire_clean(object) : json_deep_copy(object);
    if (!item->whole)
        wire_fail_memory(stream);
}

void responses_item_end(struct responses_item *item, struct stream *stream)
{
    open_call(item, stream);
    if (item->block >= 0)
        stream_close(stream, item->block);
    for (size_t i = 0; i < item->parts.count; i++)
        end_part(&item->parts.items[i], stream);
}

bool responses_item_is_done(const struct responses_item *item)
{
    if (item->type == RESPONSES_CALL)
        return item->settled;
    bool has_text = item->parts.count && item->parts.items[item->parts.count - 1].done;
    return item->whole || has_text || item->type == RESPONSES_REASONING;
}

/* ---- going back ---- */

/* Without its content the server would look up what it was told not to store. */
static bool is_self_contained(const json_t *reasoning)
{
    return json_string_length(json_object_get(reasoning, "encrypted_content")) ||
           json_array_size(json_object_get(reasoning, content));
}

static bool is_blank(const json_t *message)
{
    size_t i;
    json_t *part;
    json_array_foreach (json_object_get(message, content), i, part) {
        const json_t *text = text_of_part(part);
        const char *data = json_string_value(text);
        if (!data || !wire_is_blank(data, json_string_length(text)))
            return false;
    }
    return true;
}

static void write_member(struct text *out, const char *glue, const char *key, const json_t *value)
{
    text_puts(out, glue);
    wire_put_string(out, key);
    text_putc(out, ':');
    text_json(out, value);
}

/* With the id that the session uses (D14), and arguments that can be read. */
static void write_call(const struct responses_item *item, const struct stream *stream,
                       struct text *out)
{
    static const char *const own[] = {"type", "call_id", "name", "arguments"};
    const struct text *seen = shown(stream, item->block);
    const char *key;
    json_t *value;
    text_puts(out, "{\"type\":\"function_call\"");
    json_object_foreach (item->whole, key, value) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            is_own |= !strcmp(key, own[i]);
        if (!is_own)
            write_member(out, ",", key, value);
    }
    text_puts(out, ",\"call_id\":");
    wire_put_string(out, stream_call_id(stream, item->block));
    text_puts(out, ",\"name\":");
    wire_put_tool_name(out, text_cstr(&item->name));
    text_puts(out, ",\"arguments\":");
    wire_put_object_string(out, text_cstr(seen), seen->length);
    text_putc(out, '}');
}

static void write_whole(const struct responses_item *item, struct text *out)
{
    const char *key, *glue = "{";
    json_t *value;
    json_object_foreach (item->whole, key, value) {
        write_member(out, glue, key, value);
        glue = ",";
    }
    if (item->type == RESPONSES_REASONING && !json_object_get(item->whole, summary))
        text_puts(out, ",\"summary\":[]"); /* the server wants it (FAULTS 97) */
    text_putc(out, '}');
}

bool responses_item_write(const struct responses_item *item, const struct stream *stream,
                          struct text *array)
{
    if (!item->whole || item->disputed ||
        (item->type == RESPONSES_REASONING && !is_self_contained(item->whole)) ||
        (item->type == RESPONSES_CALL && item->block < 0))
        return false;
    if (item->type == RESPONSES_MESSAGE && is_blank(item->whole))
        return true;
    if (array->length > 1)
        text_putc(array, ',');
    if (item->type == RESPONSES_CALL)
        write_call(item, stream, array);
    else
        write_whole(item, array);
    return true;
}

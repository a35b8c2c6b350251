#include "provider/prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "base/array.h"
#include "base/log.h"

void prefix_release(struct request_prefix *prefix)
{
    free(prefix->now.items);
    free(prefix->kept.items);
    text_release(&prefix->bytes);
    *prefix = (struct request_prefix){0};
}

void prefix_restart(struct request_prefix *prefix)
{
    prefix->current = false;
}

void prefix_begin(struct request_prefix *prefix)
{
    struct prefix_layout *now = &prefix->now;
    *now = (struct prefix_layout){.items = now->items, .capacity = now->capacity};
}

bool prefix_note_item(struct request_prefix *prefix, size_t index, size_t end)
{
    struct prefix_layout *now = &prefix->now;
    if (index >= now->count && !array_reserve(now, index + 1 - now->count))
        return false;
    while (now->count <= index)
        now->items[now->count++] = 0;
    now->items[index] = end;
    if (end > now->end)
        now->end = end;
    return true;
}

void prefix_insert(struct request_prefix *prefix, size_t at, size_t length)
{
    struct prefix_layout *now = &prefix->now;
    for (size_t i = 0; i < now->count; i++)
        if (now->items[i] > at)
            now->items[i] += length;
    if (now->end > at)
        now->end += length;
    now->mark_at = at;
    now->mark_length = length;
}

/* ---- what changed ---- */

/* The part of `layout` that byte `at` belongs to. */
static void name_part(const struct prefix_layout *layout, size_t at, char name[64])
{
    static const char *const names[] = {"the model", "the set of tools", "the system prompt"};
    for (size_t i = 0; i < PREFIX_PARTS; i++)
        if (at < layout->parts[i]) {
            snprintf(name, 64, "%s", names[i]);
            return;
        }
    size_t found = layout->count;
    for (size_t i = 0; i < layout->count; i++)
        if (layout->items[i] > at &&
            (found == layout->count || layout->items[i] < layout->items[found]))
            found = i;
    snprintf(name, 64, "item %zu", found + 1);
}

static size_t first_difference(const char *one, const char *other, size_t length)
{
    size_t i = 0;
    while (i < length && one[i] == other[i])
        i++;
    return i;
}

/* Byte `i` of a prefix as if its mark were not there. */
static size_t place(const struct prefix_layout *layout, size_t i)
{
    return layout->mark_length && i >= layout->mark_at ? i + layout->mark_length : i;
}

/* How the new prefix differs from that of the lock before. */
static void name_change(const struct request_prefix *prefix, const struct text *body, char name[64])
{
    const struct prefix_layout *old = &prefix->kept;
    const struct prefix_layout *now = &prefix->now;
    size_t i = 0;
    while (place(old, i) < old->end && place(now, i) < now->end &&
           prefix->bytes.data[place(old, i)] == body->data[place(now, i)])
        i++;
    if (place(old, i) < old->end && place(now, i) < now->end)
        name_part(old, place(old, i), name);
    else
        snprintf(name, 64, "%s",
                 now->count > old->count ? "more items are locked" : "fewer items are locked");
}

/* ---- keeping and comparing ---- */

static bool keep(struct request_prefix *prefix, const struct text *body, struct error *error)
{
    struct prefix_layout layout = prefix->kept;
    char sha256[PREFIX_HASH_SIZE];
    char change[64] = "";
    SHA256Data((const uint8_t *)body->data, prefix->now.end, sha256);
    if (prefix->bytes.length && strcmp(sha256, prefix->sha256) != 0)
        name_change(prefix, body, change);
    text_reset(&prefix->bytes);
    text_append(&prefix->bytes, body->data, prefix->now.end);
    if (prefix->bytes.failed)
        return error_memory(error);
    prefix->kept = prefix->now;
    prefix->now = layout; /* its memory serves the next body */
    memcpy(prefix->sha256, sha256, sizeof(sha256));
    prefix->current = true;
    log_note("locked prefix: %zu bytes, sha256 %s%s%s", prefix->bytes.length, sha256,
             *change ? "; it is another than before: " : "", change);
    return true;
}

bool prefix_take(struct request_prefix *prefix, const struct text *body, struct error *error)
{
    const struct text *bytes = &prefix->bytes;
    if (body->failed)
        return error_memory(error);
    if (!prefix->current)
        return keep(prefix, body, error);
    size_t length = bytes->length < body->length ? bytes->length : body->length;
    if (length == bytes->length && memcmp(bytes->data, body->data, length) == 0)
        return true;
    char name[64];
    size_t at = first_difference(bytes->data, body->data, length);
    name_part(&prefix->kept, at, name);
    return error_set(error, ERROR_INTERNAL,
                     "%s changed in the locked part of the request (byte %zu of %zu)", name, at,
                     bytes->length);
}

#include "conversation/item_view.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/part.h"

void attachment_describe(const struct attachment *attachment, struct text *out)
{
    part_describe(out, attachment->mime_type, attachment->name, attachment->data.length,
                  attachment->data.data ? NULL : attachment->uri);
}

/* ---- writing ---- */

void attachments_write_view(const struct attachment *list, size_t count, struct text *out)
{
    text_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        text_puts(out, i ? ",{" : "{");
        json_put_integer(out, "index", (int64_t)i);
        json_put_string(out, "mime_type", list[i].mime_type);
        if (list[i].name)
            json_put_string(out, "name", list[i].name);
        if (list[i].data.data)
            json_put_integer(out, "bytes", (int64_t)list[i].data.length);
        else
            json_put_string(out, "uri", list[i].uri);
        text_putc(out, '}');
    }
    text_putc(out, ']');
}

void item_write_view(const struct item *item, struct text *out)
{
    item_write_json(item, out);
    if (!item->attachment_count || out->failed)
        return;
    out->length--; /* the brace */
    json_put_key(out, "parts");
    attachments_write_view(item->attachments, item->attachment_count, out);
    text_putc(out, '}');
}

/* ---- reading ---- */

static bool keep(struct item *item, const struct item *old, json_int_t index, struct error *error)
{
    if (index < 0 || (uint64_t)index >= old->attachment_count)
        return error_set(error, ERROR_BAD_REQUEST, "item 'parts' must name those that are there");
    return item_attach(item, &old->attachments[index]) || error_memory(error);
}

static json_int_t index_at(const json_t *parts, size_t i)
{
    return json_member_integer(json_array_get(parts, i), "index", -1);
}

/* A part is kept once: megabytes must not grow by being named again and again. */
static bool is_named_before(const json_t *parts, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (index_at(parts, j) == index_at(parts, i))
            return true;
    return false;
}

static bool keep_named(struct item *item, const struct item *old, const json_t *parts,
                       struct error *error)
{
    if (!json_is_array(parts))
        return error_set(error, ERROR_BAD_REQUEST, "item 'parts' must be a list of objects");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        if (i >= old->attachment_count || is_named_before(parts, i))
            return error_set(error, ERROR_BAD_REQUEST, "item 'parts' must name each part once");
        if (!keep(item, old, index_at(parts, i), error))
            return false;
    }
    return true;
}

static bool keep_all(struct item *item, const struct item *old, struct error *error)
{
    for (size_t i = 0; i < old->attachment_count; i++)
        if (!keep(item, old, (json_int_t)i, error))
            return false;
    return true;
}

struct item *item_from_view(const char *json, size_t length, const struct item *old,
                            struct error *error)
{
    json_t *object = json_parse(json, length, NULL, error);
    if (!object)
        return NULL;
    json_t *parts = NULL;
    if (old->kind == ITEM_OUTPUT) {
        parts = json_incref(json_object_get(object, "parts"));
        json_object_del(object, "parts");
    }
    struct item *item = item_from_value(object, error);
    if (item && item->kind == ITEM_OUTPUT &&
        !(parts ? keep_named(item, old, parts, error) : keep_all(item, old, error))) {
        item_unref(item);
        item = NULL;
    }
    json_decref(parts);
    json_decref(object);
    return item;
}

#include "conversation/item_line.h"

#include "base/json.h"
#include "base/json_write.h"
#include "conversation/item_record.h"

static void write_response(const struct origin *origin, struct text *line)
{
    json_put_key(line, "response");
    text_putc(line, '{');
    json_put_string(line, "provider", origin->provider);
    json_put_string(line, "model", origin->model);
    json_put_integer(line, "items", (int64_t)origin->item_count);
    if (origin->verbatim.data)
        json_put_text(line, "verbatim", origin->verbatim.data, origin->verbatim.length);
    text_putc(line, '}');
}

void item_line_write(const struct item *item, const struct item *before, bool is_started,
                     struct text *out)
{
    text_putc(out, '{');
    json_put_key(out, "item");
    item_write_json(item, out);
    if (item->kind == ITEM_CALL && !item->arguments_valid)
        json_put_boolean(out, "valid", false);
    if (is_started)
        json_put_boolean(out, "started", true);
    if (item->attachment_count > 0) {
        json_put_key(out, "attachments");
        attachments_write_json(item, out);
    }
    if (item->origin && before && before->origin == item->origin)
        json_put_boolean(out, "same_response", true);
    else if (item->origin)
        write_response(item->origin, out);
    text_putc(out, '}');
}

/* ---- reading ---- */

void item_lines_release(struct item_lines *lines)
{
    origin_unref(lines->origin);
    lines->origin = NULL;
}

static bool refuse(struct error *error, const char *what)
{
    return error_set(error, ERROR_BAD_REQUEST, "%s", what);
}

static bool check_members(const json_t *object, const char *const *known, struct error *error)
{
    const char *unknown = json_unknown_member(object, known);
    return !unknown || error_set(error, ERROR_BAD_REQUEST, "member '%s' is not known", unknown);
}

static bool read_response(struct item_lines *lines, const json_t *object, struct error *error)
{
    static const char *const known[] = {"provider", "model", "items", "verbatim", NULL};
    const char *provider = json_member_string(object, "provider");
    const char *model = json_member_string(object, "model");
    json_int_t items = json_member_integer(object, "items", 0);
    size_t length;
    const char *verbatim = json_member_text(object, "verbatim", &length);
    if (!json_is_object(object) || !provider || !model || items < 1 ||
        (json_object_get(object, "verbatim") && !verbatim))
        return refuse(error, "'response' must name provider, model and the number of its items");
    if (!check_members(object, known, error))
        return false;
    origin_unref(lines->origin);
    lines->origin = origin_new(provider, model);
    if (!lines->origin)
        return error_memory(error);
    lines->origin->item_count = (size_t)items;
    if (!verbatim)
        return true;
    struct text copy = TEXT_INIT;
    text_append(&copy, verbatim, length);
    lines->origin->verbatim.data = text_take(&copy, &lines->origin->verbatim.length);
    return lines->origin->verbatim.data || error_memory(error);
}

/* Leaves the item's origin in lines->origin. */
static bool read_origin(struct item_lines *lines, const json_t *line, struct error *error)
{
    const json_t *response = json_object_get(line, "response");
    if (response)
        return read_response(lines, response, error);
    if (json_member_true(line, "same_response"))
        return lines->origin || refuse(error, "'same_response' without a response before it");
    origin_unref(lines->origin);
    lines->origin = NULL;
    return true;
}

static bool is_flag_or_absent(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return !value || json_is_boolean(value);
}

static bool read_attachments(struct item *item, const json_t *list, struct error *error)
{
    struct text json = TEXT_INIT;
    text_json(&json, list);
    bool read = json.failed ? error_memory(error)
                            : attachments_read_json(item, json.data, json.length, error);
    text_release(&json);
    return read;
}

static struct item *read_item(const json_t *line, struct error *error)
{
    struct text json = TEXT_INIT;
    const json_t *neutral = json_object_get(line, "item");
    const json_t *attachments = json_object_get(line, "attachments");
    if (!neutral) {
        refuse(error, "'item' is missing");
        return NULL;
    }
    text_json(&json, neutral);
    struct item *item = json.failed ? NULL : item_from_json(json.data, json.length, error);
    if (json.failed)
        error_memory(error);
    text_release(&json);
    if (item && attachments && !read_attachments(item, attachments, error)) {
        item_unref(item);
        return NULL;
    }
    if (item && json_object_get(line, "valid"))
        item->arguments_valid = json_member_true(line, "valid");
    return item;
}

static bool check_line(const json_t *line, struct error *error)
{
    static const char *const known[] = {"item",     "valid",         "started", "attachments",
                                        "response", "same_response", NULL};
    if (!check_members(line, known, error))
        return false;
    return (is_flag_or_absent(line, "valid") && is_flag_or_absent(line, "started") &&
            is_flag_or_absent(line, "same_response")) ||
           refuse(error, "'valid', 'started' and 'same_response' must be true or false");
}

struct item *item_line_read(struct item_lines *lines, const json_t *line, bool *is_started,
                            struct error *error)
{
    struct item *item = check_line(line, error) ? read_item(line, error) : NULL;
    if (!item)
        return NULL;
    *is_started = json_member_true(line, "started");
    bool ok = read_origin(lines, line, error) && (!*is_started || item->kind == ITEM_CALL ||
                                                  refuse(error, "'started' belongs to calls"));
    if (ok && lines->origin)
        item->origin = origin_ref(lines->origin);
    if (ok)
        return item;
    item_unref(item);
    return NULL;
}

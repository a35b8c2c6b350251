#include "conversation/item_record.h"

#include "base/base64.h"
#include "base/json_check.h"
#include "base/json_walk.h"
#include "base/json_write.h"

static void write_attachment(const struct attachment *attachment, struct text *out)
{
    text_putc(out, '{');
    json_put_string(out, "mime_type", attachment->mime_type);
    if (attachment->name)
        json_put_string(out, "name", attachment->name);
    if (attachment->uri)
        json_put_string(out, "uri", attachment->uri);
    if (attachment->data.data) {
        json_put_key(out, "data");
        text_putc(out, '"');
        base64_append(out, attachment->data.data, attachment->data.length);
        text_putc(out, '"');
    }
    text_putc(out, '}');
}

void attachments_write_json(const struct item *item, struct text *out)
{
    text_putc(out, '[');
    for (size_t i = 0; i < item->attachment_count; i++) {
        if (i > 0)
            text_putc(out, ',');
        write_attachment(&item->attachments[i], out);
    }
    text_putc(out, ']');
}

/* ---- reading: ten megabytes in a string are not built twice ---- */

struct members {
    struct text mime_type, name, uri, data;
    bool has_mime_type, has_name, has_uri, has_data;
};

static void members_release(struct members *members)
{
    text_release(&members->mime_type);
    text_release(&members->name);
    text_release(&members->uri);
    text_release(&members->data);
}

static bool read_text(struct json_piece value, struct text *out, bool *there, struct error *error)
{
    *there = true;
    text_reset(out);
    text_reserve(out, 0); /* "" too is there */
    return json_piece_text(value, out) ||
           (out->failed
                ? error_memory(error)
                : error_set(error, ERROR_BAD_REQUEST, "attachment members must be strings"));
}

/* Base64 has no escapes; what has some is none. */
static bool read_data(struct json_piece value, struct members *members, struct error *error)
{
    members->has_data = true;
    text_reset(&members->data);
    if (json_piece_is_string(value) &&
        base64_read(&members->data, value.data + 1, value.length - 2))
        return true;
    return members->data.failed
               ? error_memory(error)
               : error_set(error, ERROR_BAD_REQUEST, "attachment 'data' is not base64");
}

static bool read_members(struct members *members, struct json_walk *walk, struct error *error)
{
    struct json_piece key, value;
    bool good = true;
    while (good && json_walk_next(walk, &key, &value)) {
        if (json_piece_is(key, "mime_type"))
            good = read_text(value, &members->mime_type, &members->has_mime_type, error);
        else if (json_piece_is(key, "name"))
            good = read_text(value, &members->name, &members->has_name, error);
        else if (json_piece_is(key, "uri"))
            good = read_text(value, &members->uri, &members->has_uri, error);
        else if (json_piece_is(key, "data"))
            good = read_data(value, members, error);
    }
    return good && (members->has_mime_type ||
                    error_set(error, ERROR_BAD_REQUEST, "attachment 'mime_type' is missing"));
}

static bool read_attachment(struct item *item, struct json_piece piece, struct error *error)
{
    struct members members = {0};
    struct json_walk walk;
    bool good = json_walk_into(&walk, piece, '{')
                    ? read_members(&members, &walk, error)
                    : error_set(error, ERROR_BAD_REQUEST, "an attachment must be an object");
    if (good) {
        struct attachment attachment = {
            .mime_type = members.mime_type.data,
            .name = members.has_name ? members.name.data : NULL,
            .uri = members.has_uri ? members.uri.data : NULL,
            .data = {members.has_data ? members.data.data : NULL, members.data.length},
        };
        good = item_attach(item, &attachment) || error_memory(error);
    }
    members_release(&members);
    return good;
}

bool attachments_read_json(struct item *item, const char *json, size_t length, struct error *error)
{
    struct json_walk walk;
    struct json_piece piece = {json, length};
    if (!json_is_valid(json, length) || !json_walk_into(&walk, piece, '['))
        return error_set(error, ERROR_BAD_REQUEST, "'attachments' must be a list");
    while (json_walk_next(&walk, NULL, &piece))
        if (!read_attachment(item, piece, error))
            return false;
    return true;
}

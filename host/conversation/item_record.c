#include "conversation/item_record.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/json.h"
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

static bool is_text_or_absent(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return !value || json_is_string(value);
}

static bool read_attachment(struct item *item, const json_t *object, struct error *error)
{
    const char *mime_type = json_member_string(object, "mime_type");
    if (!mime_type || !is_text_or_absent(object, "name") || !is_text_or_absent(object, "uri") ||
        !is_text_or_absent(object, "data"))
        return error_set(error, ERROR_BAD_REQUEST, "attachment members must be strings");
    size_t length;
    const char *encoded = json_member_text(object, "data", &length);
    struct text data = TEXT_INIT;
    if (encoded && !base64_read(&data, encoded, length)) {
        bool no_memory = data.failed;
        text_release(&data);
        return no_memory ? error_memory(error)
                         : error_set(error, ERROR_BAD_REQUEST, "attachment 'data' is not base64");
    }
    /* The names are copied by item_attach(), which does not write to them. */
    struct attachment attachment = {
        .mime_type = (char *)(uintptr_t)mime_type,
        .name = (char *)(uintptr_t)json_member_string(object, "name"),
        .uri = (char *)(uintptr_t)json_member_string(object, "uri"),
    };
    if (encoded)
        attachment.data.data = text_take(&data, &attachment.data.length);
    bool good = (!encoded || attachment.data.data) && item_attach(item, &attachment);
    free(attachment.data.data);
    return good || error_memory(error);
}

bool attachments_read(struct item *item, const json_t *list, struct error *error)
{
    if (!json_is_array(list))
        return error_set(error, ERROR_BAD_REQUEST, "'attachments' must be a list");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_attachment(item, json_array_get(list, i), error))
            return false;
    return true;
}

bool attachments_read_json(struct item *item, const char *json, size_t length, struct error *error)
{
    json_t *list = json_parse(json, length, NULL, error);
    bool good = list && attachments_read(item, list, error);
    json_decref(list);
    return good;
}

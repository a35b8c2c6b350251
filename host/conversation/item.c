#include "conversation/item.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

static const char *const role_names[] = {
    [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant", [ROLE_SYSTEM] = "system"};
static const char *const part_names[] = {[PART_INPUT_TEXT] = "input_text",
                                         [PART_OUTPUT_TEXT] = "output_text",
                                         [PART_REFUSAL] = "refusal"};

#define NAME_COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* ---- copies ---- */

/* Valid UTF-8 without NULs (D23): what goes into a request or onto a screen later is safe. */
static bool copy_clean(struct bytes *out, const char *data, size_t length)
{
    struct text text = TEXT_INIT;
    utf8_append_clean(&text, data, length);
    out->data = text_take(&text, &out->length);
    return out->data != NULL;
}

static bool copy_string(char **out, const char *string)
{
    struct bytes bytes = {0};
    bool copied = copy_clean(&bytes, string ? string : "", string ? strlen(string) : 0);
    *out = bytes.data;
    return copied;
}

/* NULL stays NULL. */
static bool copy_optional(char **out, const char *string)
{
    *out = NULL;
    return !string || copy_string(out, string);
}

static bool copy_raw(struct bytes *out, const struct bytes *from)
{
    *out = (struct bytes){0};
    if (!from->data)
        return true;
    out->data = malloc(from->length + 1);
    if (!out->data)
        return false;
    memcpy(out->data, from->data, from->length);
    out->data[from->length] = '\0';
    out->length = from->length;
    return true;
}

/* ---- origins ---- */

struct origin *origin_new(const char *provider, const char *model)
{
    struct origin *origin = calloc(1, sizeof(*origin));
    if (!origin)
        return NULL;
    origin->refs = 1;
    if (copy_string(&origin->provider, provider) && copy_string(&origin->model, model))
        return origin;
    origin_unref(origin);
    return NULL;
}

struct origin *origin_ref(struct origin *origin)
{
    if (origin)
        origin->refs++;
    return origin;
}

void origin_unref(struct origin *origin)
{
    if (!origin || --origin->refs)
        return;
    free(origin->provider);
    free(origin->model);
    free(origin->verbatim.data);
    free(origin);
}

/* ---- making and freeing ---- */

static struct item *item_new(enum item_kind kind)
{
    struct item *item = calloc(1, sizeof(*item));
    if (item) {
        item->refs = 1;
        item->kind = kind;
    }
    return item;
}

/* The item, or NULL and the item freed: the end of every constructor. */
static struct item *item_if(struct item *item, bool made)
{
    if (made)
        return item;
    item_unref(item);
    return NULL;
}

static bool add_part(struct item *item, enum part_kind kind, const char *text, size_t length)
{
    struct part *parts = realloc(item->parts, (item->part_count + 1) * sizeof(*parts));
    if (!parts)
        return false;
    item->parts = parts;
    struct part part = {.kind = kind};
    if (!copy_clean(&part.text, text, length))
        return false;
    item->parts[item->part_count++] = part;
    return true;
}

struct item *item_message(enum item_role role, enum part_kind kind, const char *text, size_t length)
{
    struct item *item = item_new(ITEM_MESSAGE);
    if (!item)
        return NULL;
    item->role = role;
    return item_if(item, add_part(item, kind, text, length));
}

struct item *item_call(const char *call_id, const char *name, const char *arguments, size_t length,
                       bool valid)
{
    struct item *item = item_new(ITEM_CALL);
    if (!item)
        return NULL;
    item->arguments_valid = valid;
    return item_if(item, copy_string(&item->call_id, call_id) && copy_string(&item->name, name) &&
                             copy_clean(&item->arguments, arguments, length));
}

struct item *item_output(const char *call_id, const char *text, size_t length, bool is_error)
{
    struct item *item = item_new(ITEM_OUTPUT);
    if (!item)
        return NULL;
    item->is_error = is_error;
    return item_if(item,
                   copy_string(&item->call_id, call_id) && copy_clean(&item->text, text, length));
}

struct item *item_reasoning(const char *text, size_t length)
{
    struct item *item = item_new(ITEM_REASONING);
    return item ? item_if(item, copy_clean(&item->text, text, length)) : NULL;
}

void attachment_release(struct attachment *attachment)
{
    free(attachment->mime_type);
    free(attachment->name);
    free(attachment->uri);
    free(attachment->data.data);
}

bool item_attach(struct item *item, const struct attachment *attachment)
{
    size_t count = item->attachment_count;
    struct attachment *grown = realloc(item->attachments, (count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    item->attachments = grown;
    struct attachment copy = {0};
    if (!copy_string(&copy.mime_type, attachment->mime_type) ||
        !copy_optional(&copy.name, attachment->name) ||
        !copy_optional(&copy.uri, attachment->uri) || !copy_raw(&copy.data, &attachment->data)) {
        attachment_release(&copy);
        return false;
    }
    item->attachments[item->attachment_count++] = copy;
    return true;
}

void item_take_attachments(struct item *item, struct attachment **list, size_t *count)
{
    item->attachments = *list;
    item->attachment_count = *count;
    *list = NULL;
    *count = 0;
}

struct item *item_ref(struct item *item)
{
    if (item)
        item->refs++;
    return item;
}

void item_unref(struct item *item)
{
    if (!item || --item->refs)
        return;
    origin_unref(item->origin);
    for (size_t i = 0; i < item->part_count; i++)
        free(item->parts[i].text.data);
    free(item->parts);
    free(item->call_id);
    free(item->name);
    free(item->arguments.data);
    free(item->text.data);
    for (size_t i = 0; i < item->attachment_count; i++)
        attachment_release(&item->attachments[i]);
    free(item->attachments);
    for (size_t i = 0; i < WIRE_COUNT; i++)
        free(item->wire[i].data);
    free(item);
}

/* ---- reading one ---- */

void item_append_text(const struct item *item, struct text *out)
{
    for (size_t i = 0; i < item->part_count; i++)
        text_append(out, item->parts[i].text.data, item->parts[i].text.length);
}

const char *item_role_name(enum item_role role)
{
    return role_names[role];
}

/* ---- the neutral JSON ---- */

static void put_member(struct text *out, const char *key, const char *data, size_t length)
{
    text_putc(out, ',');
    text_json_string(out, key, strlen(key));
    text_putc(out, ':');
    text_json_string(out, data, length);
}

static void put_bytes(struct text *out, const char *key, const struct bytes *bytes)
{
    put_member(out, key, bytes->data, bytes->length);
}

static void put_string(struct text *out, const char *key, const char *string)
{
    put_member(out, key, string, strlen(string));
}

static void put_message(struct text *out, const struct item *item)
{
    text_puts(out, "{\"type\":\"message\"");
    put_string(out, "role", role_names[item->role]);
    text_puts(out, ",\"content\":[");
    for (size_t i = 0; i < item->part_count; i++) {
        const struct part *part = &item->parts[i];
        text_printf(out, "%s{\"type\":\"%s\"", i ? "," : "", part_names[part->kind]);
        put_bytes(out, "text", &part->text);
        text_putc(out, '}');
    }
    text_putc(out, ']');
}

void item_write_json(const struct item *item, struct text *out)
{
    switch (item->kind) {
    case ITEM_MESSAGE:
        put_message(out, item);
        break;
    case ITEM_CALL:
        text_puts(out, "{\"type\":\"function_call\"");
        put_string(out, "call_id", item->call_id);
        put_string(out, "name", item->name);
        put_bytes(out, "arguments", &item->arguments);
        break;
    case ITEM_OUTPUT:
        text_puts(out, "{\"type\":\"function_call_output\"");
        put_string(out, "call_id", item->call_id);
        put_bytes(out, "output", &item->text);
        text_printf(out, ",\"is_error\":%s", item->is_error ? "true" : "false");
        break;
    case ITEM_REASONING:
        text_puts(out, "{\"type\":\"reasoning\"");
        put_bytes(out, "text", &item->text);
        break;
    }
    text_putc(out, '}');
}

/* Whether all members are among `known`, a NULL-terminated list. */
static bool check_members(json_t *object, const char *const *known, struct error *error)
{
    const char *unknown = json_unknown_member(object, known);
    return !unknown ||
           error_set(error, ERROR_BAD_REQUEST, "item member '%s' is not known", unknown);
}

static const char *need_text(const json_t *object, const char *key, size_t *length,
                             struct error *error)
{
    const char *text = json_member_text(object, key, length);
    if (!text)
        error_set(error, ERROR_BAD_REQUEST, "item '%s' must be a string", key);
    return text;
}

/* For ids and names: not empty. */
static const char *need_name(const json_t *object, const char *key, struct error *error)
{
    const char *text = json_member_string(object, key);
    if (text && *text)
        return text;
    error_set(error, ERROR_BAD_REQUEST, "item '%s' must be a string that is not empty", key);
    return NULL;
}

/* The index of a member's value in `names`, or -1 with an error that lists them. */
static int need_choice(const json_t *object, const char *key, const char *const *names,
                       size_t count, struct error *error)
{
    const char *value = json_member_string(object, key);
    for (size_t i = 0; value && i < count; i++)
        if (!strcmp(value, names[i]))
            return (int)i;
    char list[80] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? "|" : "", names[i]);
    }
    error_set(error, ERROR_BAD_REQUEST, "item '%s' must be %s", key, list);
    return -1;
}

static struct item *made(struct item *item, struct error *error)
{
    if (!item)
        error_memory(error);
    return item;
}

static bool read_part(struct item *item, json_t *part, struct error *error)
{
    static const char *const known[] = {"type", "text", NULL};
    if (!json_is_object(part))
        return error_set(error, ERROR_BAD_REQUEST, "item 'content' must be a list of objects");
    size_t length;
    int kind;
    const char *text;
    if (!check_members(part, known, error) ||
        (kind = need_choice(part, "type", part_names, NAME_COUNT(part_names), error)) < 0 ||
        !(text = need_text(part, "text", &length, error)))
        return false;
    return add_part(item, (enum part_kind)kind, text, length) || error_memory(error);
}

static struct item *read_message(json_t *object, struct error *error)
{
    static const char *const known[] = {"type", "role", "content", NULL};
    if (!check_members(object, known, error))
        return NULL;
    int role = need_choice(object, "role", role_names, NAME_COUNT(role_names), error);
    if (role < 0)
        return NULL;
    const json_t *content = json_object_get(object, "content");
    if (!json_is_array(content)) {
        error_set(error, ERROR_BAD_REQUEST, "item 'content' must be a list of objects");
        return NULL;
    }
    struct item *item = made(item_new(ITEM_MESSAGE), error);
    if (!item)
        return NULL;
    item->role = (enum item_role)role;
    bool read = true;
    for (size_t i = 0; read && i < json_array_size(content); i++)
        read = read_part(item, json_array_get(content, i), error);
    return item_if(item, read);
}

static struct item *read_call(json_t *object, struct error *error)
{
    static const char *const known[] = {"type", "call_id", "name", "arguments", NULL};
    size_t length;
    const char *id, *name, *arguments;
    if (!check_members(object, known, error) || !(id = need_name(object, "call_id", error)) ||
        !(name = need_name(object, "name", error)) ||
        !(arguments = need_text(object, "arguments", &length, error)))
        return NULL;
    json_t *value = json_parse(arguments, length, NULL, NULL);
    bool valid = json_is_object(value);
    json_decref(value);
    return made(item_call(id, name, arguments, length, valid), error);
}

static struct item *read_output(json_t *object, struct error *error)
{
    static const char *const known[] = {"type", "call_id", "output", "is_error", NULL};
    size_t length;
    const char *id, *output;
    if (!check_members(object, known, error) || !(id = need_name(object, "call_id", error)) ||
        !(output = need_text(object, "output", &length, error)))
        return NULL;
    const json_t *is_error = json_object_get(object, "is_error");
    if (is_error && !json_is_boolean(is_error)) {
        error_set(error, ERROR_BAD_REQUEST, "item 'is_error' must be true or false");
        return NULL;
    }
    return made(item_output(id, output, length, json_is_true(is_error)), error);
}

static struct item *read_reasoning(json_t *object, struct error *error)
{
    static const char *const known[] = {"type", "text", NULL};
    size_t length;
    const char *text;
    if (!check_members(object, known, error) || !(text = need_text(object, "text", &length, error)))
        return NULL;
    return made(item_reasoning(text, length), error);
}

struct item *item_from_value(json_t *object, struct error *error)
{
    static const char *const types[] = {"message", "function_call", "function_call_output",
                                        "reasoning"};
    static struct item *(*const readers[])(json_t *, struct error *) = {
        read_message, read_call, read_output, read_reasoning};
    if (!json_is_object(object)) {
        error_set(error, ERROR_BAD_REQUEST, "an item must be a JSON object");
        return NULL;
    }
    int type = need_choice(object, "type", types, NAME_COUNT(types), error);
    return type < 0 ? NULL : readers[type](object, error);
}

struct item *item_from_json(const char *json, size_t length, struct error *error)
{
    json_t *object = json_parse(json, length, NULL, error);
    if (!object)
        return NULL;
    struct item *item = item_from_value(object, error);
    json_decref(object);
    return item;
}

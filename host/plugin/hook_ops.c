#include "plugin/hook_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "conversation/item_view.h"
#include "plugin/granted.h"

struct removed_pair {
    struct removed_pair *next;
    const char *call_id;
};

static struct asked_hook *from_face(mortise_hook *face)
{
    void *address = face;
    return address;
}

static mortise_status no_memory(struct asked_hook *asked)
{
    asked->no_memory = true;
    return MORTISE_NO_MEMORY;
}

static void note(struct asked_hook *asked, enum hook_change change)
{
    asked->changes |= 1u << change;
}

/* ---- item lists ---- */

void item_list_release(struct item_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        item_unref(list->items[i]);
    free(list->items);
    *list = (struct item_list){0};
}

bool item_list_add(struct item_list *list, struct item *item)
{
    if (!array_reserve(list, 1))
        return false;
    list->items[list->count++] = item;
    return true;
}

/* ---- for every event ---- */

static void op_reason(mortise_hook *hook, const char *text, size_t length)
{
    struct asked_hook *asked = from_face(hook);
    struct text clean = TEXT_INIT;
    utf8_append_clean(&clean, text ? text : "", text ? length : 0);
    size_t taken = utf8_cut(text_cstr(&clean), clean.length, sizeof(asked->reason) - 1);
    snprintf(asked->reason, sizeof(asked->reason), "%.*s", (int)taken, text_cstr(&clean));
    text_release(&clean);
}

/* What goes with the result of the event; NULL: nothing. */
static const char *parts_of(struct asked_hook *asked)
{
    const struct hook_tool_call *call = asked->call;
    if (asked->event != HOOK_post_tool_call || !call->attachment_count)
        return NULL;
    struct text list = TEXT_INIT;
    attachments_write_view(call->attachments, call->attachment_count, &list);
    const char *copy = text_keep(&list, &asked->memory);
    if (!copy)
        no_memory(asked);
    return copy;
}

static const char *op_context(mortise_hook *hook, const char *key)
{
    struct asked_hook *asked = from_face(hook);
    const struct hook_setting *setting = asked->setting;
    if (key && strcmp(key, "parts") == 0)
        return parts_of(asked);
    if (!setting->context || !key)
        return NULL;
    const char *value = setting->context(setting->context_data, key, &asked->memory);
    return strcmp(key, "scopes") == 0
               ? granted_of(asked->hook->plugin, value, &asked->memory)
               : value;
}

static void *op_alloc(mortise_hook *hook, size_t bytes)
{
    return arena_alloc(&from_face(hook)->memory, bytes);
}

/* ---- items: looking ---- */

/* Edits may have moved the list. */
static struct item *const *history(const struct asked_hook *asked, size_t *count)
{
    *count = asked->items ? asked->items->count : asked->history_count;
    return asked->items ? asked->items->items : asked->history;
}

static size_t op_item_count(mortise_hook *hook)
{
    size_t count;
    history(from_face(hook), &count);
    return count;
}

const char *asked_hook_item(struct asked_hook *asked, const struct item *item, size_t *length)
{
    struct text text = TEXT_INIT;
    item_write_view(item, &text);
    size_t written = text.length;
    const char *copy = text_keep(&text, &asked->memory);
    *length = copy ? written : 0;
    if (!copy)
        no_memory(asked);
    return copy;
}

static const char *op_item(mortise_hook *hook, size_t index, size_t *length)
{
    struct asked_hook *asked = from_face(hook);
    size_t count, unused;
    struct item *const *items = history(asked, &count);
    if (!length)
        length = &unused;
    *length = 0;
    return index < count ? asked_hook_item(asked, items[index], length) : NULL;
}

/* ---- items: changing ---- */

/* `old` is the item whose place it takes; NULL: none. */
static mortise_status parse_item(struct asked_hook *asked, const char *json, size_t length,
                                 const struct item *old, struct item **item)
{
    struct error error = ERROR_INIT;
    *item = !json ? NULL
            : old ? item_from_view(json, length, old, &error)
                  : item_from_json(json, length, &error);
    if (*item)
        return MORTISE_OK;
    return error.kind == ERROR_INTERNAL ? no_memory(asked) : MORTISE_INVALID;
}

/* Whether one item may stand where the other stood: a call stays this call, a result stays
 * the result of its call, so that none is left alone (D18). */
static bool may_replace(const struct item *old, const struct item *item)
{
    if (old->kind != item->kind)
        return false;
    if (item->kind != ITEM_CALL && item->kind != ITEM_OUTPUT)
        return true;
    return old->call_id && item->call_id && strcmp(old->call_id, item->call_id) == 0;
}

static mortise_status replace(struct asked_hook *asked, struct item **place, struct item *item)
{
    item_unref(*place);
    *place = item;
    note(asked, CHANGE_ITEM);
    return MORTISE_OK;
}

static mortise_status set_prompt(struct asked_hook *asked, size_t index, const char *json,
                                 size_t length)
{
    struct item *item;
    if (index > 0)
        return MORTISE_NOT_FOUND;
    mortise_status status = parse_item(asked, json, length, NULL, &item);
    if (status != MORTISE_OK)
        return status;
    if (item->kind == ITEM_MESSAGE && item->role == ROLE_USER)
        return replace(asked, asked->prompt, item);
    item_unref(item);
    return MORTISE_INVALID;
}

/* Where item `index` of this request may be edited. */
static mortise_status editable(const struct asked_hook *asked, size_t index, struct item ***place)
{
    if (!asked->items || index < asked->locked_prefix)
        return MORTISE_DENIED;
    if (index >= asked->items->count)
        return MORTISE_NOT_FOUND;
    *place = &asked->items->items[index];
    return MORTISE_OK;
}

static mortise_status edit_item(mortise_hook *hook, size_t index, const char *json, size_t length)
{
    struct asked_hook *asked = from_face(hook);
    struct item **place, *item;
    if (asked->prompt)
        return set_prompt(asked, index, json, length);
    mortise_status status = editable(asked, index, &place);
    if (status == MORTISE_OK)
        status = parse_item(asked, json, length, *place, &item);
    if (status != MORTISE_OK)
        return status;
    if (may_replace(*place, item))
        return replace(asked, place, item);
    item_unref(item);
    return MORTISE_INVALID;
}

static mortise_status remove_item(mortise_hook *hook, size_t index)
{
    struct asked_hook *asked = from_face(hook);
    struct item **place;
    mortise_status status = editable(asked, index, &place);
    if (status != MORTISE_OK)
        return status;
    struct item *item = *place;
    if (item->call_id) {
        struct removed_pair *removed = arena_alloc(&asked->memory, sizeof(*removed));
        if (!removed ||
            !(removed->call_id = arena_copy(&asked->memory, item->call_id, strlen(item->call_id))))
            return no_memory(asked);
        removed->next = asked->removed;
        asked->removed = removed;
    }
    struct item_list *items = asked->items;
    items->count--;
    memmove(place, place + 1, (items->count - index) * sizeof(struct item *));
    item_unref(item);
    note(asked, CHANGE_REMOVAL);
    return MORTISE_OK;
}

const char *asked_hook_unpaired(const struct asked_hook *asked)
{
    for (const struct removed_pair *removed = asked->removed; removed; removed = removed->next) {
        for (size_t i = 0; i < asked->items->count; i++) {
            const struct item *item = asked->items->items[i];
            if (item->call_id && strcmp(item->call_id, removed->call_id) == 0)
                return removed->call_id;
        }
    }
    return NULL;
}

/* Messages only: a call or a result would stand alone. */
static mortise_status append_message(mortise_hook *hook, const char *json, size_t length)
{
    struct asked_hook *asked = from_face(hook);
    struct item *item;
    if (!asked->appended)
        return MORTISE_DENIED;
    mortise_status status = parse_item(asked, json, length, NULL, &item);
    if (status != MORTISE_OK)
        return status;
    if (item->kind != ITEM_MESSAGE) {
        item_unref(item);
        return MORTISE_INVALID;
    }
    if (!array_reserve(asked->appended, 1) || (asked->items && !array_reserve(asked->items, 1))) {
        item_unref(item);
        return no_memory(asked);
    }
    if (asked->items)
        item_list_add(asked->items, item_ref(item));
    item_list_add(asked->appended, item);
    note(asked, CHANGE_ADDITION);
    return MORTISE_OK;
}

/* ---- calls ---- */

static mortise_status take(struct asked_hook *asked, struct bytes *place, struct text *text)
{
    struct bytes bytes;
    bytes.data = text_take(text, &bytes.length);
    if (!bytes.data)
        return no_memory(asked);
    free(place->data);
    *place = bytes;
    return MORTISE_OK;
}

/* The hook's own bytes are kept: reading and writing them again could round a number. */
static mortise_status edit_arguments(mortise_hook *hook, const char *json, size_t length)
{
    struct asked_hook *asked = from_face(hook);
    if (asked->event != HOOK_pre_tool_call)
        return MORTISE_DENIED;
    json_error_t ignored;
    bool no_memory = false;
    json_t *object =
        json ? json_read(json, length, JSON_ALLOW_NUL, &ignored, &no_memory) : NULL;
    bool is_object = json_is_object(object);
    json_decref(object);
    asked->no_memory |= no_memory;
    if (!is_object)
        return MORTISE_INVALID;
    struct text text = TEXT_INIT;
    text_append(&text, json, length);
    mortise_status status = take(asked, &asked->call->arguments, &text);
    if (status == MORTISE_OK)
        note(asked, CHANGE_ARGUMENTS);
    return status;
}

static mortise_status set_result(struct asked_hook *asked, bool is_error, const char *data,
                                 size_t length)
{
    struct text text = TEXT_INIT;
    if (!data && length)
        return MORTISE_INVALID;
    utf8_append_clean(&text, data ? data : "", length);
    mortise_status status = take(asked, &asked->call->result, &text);
    if (status == MORTISE_OK)
        asked->call->is_error = is_error;
    return status;
}

static mortise_status respond(mortise_hook *hook, bool is_error, const char *text, size_t length)
{
    struct asked_hook *asked = from_face(hook);
    if (asked->event != HOOK_pre_tool_call)
        return MORTISE_DENIED;
    mortise_status status = set_result(asked, is_error, text, length);
    if (status == MORTISE_OK)
        asked->responded = true;
    return status;
}

static mortise_status edit_result(mortise_hook *hook, bool is_error, const char *text,
                                  size_t length)
{
    struct asked_hook *asked = from_face(hook);
    if (asked->event != HOOK_post_tool_call)
        return MORTISE_DENIED;
    bool was_error = asked->call->is_error;
    mortise_status status = set_result(asked, is_error, text, length);
    if (status != MORTISE_OK)
        return status;
    if (is_error && !was_error)
        asked->call->attachment_count = 0;
    asked->call->is_edited = true;
    note(asked, CHANGE_RESULT);
    return MORTISE_OK;
}

/* By the name that the plugin gave it, whatever the configuration calls it (T69). */
static void *op_tool_state(mortise_hook *hook, const char *name, const char *tag)
{
    const struct asked_hook *asked = from_face(hook);
    return asked->call && name && tag ? plugin_tool_state(asked->hook->plugin, name, tag) : NULL;
}

/* ---- all that changes something ---- */

/* What was carried out goes on tape; hands the status on. */
static mortise_status on_tape(const struct asked_hook *asked, mortise_status status,
                              const struct hook_edit *edit)
{
    const struct hook_tape *tape = asked->setting->tape;
    if (tape && status == MORTISE_OK)
        tape->edited(tape->self, edit);
    return status;
}

static mortise_status op_set_item(mortise_hook *hook, size_t index, const char *json, size_t length)
{
    const struct hook_edit edit = {.what = "set_item", .index = index, .text = {json, length}};
    return on_tape(from_face(hook), edit_item(hook, index, json, length), &edit);
}

static mortise_status op_remove_item(mortise_hook *hook, size_t index)
{
    const struct hook_edit edit = {.what = "remove_item", .index = index};
    return on_tape(from_face(hook), remove_item(hook, index), &edit);
}

static mortise_status op_append(mortise_hook *hook, const char *json, size_t length)
{
    const struct hook_edit edit = {.what = "append", .text = {json, length}};
    return on_tape(from_face(hook), append_message(hook, json, length), &edit);
}

static mortise_status op_set_arguments(mortise_hook *hook, const char *json, size_t length)
{
    const struct hook_edit edit = {.what = "set_arguments", .text = {json, length}};
    return on_tape(from_face(hook), edit_arguments(hook, json, length), &edit);
}

static mortise_status op_respond(mortise_hook *hook, bool is_error, const char *text, size_t length)
{
    const struct hook_edit edit = {
        .what = "respond", .is_error = is_error, .text = {text, length}};
    return on_tape(from_face(hook), respond(hook, is_error, text, length), &edit);
}

static mortise_status op_set_result(mortise_hook *hook, bool is_error, const char *text,
                                    size_t length)
{
    const struct hook_edit edit = {
        .what = "set_result", .is_error = is_error, .text = {text, length}};
    return on_tape(from_face(hook), edit_result(hook, is_error, text, length), &edit);
}

static const mortise_hook_ops ops = {.size = sizeof(ops),
                                     .reason = op_reason,
                                     .context = op_context,
                                     .alloc = op_alloc,
                                     .item_count = op_item_count,
                                     .item = op_item,
                                     .set_item = op_set_item,
                                     .remove_item = op_remove_item,
                                     .append = op_append,
                                     .set_arguments = op_set_arguments,
                                     .respond = op_respond,
                                     .set_result = op_set_result,
                                     .tool_state = op_tool_state};

void asked_hook_init(struct asked_hook *asked, const struct hook_setting *setting,
                     const struct hook *hook, enum hook_event event)
{
    *asked = (struct asked_hook){.face = {.size = sizeof(asked->face), .ops = &ops},
                                 .setting = setting,
                                 .hook = hook,
                                 .event = event};
    arena_init(&asked->memory, NULL, 0);
}

void asked_hook_release(struct asked_hook *asked)
{
    arena_release(&asked->memory);
}

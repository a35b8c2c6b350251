/* Tools that a plugin makes while it is loaded. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* What run() gets as its `self`, and behind it, in the same block, the texts. */
struct added {
    mortise_tool face; /* first: the host has its address */
    mortise_tool_meta meta;
    struct added *next;
    mortise_status (*run)(mortise_call *call, const char *json, void *data);
    void (*release)(void *data);
    void *data;
    max_align_t rest[];
};

/* ---- copying ---- */

/* Where the next piece goes; with a NULL `at` the pieces are only measured. */
struct room {
    char *at;
    size_t bytes;
};

static void *take(struct room *room, size_t bytes)
{
    void *piece = room->at;
    room->bytes += bytes;
    if (room->at)
        room->at += bytes;
    return piece;
}

static const char *copy_text(struct room *room, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = take(room, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static const char *const *copy_list(const char **pointers, struct room *room,
                                    const char *const *list)
{
    size_t count = 0;
    for (; list && list[count]; count++) {
        const char *copy = copy_text(room, list[count]);
        if (pointers)
            pointers[count] = copy;
    }
    return list ? pointers : NULL;
}

static size_t list_bytes(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return list ? (count + 1) * sizeof(*list) : 0;
}

/* Lists come first, so that they are aligned; zeroed memory ends them. */
static void copy_meta(mortise_tool_meta *meta, struct room *room, const mortise_new_tool *tool)
{
    const char **scopes = take(room, list_bytes(tool->scopes));
    const char **examples = take(room, list_bytes(tool->examples));
    *meta = (mortise_tool_meta){
        .size = sizeof(*meta),
        .flags = tool->flags,
        .name = copy_text(room, tool->name),
        .description = copy_text(room, tool->description),
        .input_schema = copy_text(room, tool->input_schema),
        .output_schema = copy_text(room, tool->output_schema),
        .title = copy_text(room, tool->title),
        .scopes = copy_list(scopes, room, tool->scopes),
        .examples = copy_list(examples, room, tool->examples),
    };
}

/* ---- adding ---- */

static mortise_status run_added(const mortise_tool *self, mortise_call *call, const void *args)
{
    const struct added *added = (const struct added *)self;
    return added->run(call, args, added->data);
}

static mortise_status failed(struct mortise_tool_list *list, const mortise_new_tool *tool,
                             mortise_status status)
{
    if (tool->release)
        tool->release(tool->data);
    if (list->status == MORTISE_OK)
        list->status = status;
    return status;
}

mortise_status mortise_add_tool(mortise_tool_list *list, const mortise_new_tool *tool)
{
    mortise_tool_meta meta;
    struct room room = {0};
    if (!tool->name || !tool->run)
        return failed(list, tool, MORTISE_INVALID);
    copy_meta(&meta, &room, tool);
    struct added *added = calloc(1, sizeof(*added) + room.bytes);
    if (!added)
        return failed(list, tool, MORTISE_NO_MEMORY);
    room.at = (char *)added->rest;
    copy_meta(&added->meta, &room, tool);
    added->face = (mortise_tool){.size = sizeof(mortise_tool),
                                 .meta = &added->meta,
                                 .run = run_added,
                                 .options = tool->is_optional ? MORTISE_MAY_BE_LEFT_OUT : 0};
    added->run = tool->run;
    added->release = tool->release;
    added->data = tool->data;
    *list->end = added;
    list->end = &added->next;
    list->count++;
    return MORTISE_OK;
}

/* ---- for open.c ---- */

void mortise__tools_begin(struct mortise_tool_list *list)
{
    *list = (struct mortise_tool_list){.end = &list->first};
}

void mortise__tools_put(const struct mortise_tool_list *list, void *state, const char *state_tag,
                        const mortise_tool **out)
{
    for (struct added *added = list->first; added; added = added->next) {
        added->face.state = state;
        added->face.state_tag = state_tag;
        *out++ = &added->face;
    }
}

void mortise__tools_release(struct mortise_tool_list *list)
{
    struct added *added = list->first;
    while (added) {
        struct added *next = added->next;
        if (added->release)
            added->release(added->data);
        free(added);
        added = next;
    }
    list->first = NULL;
}

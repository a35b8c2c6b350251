/* What tool_definition() does: opens a plugin from its parts. */
#include "internal.h"

#include <stdlib.h>

/* What the host gets, and behind it, in the same block, copies of the tools and hooks that carry
 * the plugin's state. */
struct opened {
    mortise_plugin face; /* first: the host has its address */
    const mortise_plugin_parts *parts;
    void *state;
    struct mortise_tool_list added;
    max_align_t rest[];
};

static size_t count_pointers(const void *list)
{
    const void *const *pointers = list;
    size_t n = 0;
    while (pointers && pointers[n])
        n++;
    return n;
}

static void close_plugin(mortise_plugin *face)
{
    struct opened *self = (struct opened *)face;
    mortise__tools_release(&self->added);
    if (self->parts->close)
        self->parts->close(self->state);
    free(self);
}

/* Copies the tools and hooks; puts what the host shall know into the plugin's face. */
static void fill(struct opened *self, size_t tool_count, size_t hook_count)
{
    const mortise_plugin_parts *parts = self->parts;
    mortise_tool *tools = (mortise_tool *)(void *)self->rest;
    mortise_hooks *hooks = (mortise_hooks *)(void *)(tools + tool_count);
    const mortise_tool **tool_list = (const mortise_tool **)(void *)(hooks + hook_count);
    const mortise_hooks **hook_list =
        (const mortise_hooks **)(void *)(tool_list + tool_count + self->added.count);

    size_t offered = 0;
    for (size_t i = 0; i < tool_count; i++) {
        if (parts->offers && !parts->offers(self->state, parts->tools[i]))
            continue;
        tools[offered] = *parts->tools[i];
        if (!tools[offered].state) {
            tools[offered].state = self->state;
            tools[offered].state_tag = parts->state_tag;
        }
        tool_list[offered] = &tools[offered];
        offered++;
    }
    mortise__tools_put(&self->added, self->state, parts->state_tag, tool_list + offered);
    size_t wanted = 0;
    for (size_t i = 0; i < hook_count; i++) {
        if (parts->wants && !parts->wants(self->state, parts->hooks[i]))
            continue;
        hooks[wanted] = *parts->hooks[i];
        if (!hooks[wanted].state)
            hooks[wanted].state = self->state;
        hook_list[wanted] = &hooks[wanted];
        wanted++;
    }
    self->face = (mortise_plugin){
        .size = sizeof(mortise_plugin),
        .name = parts->name,
        .version = parts->version,
        .tools = tool_list,
        .tool_count = offered + self->added.count,
        .hooks = hook_list,
        .hook_count = wanted,
        .close = close_plugin,
    };
}

/* After open(): nothing came of it. */
static void undo_open(const mortise_plugin_parts *parts, void *state,
                      struct mortise_tool_list *added)
{
    mortise__tools_release(added);
    if (parts->open && parts->close)
        parts->close(state);
}

/* Lets the plugin make its tools; false after mortise_refuse(). */
static bool add_tools(const mortise_host *host, const mortise_plugin_parts *parts, void *state,
                      struct mortise_tool_list *added)
{
    mortise__tools_begin(added);
    if (parts->add)
        parts->add(state, added);
    if (added->status == MORTISE_NO_MEMORY)
        mortise_refuse(host, "out of memory");
    else if (added->status != MORTISE_OK)
        mortise_refuse(host, "it made a tool without a name or a function");
    return added->status == MORTISE_OK;
}

mortise_plugin *mortise__open_parts(const mortise_host *host, const mortise_plugin_parts *parts,
                                    void *state)
{
    size_t tool_count = count_pointers(parts->tools);
    size_t hook_count = count_pointers(parts->hooks);
    struct mortise_tool_list added;
    if (parts->open && !(state = parts->open(host)))
        return NULL;
    if (!add_tools(host, parts, state, &added)) {
        undo_open(parts, state, &added);
        return NULL;
    }
    struct opened *self = calloc(1, sizeof(*self) + tool_count * sizeof(mortise_tool) +
                                        hook_count * sizeof(mortise_hooks) +
                                        (tool_count + added.count + hook_count) * sizeof(void *));
    if (!self) {
        undo_open(parts, state, &added);
        return mortise_refuse(host, "out of memory");
    }
    self->parts = parts;
    self->state = state;
    self->added = added;
    fill(self, tool_count, hook_count);
    return &self->face;
}

mortise_plugin *mortise_open_plugin(const mortise_host *host, const mortise_plugin_parts *parts)
{
    char *reason = NULL;
    if (!parts->guard)
        return mortise__open_parts(host, parts, NULL);
    mortise__keep_refusal(&reason);
    mortise_plugin *plugin = mortise__open_parts(host, parts, NULL);
    mortise__keep_refusal(NULL);
    if (plugin || !reason) {
        free(reason);
        return plugin;
    }
    return mortise__open_closed(host, parts, reason);
}

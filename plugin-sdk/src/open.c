/* What tool_definition() does: opens a plugin from its parts. */
#include "internal.h"

#include <stdlib.h>

/* What the host gets, and behind it, in the same block, all that it points to: copies of the
 * tools and hooks that carry the plugin's state. */
struct opened {
    mortise_plugin face; /* first: the host has its address */
    const mortise_plugin_parts *parts;
    void *state;
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
    if (self->parts->close)
        self->parts->close(self->state);
    free(self);
}

mortise_plugin *mortise__open_parts(const mortise_host *host, const mortise_plugin_parts *parts,
                                    void *state)
{
    size_t tool_count = count_pointers(parts->tools);
    size_t hook_count = count_pointers(parts->hooks);
    struct block {
        struct opened opened;
        max_align_t rest[];
    } * block;
    size_t size = sizeof(*block) + tool_count * (sizeof(mortise_tool) + sizeof(mortise_tool *)) +
                  hook_count * (sizeof(mortise_hooks) + sizeof(mortise_hooks *));

    block = calloc(1, size);
    if (!block)
        return mortise_refuse(host, "out of memory");
    struct opened *self = &block->opened;
    self->parts = parts;
    self->state = state;
    if (parts->open) {
        self->state = parts->open(host);
        if (!self->state) {
            free(block);
            return NULL;
        }
    }

    mortise_tool *tools = (mortise_tool *)(void *)block->rest;
    mortise_hooks *hooks = (mortise_hooks *)(void *)(tools + tool_count);
    const mortise_tool **tool_list = (const mortise_tool **)(void *)(hooks + hook_count);
    const mortise_hooks **hook_list = (const mortise_hooks **)(void *)(tool_list + tool_count);
    for (size_t i = 0; i < tool_count; i++) {
        tools[i] = *parts->tools[i];
        if (!tools[i].state) {
            tools[i].state = self->state;
            tools[i].state_tag = parts->state_tag;
        }
        tool_list[i] = &tools[i];
    }
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
        .tool_count = tool_count,
        .hooks = hook_list,
        .hook_count = wanted,
        .close = close_plugin,
    };
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

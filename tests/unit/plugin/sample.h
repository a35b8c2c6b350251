/*
 * sample - plugins as a factory would return them, without a file.
 *
 * Each has its own memory, so that a test can change what it likes, and counts how often it
 * was closed.
 */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include "plugin/host_api.h"
#include "plugin/registry.h"

#define SAMPLE_MAX 8

struct sample {
    mortise_plugin face; /* first: close() gets its address */
    mortise_tool_meta metas[SAMPLE_MAX];
    mortise_tool tools[SAMPLE_MAX];
    const mortise_tool *tool_pointers[SAMPLE_MAX];
    mortise_hooks hooks[SAMPLE_MAX];
    const mortise_hooks *hook_pointers[SAMPLE_MAX];
    int closed;
};

static mortise_status sample_run(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)call;
    (void)args;
    return MORTISE_OK;
}

static void sample_close(mortise_plugin *self)
{
    void *address = self;
    struct sample *sample = address;
    sample->closed++;
}

static inline void sample_init(struct sample *sample, const char *name)
{
    *sample = (struct sample){.face = {.size = sizeof(mortise_plugin),
                                       .name = name,
                                       .tools = sample->tool_pointers,
                                       .hooks = sample->hook_pointers,
                                       .close = sample_close}};
}

static inline mortise_tool_meta *sample_tool(struct sample *sample, const char *name)
{
    size_t i = sample->face.tool_count++;
    sample->metas[i] = (mortise_tool_meta){
        .size = sizeof(mortise_tool_meta), .name = name, .input_schema = "{\"type\":\"object\"}"};
    sample->tools[i] =
        (mortise_tool){.size = sizeof(mortise_tool), .meta = &sample->metas[i], .run = sample_run};
    sample->tool_pointers[i] = &sample->tools[i];
    return &sample->metas[i];
}

static inline mortise_hooks *sample_hook(struct sample *sample, const char *name, int32_t priority)
{
    size_t i = sample->face.hook_count++;
    sample->hooks[i] =
        (mortise_hooks){.size = sizeof(mortise_hooks), .priority = priority, .name = name};
    sample->hook_pointers[i] = &sample->hooks[i];
    return &sample->hooks[i];
}

/* Registers it under the file "/NAME.so"; what is refused is closed, as the loader does. */
static inline bool sample_add(struct registry *registry, struct sample *sample, struct error *error)
{
    char path[128];
    snprintf(path, sizeof(path), "/%s.so", sample->face.name ? sample->face.name : "nameless");
    struct plugin *plugin = plugin_new(path, &sample->face, NULL);
    if (!plugin)
        return error_memory(error);
    if (registry_add(registry, plugin, error))
        return true;
    plugin_unref(plugin);
    return false;
}

#endif

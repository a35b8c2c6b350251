/* What one plugin is to the host: read once, shared by the registries that have it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "plugin/account.h"
#include "plugin/gate.h"
#include "plugin/host_api.h"
#include "plugin/meta.h"
#include "plugin/registry.h"

/* Far above any use: a count beyond it is a struct that was not filled. */
#define MAX_ENTRIES ((size_t)10000)

/* ---- life ---- */

struct plugin *plugin_new(const char *path, mortise_plugin *face, struct host_api *api)
{
    struct plugin *plugin = calloc(1, sizeof(*plugin));
    if (!plugin)
        return NULL;
    arena_init(&plugin->memory, NULL, 0);
    plugin->path = arena_copy(&plugin->memory, path, strlen(path));
    if (!plugin->path) {
        free(plugin);
        return NULL;
    }
    atomic_init(&plugin->refs, 1);
    plugin->face = face;
    plugin->api = api;
    return plugin;
}

struct plugin *plugin_ref(struct plugin *plugin)
{
    atomic_fetch_add_explicit(&plugin->refs, 1, memory_order_relaxed);
    return plugin;
}

static void close_face(mortise_plugin *face)
{
    if (!MORTISE_HAS(face, mortise_plugin, close) || !face->close)
        return;
    objects_lock();
    face->close(face);
    objects_unlock();
}

static void release_tool(struct tool *tool)
{
    account_unref(tool->account);
    gate_free(tool->gate);
    meta_release(tool);
}

void plugin_unref(struct plugin *plugin)
{
    if (!plugin || atomic_fetch_sub_explicit(&plugin->refs, 1, memory_order_acq_rel) > 1)
        return;
    if (plugin->confined)
        close_face(plugin->confined);
    close_face(plugin->face);
    for (size_t i = 0; i < plugin->tool_count; i++)
        release_tool(plugin->tools[i]);
    host_api_free(plugin->api);
    json_decref(plugin->config);
    arena_release(&plugin->memory);
    free(plugin);
}

/* ---- the plugin itself ---- */

static bool check_arrays(const mortise_plugin *face, struct error *error)
{
    if (face->tool_count > MAX_ENTRIES || face->hook_count > MAX_ENTRIES)
        return error_set(error, ERROR_PLUGIN,
                         "it counts %zu tools and %zu hooks: its mortise_plugin is not filled in",
                         face->tool_count, face->hook_count);
    if ((face->tool_count && !face->tools) || (face->hook_count && !face->hooks))
        return error_set(error, ERROR_PLUGIN,
                         "it counts %zu tools and %zu hooks, but an array of them is NULL",
                         face->tool_count, face->hook_count);
    return true;
}

static bool read_face(struct plugin *plugin, struct error *error)
{
    const mortise_plugin *face = plugin->face;
    if (!MORTISE_HAS(face, mortise_plugin, close))
        return error_set(error, ERROR_PLUGIN,
                         "its mortise_plugin is not complete: 'size' says %u bytes, %zu are "
                         "needed; set .size = sizeof(mortise_plugin)",
                         (unsigned)face->size,
                         offsetof(mortise_plugin, close) + sizeof(face->close));
    if (!name_valid(face->name))
        return error_set(error, ERROR_PLUGIN,
                         "it has the name '%.80s': a plugin's name is 1 to 64 of A-Z a-z 0-9 _ -",
                         face->name ? face->name : "");
    plugin->name = plugin_copy(plugin, face->name);
    plugin->version = face->version ? plugin_copy(plugin, face->version) : NULL;
    if (!plugin->name || (face->version && !plugin->version))
        return error_memory(error);
    const char *on_failure = json_member_string(plugin->config, "on_failure");
    plugin->ignores_failures = on_failure && strcmp(on_failure, "ignore") == 0;
    return check_arrays(face, error);
}

/* ---- its tools ---- */

static bool read_tools(struct plugin *plugin, struct error *error)
{
    size_t count = plugin->face->tool_count;
    struct tool *tools = arena_alloc(&plugin->memory, count * sizeof(*tools));
    plugin->tools = arena_alloc(&plugin->memory, count * sizeof(*plugin->tools));
    if (!tools || !plugin->tools)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct tool *tool = &tools[i];
        struct error reason = ERROR_INIT;
        if (!meta_read(plugin, plugin->face->tools[i], tool, &reason)) {
            const mortise_tool *instance = plugin->face->tools[i];
            if (instance && tool_may_be_left_out(instance) && reason.kind != ERROR_INTERNAL) {
                log_warning("plugin '%s': a tool is left out: %s", plugin->name, reason.message);
                continue;
            }
            if (error)
                *error = reason;
            return false;
        }
        plugin->tools[plugin->tool_count++] = tool; /* and is released with them */
        bool is_serial = tool->meta.flags & MORTISE_SERIAL;
        if (!(tool->account = account_new()) || (is_serial && !(tool->gate = gate_new())))
            return error_memory(error);
    }
    return true;
}

/* F11 */
static void warn_of_missing_schemas(const struct plugin *plugin)
{
    for (size_t i = 0; i < plugin->tool_count; i++) {
        const mortise_tool_meta *meta = plugin->tools[i]->instance->meta;
        if (!meta->shape && (!meta->input_schema || !*meta->input_schema))
            log_warning("tool '%s' of '%s' has no input schema, so the model must guess its "
                        "arguments: give its meta a shape or an input_schema",
                        plugin->tools[i]->name, plugin->path);
    }
}

/* ---- its hooks ---- */

static bool read_hooks(struct plugin *plugin, struct error *error)
{
    size_t count = plugin->face->hook_count;
    plugin->hooks = arena_alloc(&plugin->memory, count * sizeof(*plugin->hooks));
    if (!plugin->hooks)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        const mortise_hooks *table = plugin->face->hooks[i];
        if (!table || !MORTISE_HAS(table, mortise_hooks, stream_complete))
            return error_set(error, ERROR_PLUGIN,
                             "hook %zu is not complete: it needs a mortise_hooks with its size set",
                             i);
        if (!name_valid(table->name))
            return error_set(error, ERROR_PLUGIN,
                             "hook %zu has the name '%.80s': a name is 1 to 64 of A-Z a-z 0-9 _ -",
                             i, table->name ? table->name : "");
        plugin->hooks[i] = (struct hook){.table = table, .plugin = plugin, .index = i};
        if (!(plugin->hooks[i].name = plugin_copy(plugin, table->name)))
            return error_memory(error);
    }
    plugin->hook_count = count;
    return true;
}

bool plugin_read(struct plugin *plugin, struct error *error)
{
    if (!read_face(plugin, error) || !read_tools(plugin, error) || !read_hooks(plugin, error))
        return false;
    warn_of_missing_schemas(plugin);
    return true;
}

/* ---- asking ---- */

void *plugin_tool_state(const struct plugin *plugin, const char *name, const char *tag)
{
    for (size_t i = 0; i < plugin->tool_count; i++) {
        const mortise_tool *instance = plugin->tools[i]->instance;
        if (strcmp(plugin->tools[i]->own_name, name) == 0)
            return instance->state_tag && strcmp(instance->state_tag, tag) == 0 ? instance->state
                                                                                : NULL;
    }
    return NULL;
}

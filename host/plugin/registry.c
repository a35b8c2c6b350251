#include "plugin/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/log.h"
#include "plugin/gate.h"
#include "plugin/host_api.h"
#include "plugin/meta.h"

/* Far above any use: a count beyond it is a struct that was not filled. */
#define MAX_ENTRIES ((size_t)10000)

struct claim {
    const void *handle;
    char *path;
};

struct registry {
    atomic_int refs;
    struct tool *by_name; /* uthash */
    struct {
        struct tool **items;
        size_t count, capacity;
    } tools; /* sorted */
    struct {
        struct hook **items;
        size_t count, capacity;
    } hooks; /* sorted */
    struct {
        struct plugin **items;
        size_t count, capacity;
    } plugins;
    struct {
        struct refusal *items;
        size_t count, capacity;
    } refusals;
    struct {
        struct claim *items;
        size_t count, capacity;
    } claims;
};

/* ---- plugins ---- */

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
    plugin->face = face;
    plugin->api = api;
    return plugin;
}

static void release_tool(struct tool *tool)
{
    gate_free(tool->gate);
    meta_release(tool);
}

static void release_tools(struct plugin *plugin)
{
    for (size_t i = 0; i < plugin->tool_count; i++)
        release_tool(plugin->tools[i]);
}

void plugin_free(struct plugin *plugin)
{
    if (!plugin)
        return;
    mortise_plugin *face = plugin->face;
    if (MORTISE_HAS(face, mortise_plugin, close) && face->close)
        face->close(face);
    release_tools(plugin);
    host_api_free(plugin->api);
    json_decref(plugin->config);
    arena_release(&plugin->memory);
    free(plugin);
}

/* ---- life ---- */

struct registry *registry_new(void)
{
    struct registry *registry = calloc(1, sizeof(*registry));
    if (registry)
        atomic_init(&registry->refs, 1);
    return registry;
}

struct registry *registry_ref(struct registry *registry)
{
    atomic_fetch_add(&registry->refs, 1);
    return registry;
}

void registry_unref(struct registry *registry)
{
    if (!registry || atomic_fetch_sub(&registry->refs, 1) > 1)
        return;
    HASH_CLEAR(hh, registry->by_name);
    /* Newest first: a plugin may lean on an older one. */
    while (registry->plugins.count)
        plugin_free(registry->plugins.items[--registry->plugins.count]);
    for (size_t i = 0; i < registry->refusals.count; i++) {
        free(registry->refusals.items[i].path);
        free(registry->refusals.items[i].reason);
    }
    for (size_t i = 0; i < registry->claims.count; i++)
        free(registry->claims.items[i].path);
    free(registry->tools.items);
    free(registry->hooks.items);
    free(registry->plugins.items);
    free(registry->refusals.items);
    free(registry->claims.items);
    free(registry);
}

/* ---- adding: the plugin itself ---- */

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

static bool read_plugin(const struct registry *registry, struct plugin *plugin, struct error *error)
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
    for (size_t i = 0; i < registry->plugins.count; i++)
        if (strcmp(registry->plugins.items[i]->name, face->name) == 0)
            return error_set(error, ERROR_PLUGIN,
                             "plugin '%s' was already loaded from '%s', and '%s' has the same "
                             "name: remove one of them",
                             face->name, registry->plugins.items[i]->path, plugin->path);
    plugin->name = plugin_copy(plugin, face->name);
    plugin->version = face->version ? plugin_copy(plugin, face->version) : NULL;
    if (!plugin->name || (face->version && !plugin->version))
        return error_memory(error);
    const char *on_failure = json_member_string(plugin->config, "on_failure");
    plugin->ignores_failures = on_failure && strcmp(on_failure, "ignore") == 0;
    return check_arrays(face, error);
}

/* ---- adding: tools ---- */

/* Puts a tool under its name, or says who has it (T37). */
static bool insert_tool(struct registry *registry, struct tool *tool, struct error *error)
{
    const struct tool *other = registry_find(registry, tool->name);
    if (other && other->plugin == tool->plugin)
        return error_set(error, ERROR_PLUGIN,
                         "Tool with name '%s' already registered: '%s' brings it twice", tool->name,
                         tool->plugin->path);
    if (other)
        return error_set(error, ERROR_PLUGIN,
                         "Tool with name '%s' already registered from '%s', and '%s' brings it "
                         "again: give one of the two plugins a \"prefix\" or \"rename\" in the "
                         "configuration",
                         tool->name, other->plugin->path, tool->plugin->path);
    HASH_ADD_KEYPTR(hh, registry->by_name, tool->name, strlen(tool->name), tool);
    return hash_added(tool) || error_memory(error);
}

static bool add_tools(struct registry *registry, struct plugin *plugin, struct error *error)
{
    size_t count = plugin->face->tool_count;
    struct tool *tools = arena_alloc(&plugin->memory, count * sizeof(*tools));
    plugin->tools = arena_alloc(&plugin->memory, count * sizeof(*plugin->tools));
    if (!tools || !plugin->tools)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct tool *tool = &tools[i];
        if (!meta_read(plugin, plugin->face->tools[i], tool, error))
            return false;
        bool serial = tool->meta.flags & MORTISE_SERIAL;
        if (serial && !(tool->gate = gate_new()))
            error_memory(error);
        if ((serial && !tool->gate) || !insert_tool(registry, tool, error)) {
            release_tool(tool);
            return false;
        }
        plugin->tools[plugin->tool_count++] = tool;
    }
    return true;
}

/* Takes out what add_tools() put in. */
static void remove_tools(struct registry *registry, struct plugin *plugin)
{
    for (size_t i = 0; i < plugin->tool_count; i++)
        HASH_DEL(registry->by_name, plugin->tools[i]);
    release_tools(plugin);
    plugin->tool_count = 0;
}

/* ---- adding: hooks ---- */

static bool add_hooks(struct plugin *plugin, struct error *error)
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

/* ---- adding: all or nothing ---- */

static bool hook_is_before(const struct hook *a, const struct hook *b)
{
    if (a->table->priority != b->table->priority)
        return a->table->priority < b->table->priority;
    int names = strcmp(a->plugin->name, b->plugin->name);
    return names ? names < 0 : a->index < b->index;
}

/* Both lists are kept in order; there is room for one more. */
static void place_tool(struct registry *registry, struct tool *tool)
{
    size_t low = 0, high = registry->tools.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(registry->tools.items[middle]->name, tool->name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&registry->tools.items[low + 1], &registry->tools.items[low],
            (registry->tools.count - low) * sizeof(registry->tools.items[0]));
    registry->tools.items[low] = tool;
    registry->tools.count++;
}

static void place_hook(struct registry *registry, struct hook *hook)
{
    size_t at = registry->hooks.count++;
    for (; at > 0 && hook_is_before(hook, registry->hooks.items[at - 1]); at--)
        registry->hooks.items[at] = registry->hooks.items[at - 1];
    registry->hooks.items[at] = hook;
}

/* Nothing in here can fail. */
static void commit(struct registry *registry, struct plugin *plugin)
{
    for (size_t i = 0; i < plugin->tool_count; i++)
        place_tool(registry, plugin->tools[i]);
    for (size_t i = 0; i < plugin->hook_count; i++)
        place_hook(registry, &plugin->hooks[i]);
    registry->plugins.items[registry->plugins.count++] = plugin;
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

bool registry_add(struct registry *registry, struct plugin *plugin, struct error *error)
{
    if (!read_plugin(registry, plugin, error))
        return false;
    if (!add_tools(registry, plugin, error) || !add_hooks(plugin, error)) {
        remove_tools(registry, plugin);
        return false;
    }
    if (!array_reserve(&registry->tools, plugin->tool_count) ||
        !array_reserve(&registry->hooks, plugin->hook_count) ||
        !array_reserve(&registry->plugins, 1)) {
        remove_tools(registry, plugin);
        return error_memory(error);
    }
    commit(registry, plugin);
    warn_of_missing_schemas(plugin);
    return true;
}

bool registry_claim(struct registry *registry, const void *handle, const char *path,
                    const char **earlier)
{
    *earlier = NULL;
    for (size_t i = 0; i < registry->claims.count; i++) {
        if (registry->claims.items[i].handle == handle) {
            *earlier = registry->claims.items[i].path;
            return false;
        }
    }
    char *copy = strdup(path);
    if (!copy || !array_reserve(&registry->claims, 1)) {
        free(copy);
        return false;
    }
    registry->claims.items[registry->claims.count++] = (struct claim){handle, copy};
    return true;
}

void registry_refuse(struct registry *registry, const char *path, const char *reason)
{
    struct refusal refusal = {strdup(path), strdup(reason)};
    if (refusal.path && refusal.reason && array_reserve(&registry->refusals, 1)) {
        registry->refusals.items[registry->refusals.count++] = refusal;
        return;
    }
    free(refusal.path);
    free(refusal.reason);
    log_error("out of memory: that '%s' was refused is not kept", path);
}

/* ---- looking ---- */

const struct tool *registry_find(const struct registry *registry, const char *name)
{
    struct tool *tool;
    HASH_FIND_STR(registry->by_name, name, tool);
    return tool;
}

const struct tool *registry_tool(const struct registry *registry, size_t index)
{
    return index < registry->tools.count ? registry->tools.items[index] : NULL;
}

size_t registry_tool_count(const struct registry *registry)
{
    return registry->tools.count;
}

const struct hook *registry_hook(const struct registry *registry, size_t index)
{
    return index < registry->hooks.count ? registry->hooks.items[index] : NULL;
}

size_t registry_hook_count(const struct registry *registry)
{
    return registry->hooks.count;
}

const struct plugin *registry_plugin(const struct registry *registry, size_t index)
{
    return index < registry->plugins.count ? registry->plugins.items[index] : NULL;
}

const struct refusal *registry_refusal(const struct registry *registry, size_t index)
{
    return index < registry->refusals.count ? &registry->refusals.items[index] : NULL;
}

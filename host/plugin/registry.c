#include "plugin/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/log.h"
#include "plugin/account.h"

/* A tool or a plugin under its name; another registry has its own. */
struct named {
    const char *name;
    const struct tool *tool;
    const struct plugin *plugin;
    UT_hash_handle hh;
};

struct claim {
    const void *object;
    const char *path;
    UT_hash_handle hh;
};

struct registry {
    atomic_int refs;
    struct named *tool_names, *plugin_names;
    struct claim *claims;
    struct arena memory; /* of what is in the hash tables */
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
        struct counted *items;
        size_t count, capacity;
    } gone; /* the accounts of tools that an earlier registry had */
};

/* ---- life ---- */

struct registry *registry_new(void)
{
    struct registry *registry = calloc(1, sizeof(*registry));
    if (registry) {
        atomic_init(&registry->refs, 1);
        arena_init(&registry->memory, NULL, 0);
    }
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
    HASH_CLEAR(hh, registry->tool_names);
    HASH_CLEAR(hh, registry->plugin_names);
    HASH_CLEAR(hh, registry->claims);
    /* Newest first: a plugin may lean on an older one. */
    while (registry->plugins.count)
        plugin_unref(registry->plugins.items[--registry->plugins.count]);
    for (size_t i = 0; i < registry->refusals.count; i++) {
        free(registry->refusals.items[i].path);
        free(registry->refusals.items[i].reason);
    }
    for (size_t i = 0; i < registry->gone.count; i++)
        account_unref(registry->gone.items[i].account);
    free(registry->gone.items);
    free(registry->tools.items);
    free(registry->hooks.items);
    free(registry->plugins.items);
    free(registry->refusals.items);
    arena_release(&registry->memory);
    free(registry);
}

/* ---- adding: names ---- */

static const struct named *find(const struct named *table, const char *name)
{
    struct named *named;
    HASH_FIND_STR(table, name, named);
    return named;
}

static bool insert(struct named **table, struct named *named, struct error *error)
{
    HASH_ADD_KEYPTR(hh, *table, named->name, strlen(named->name), named);
    return hash_added(named) || error_memory(error);
}

static bool insert_plugin(struct registry *registry, const struct plugin *plugin,
                          struct named *named, struct error *error)
{
    const struct named *other = find(registry->plugin_names, plugin->name);
    if (other)
        return error_set(error, ERROR_PLUGIN,
                         "plugin '%s' was already loaded from '%s', and '%s' has the same "
                         "name: remove one of them",
                         plugin->name, other->plugin->path, plugin->path);
    *named = (struct named){.name = plugin->name, .plugin = plugin};
    return insert(&registry->plugin_names, named, error);
}

static void warn_of_left_out(const struct tool *tool, const struct tool *other)
{
    log_warning("plugin '%s': its tool '%s' is left out, since '%s' brings one of that name: give "
                "one of the two plugins a \"prefix\" or \"rename\" in the configuration",
                tool->plugin->name, tool->name, other->plugin->path);
}

/* Takes the name from a tool that can be done without; its plugin keeps the others. */
static void give_way(struct registry *registry, const struct tool *tool, const struct tool *other)
{
    struct named *named;
    size_t at = 0;
    HASH_FIND_STR(registry->tool_names, tool->name, named);
    HASH_DEL(registry->tool_names, named);
    while (registry->tools.items[at] != tool)
        at++;
    registry->tools.count--;
    memmove(&registry->tools.items[at], &registry->tools.items[at + 1],
            (registry->tools.count - at) * sizeof(registry->tools.items[0]));
    warn_of_left_out(tool, other);
}

/* Puts a tool under its name, or says who has it (T37).  One that can be done without is passed
 * over then, with `named` left empty. */
static bool insert_tool(struct registry *registry, const struct tool *tool, struct named *named,
                        struct error *error)
{
    const struct tool *other = registry_find(registry, tool->name);
    *named = (struct named){0};
    if (other && tool_may_be_left_out(tool->instance)) {
        warn_of_left_out(tool, other);
        return true;
    }
    if (other && other->plugin != tool->plugin && tool_may_be_left_out(other->instance)) {
        give_way(registry, other, tool);
        other = NULL;
    }
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
    *named = (struct named){.name = tool->name, .tool = tool};
    return insert(&registry->tool_names, named, error);
}

/* All names of a plugin, or none: the first of `names` is its own. */
static bool insert_names(struct registry *registry, const struct plugin *plugin,
                         struct named *names, struct error *error)
{
    if (!insert_plugin(registry, plugin, &names[0], error))
        return false;
    size_t done = 0;
    while (done < plugin->tool_count &&
           insert_tool(registry, plugin->tools[done], &names[1 + done], error))
        done++;
    if (done == plugin->tool_count)
        return true;
    for (; done > 0; done--)
        if (names[done].tool)
            HASH_DEL(registry->tool_names, &names[done]);
    HASH_DEL(registry->plugin_names, &names[0]);
    return false;
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
        if (registry_find(registry, plugin->tools[i]->name) == plugin->tools[i])
            place_tool(registry, plugin->tools[i]);
    for (size_t i = 0; i < plugin->hook_count; i++)
        place_hook(registry, &plugin->hooks[i]);
    registry->plugins.items[registry->plugins.count++] = plugin;
}

bool registry_add(struct registry *registry, struct plugin *plugin, struct error *error)
{
    if (!plugin->name && !plugin_read(plugin, error))
        return false;
    struct named *names = arena_alloc(&registry->memory, (1 + plugin->tool_count) * sizeof(*names));
    if (!names || !array_reserve(&registry->tools, plugin->tool_count) ||
        !array_reserve(&registry->hooks, plugin->hook_count) ||
        !array_reserve(&registry->plugins, 1))
        return error_memory(error);
    if (!insert_names(registry, plugin, names, error))
        return false;
    commit(registry, plugin);
    return true;
}

bool registry_has_claim(const struct registry *registry, const void *object)
{
    struct claim *claim;
    HASH_FIND_PTR(registry->claims, &object, claim);
    return claim != NULL;
}

bool registry_claim(struct registry *registry, const void *object, const char *path,
                    const char **earlier)
{
    struct claim *claim;
    HASH_FIND_PTR(registry->claims, &object, claim);
    *earlier = claim ? claim->path : NULL;
    if (claim)
        return false;
    claim = arena_alloc(&registry->memory, sizeof(*claim));
    char *copy = claim ? arena_copy(&registry->memory, path, strlen(path)) : NULL;
    if (!copy)
        return false;
    *claim = (struct claim){.object = object, .path = copy};
    HASH_ADD_PTR(registry->claims, object, claim);
    return hash_added(claim);
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

/* ---- accounts ---- */

static struct counted counted_of(const struct tool *tool)
{
    return (struct counted){tool->plugin->name, tool->own_name, tool->name, tool->account};
}

/* The tool that is called so by its plugin, probably at `index` among its tools. */
static struct tool *find_own(const struct registry *registry, const char *plugin,
                             const char *own_name, size_t index)
{
    const struct named *named = find(registry->plugin_names, plugin);
    size_t count = named ? named->plugin->tool_count : 0;
    for (size_t i = 0; i < count; i++) {
        struct tool *tool = named->plugin->tools[(index + i) % count];
        if (strcmp(tool->own_name, own_name) == 0)
            return tool;
    }
    return NULL;
}

static bool keep_account(struct registry *registry, const struct counted *from)
{
    struct arena *memory = &registry->memory;
    struct counted copy = {
        .plugin = arena_copy(memory, from->plugin, strlen(from->plugin)),
        .own_name = arena_copy(memory, from->own_name, strlen(from->own_name)),
        .name = arena_copy(memory, from->name, strlen(from->name)),
    };
    if (!copy.plugin || !copy.own_name || !copy.name || !array_reserve(&registry->gone, 1))
        return false;
    copy.account = account_ref(from->account);
    registry->gone.items[registry->gone.count++] = copy;
    return true;
}

static bool take_account(struct registry *registry, const struct counted *from, size_t index)
{
    struct tool *tool = find_own(registry, from->plugin, from->own_name, index);
    if (!tool)
        return keep_account(registry, from);
    if (tool->account != from->account) {
        account_unref(tool->account);
        tool->account = account_ref(from->account);
    }
    return true;
}

bool registry_take_accounts(struct registry *registry, const struct registry *before)
{
    bool ok = true;
    for (size_t i = 0; ok && i < before->plugins.count; i++) {
        const struct plugin *plugin = before->plugins.items[i];
        for (size_t j = 0; ok && j < plugin->tool_count; j++) {
            const struct counted counted = counted_of(plugin->tools[j]);
            ok = take_account(registry, &counted, j);
        }
    }
    for (size_t i = 0; ok && i < before->gone.count; i++)
        ok = take_account(registry, &before->gone.items[i], 0);
    return ok;
}

bool registry_counted(const struct registry *registry, size_t index, struct counted *counted)
{
    size_t tools = registry->tools.count;
    if (index < tools)
        *counted = counted_of(registry->tools.items[index]);
    else if (index - tools < registry->gone.count)
        *counted = registry->gone.items[index - tools];
    else
        return false;
    return true;
}

/* ---- looking ---- */

const struct tool *registry_find(const struct registry *registry, const char *name)
{
    const struct named *named = find(registry->tool_names, name);
    return named ? named->tool : NULL;
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

struct plugin *registry_plugin(const struct registry *registry, size_t index)
{
    return index < registry->plugins.count ? registry->plugins.items[index] : NULL;
}

const struct refusal *registry_refusal(const struct registry *registry, size_t index)
{
    return index < registry->refusals.count ? &registry->refusals.items[index] : NULL;
}

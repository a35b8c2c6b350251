/*
 * registry - the tools and hooks that were loaded, and what was refused.
 *
 * Built while loading, by one thread, and then only read, so that calls need no lock.
 * Reference counted: a reload builds a new one while calls in flight finish on the old.  A
 * plugin is reference counted too, because what did not change is in both.  Plugins stay mapped
 * for ever; plugin->close() is called when the last registry that has it goes.
 */
#ifndef PLUGIN_REGISTRY_H
#define PLUGIN_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <mortise/plugin.h>

#include "base/arena.h"
#include "base/error.h"
#include "plugin/isolation.h"
#include "plugin/objects.h"
#include "plugin/sealed.h"
#include "schema/schema.h"
#include "schema/shape.h"

struct registry;
struct plugin;

/* The host's own copy of a tool's meta, and the instance.  Lives in its plugin's memory. */
struct tool {
    const char *name;
    const char *own_name;   /* as its plugin knows it, before "prefix" and "rename" (D19) */
    mortise_tool_meta meta; /* all strings are the host's; input_schema always set, shape NULL */
    struct shape *shape;    /* of its arguments; NULL: it gets JSON text … */
    struct schema *input;   /* … that is checked with this */
    struct schema *output;  /* what a JSON result is checked with, or NULL */
    const mortise_tool *instance;
    bool is_confined; /* the instance runs each call in a sandbox, elsewhere, and gets JSON text */
    struct plugin *plugin;
    struct account *account; /* what its calls came to (account.h) */
    struct tool_gate *gate; /* MORTISE_SERIAL: one call at a time; else NULL */
};

/* Whether its plugin is loaded without it if need be (MORTISE_MAY_BE_LEFT_OUT). */
static inline bool tool_may_be_left_out(const mortise_tool *instance)
{
    return MORTISE_HAS(instance, mortise_tool, options) &&
           (instance->options & MORTISE_MAY_BE_LEFT_OUT);
}

struct hook {
    const char *name;
    const mortise_hooks *table;
    struct plugin *plugin;
    size_t index; /* within its plugin */
};

/* What is in here is the plugin's, whatever registry it is in. */
struct plugin {
    atomic_uint refs;
    const char *path;
    const char *name;    /* NULL before plugin_read() */
    const char *version; /* or NULL */
    mortise_plugin *face;
    struct host_api *api;  /* what the plugin was given, or NULL */
    json_t *config;        /* its section, the plugin's: "prefix" and "rename" in it change the
                            * names of its tools (D19); NULL: none */
    bool ignores_failures; /* "on_failure": "ignore" in its section (D26) */
    size_t tool_count;
    size_t hook_count;
    struct tool **tools; /* in the plugin's own order */
    struct hook *hooks;
    struct arena memory; /* of all that the host keeps of it */
    struct isolation isolation; /* `grants` lies in `memory` */
    mortise_plugin *confined;   /* has what runs its tools that need a sandbox; or NULL */
    const atomic_bool *is_set_aside; /* of a process that died too often; or NULL */
    const struct object *object; /* whose code it is; NULL: it is in no file, or elsewhere */
    struct file_id file;         /* what `path` was then */
    char sha256[SHA256_TEXT];    /* of its bytes; "": nobody asked (loader.h) */
    const char *const *scopes;   /* what callers' scopes it may be told of and need; NULL: all */
};

/* What a factory made, not yet registered; one reference.  Takes over `api` (and, through it,
 * what the plugin was given); a copy of `path` is kept.  NULL: no memory, and nothing was
 * taken. */
struct plugin *plugin_new(const char *path, mortise_plugin *face, struct host_api *api);
struct plugin *plugin_ref(struct plugin *plugin);
/* The last one calls face->close(), once, and frees what the host keeps.  NULL is fine. */
void plugin_unref(struct plugin *plugin);

/* Takes in what plugin->face says of itself, its tools and its hooks, with plugin->config, once.
 * Checks metas, shapes, names, flags; after a failure it can only be let go. */
bool plugin_read(struct plugin *plugin, struct error *error);

/* The state of its tool `name`, which is the author's name for it, if that has this tag; else NULL.
 */
void *plugin_tool_state(const struct plugin *plugin, const char *name, const char *tag);

struct refusal {
    char *path;
    char *reason;
};

struct registry *registry_new(void); /* NULL: no memory */
struct registry *registry_ref(struct registry *registry);
void registry_unref(struct registry *registry); /* NULL is fine */

/* All or nothing (T27, D19): takes over a reference to `plugin`, with all its tools and hooks, or
 * leaves the registry as it was and the reference with the caller.  Reads the plugin if that was
 * not done.  "Tool with name 'x' already registered …" names both files. */
bool registry_add(struct registry *registry, struct plugin *plugin, struct error *error);

/* Notes that the factory of an object is about to be called for this registry: T16.  False
 * when that cannot be: it was called before, then *earlier is the path it was known by, or
 * there is no memory, then *earlier is NULL. */
bool registry_claim(struct registry *registry, const void *object, const char *path,
                    const char **earlier);
bool registry_has_claim(const struct registry *registry, const void *object);

/* What the tools of `before` were called for is not lost when this registry takes its place: a tool
 * that a new instance brings again goes on with the account that was there, and those of tools that
 * are gone are kept.  Before anybody calls its tools.  False: no memory. */
bool registry_take_accounts(struct registry *registry, const struct registry *before);

/* Keeps what `mortise plugins list` shows of a file that was not loaded. */
void registry_refuse(struct registry *registry, const char *path, const char *reason);

/* NULL: unknown. */
const struct tool *registry_find(const struct registry *registry, const char *name);
/* Sorted by name, bytewise; NULL beyond the last. */
const struct tool *registry_tool(const struct registry *registry, size_t index);
size_t registry_tool_count(const struct registry *registry);

/* What is counted of a tool, which may be gone.  Names are the registry's. */
struct counted {
    const char *plugin;
    const char *own_name;
    const char *name; /* the last that models knew it by */
    struct account *account;
};
/* First those of its tools, in their order; false beyond the last. */
bool registry_counted(const struct registry *registry, size_t index, struct counted *counted);

/* In the order in which they run: priority, plugin name, index (D27). */
const struct hook *registry_hook(const struct registry *registry, size_t index);

/* In load order; NULL beyond the last. */
struct plugin *registry_plugin(const struct registry *registry, size_t index);
const struct refusal *registry_refusal(const struct registry *registry, size_t index);

/* Entering a MORTISE_SERIAL tool waits until no other call is inside (no-op for others).
 * False when `cancelled(data)` became true first (checked about every 20 ms). */
bool tool_enter(const struct tool *tool, bool (*cancelled)(void *data), void *data);
void tool_leave(const struct tool *tool);

#endif

/*
 * set - the plugins of a program: where they are looked for, which are loaded, loading anew.
 *
 *     struct plugin_set *set = plugin_set_new(&loader, &error);
 *     plugin_set_add_file(set, "./x.so"); plugin_set_add_folder(set, "/usr/lib/…", true);
 *     plugin_set_load(set, &error);
 *     struct registry *registry = plugin_set_registry(set);
 *     plugin_set_reload(set, tell, …, &error);              // as often as wanted
 *
 * A RELOAD makes a new registry and then puts it in the place of the one before.  Who has a
 * reference on that one goes on with it, calls in flight too; its plugins are closed when the
 * last of them lets go.
 *   - A plugin whose file and configuration are as they were is the same in both: its instance
 *     keeps its state; unless it has asked to be loaded anew (mortise_host.changed), which is like
 *     a new version.
 *   - A file that is new or was replaced is checked and opened, and its factory is called.  When
 *     that fails, or a name is taken, the plugin that was there stays.  Names belong first to
 *     what stays, then to new versions, then to what is new; so a plugin never loses its tools to
 *     another one's change, and two that swap their names can.
 *   - What a tool was called for is counted on, by its plugin's name and its own (registry.h).
 *   - A file that is gone, of a folder: so is its plugin.  One that must load, or whose folder
 *     cannot be read any more, stays.
 *
 * plugin_set_registry() is for any thread, at any time; loads and reloads wait for each other.
 * Whoever drops the last reference on a registry closes its plugins on that thread.
 */
#ifndef PLUGIN_SET_H
#define PLUGIN_SET_H

#include "plugin/loader.h"

struct plugin_set;

/* Copies what `loader` says about configuration and refusals.  NULL: no memory. */
struct plugin_set *plugin_set_new(const struct loader *loader);
/* Lets go of the registry.  NULL is fine. */
void plugin_set_free(struct plugin_set *set);

/* Sources, in order.  A file must load, or nothing does; a folder that does not exist is no
 * matter if it is `optional`.  False: no memory. */
bool plugin_set_add_file(struct plugin_set *set, const char *path);
bool plugin_set_add_folder(struct plugin_set *set, const char *path, bool optional);
/* Source `index`; NULL beyond the last. */
const char *plugin_set_source(const struct plugin_set *set, size_t index, bool *is_file);

/* The first time.  Refusals in folders are told by the loader's function. */
bool plugin_set_load(struct plugin_set *set, struct error *error);
/* A reference on what is loaded now. */
struct registry *plugin_set_registry(struct plugin_set *set);

/* Whether a plugin asks to be loaded anew: true until a reload. */
bool plugin_set_is_asked(const struct plugin_set *set);
/* Readable from when one does until a reload, whatever comes of that; to poll only.  Lives as long
 * as the set.  -1: no descriptor was left, and only plugin_set_is_asked() tells. */
int plugin_set_wake_fd(const struct plugin_set *set);

enum plugin_change_kind {
    PLUGIN_ADDED,
    PLUGIN_REPLACED,
    PLUGIN_REMOVED,
    PLUGIN_KEPT,   /* its file is refused: what was there stays */
    PLUGIN_REFUSED /* and nothing was there */
};
struct plugin_change {
    enum plugin_change_kind kind;
    const char *path;
    const struct plugin *before; /* NULL: ADDED, REFUSED */
    const struct plugin *now;    /* NULL: REMOVED, REFUSED; the same as `before`: KEPT */
    const char *reason;          /* KEPT, REFUSED */
    bool again;                  /* KEPT, REFUSED: the load before said just that */
};
typedef void plugin_changed(void *context, const struct plugin_change *change);

/* Tells each change once the new registry is in its place.  False, and nothing changed: there
 * was no memory. */
bool plugin_set_reload(struct plugin_set *set, plugin_changed *changed, void *context,
                       struct error *error);

#endif

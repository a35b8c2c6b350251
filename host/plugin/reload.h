/*
 * reload - one reload of a set (set.h): what was found, what became of it, the new registry.
 *
 * Used by set.c: everything that is found now is handed in, in order, then the registry is
 * built, then the changes can be told.  The thread that reloads.
 */
#ifndef PLUGIN_RELOAD_H
#define PLUGIN_RELOAD_H

#include "plugin/set.h"

struct reload;

/* `before` outlives it.  NULL: no memory. */
struct reload *reload_new(const struct loader *loader, struct registry *before);
void reload_free(struct reload *reload); /* NULL is fine */

/* For scan_folder(): a file, in the order of loading; a file or a folder that cannot be used. */
void reload_found(void *reload, const char *path);
void reload_refused(void *reload, const char *path, const char *reason);

/* Calls the factories of what changed.  NULL with *error: no memory, and all of it was undone. */
struct registry *reload_build(struct reload *reload, struct error *error);
void reload_tell(const struct reload *reload, plugin_changed *changed, void *context);

#endif

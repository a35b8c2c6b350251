/*
 * loader - from a file to registered tools: open, inspect, dlopen, factory, register.
 *
 * A refusal is one line (file, reason, what to do) and never stops the host (M5).  Errors
 * hold the reason only: whoever shows it puts the file before it.  The loading thread.
 *
 * Objects are opened with RTLD_NODELETE and never unmapped.  dlopen() takes a path, so
 * that $ORIGIN works and links to one file are one object; that the path still leads to
 * the file that was checked is looked at before and after.  Who can swap files in a
 * trusted folder twice in between can also simply put a plugin there.
 */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include "plugin/registry.h"

struct loader {
    struct registry *registry;
    /* The configuration section of a plugin as JSON text ("{}" when there is none), by the
     * name of the file without its ".so"; the result is malloc'ed and the loader's.  Asked
     * right before the factory is called.  NULL function: always "{}". */
    char *(*config)(void *context, const char *plugin);
    void *config_context;
    /* Told of each refusal, beside registry_refuse(); NULL: a warning in the log. */
    void (*refused)(void *context, const char *path, const char *reason);
    void *refused_context;
    struct host_services *services; /* what its plugins get (host_api.h); NULL: none */
};

/* One file.  A file that is already loaded under another path (link) is skipped silently
 * and counts as loaded.  False: it was refused, and *error has the reason. */
bool loader_load(struct loader *loader, const char *path, struct error *error);

/* Every candidate of a folder, in order; refusals are told and kept. */
void loader_load_folder(struct loader *loader, const char *folder, bool optional);

/* All checks that need none of the file's code (`mortise plugins check`). */
bool loader_check(const char *path, mortise_stamp *stamp, struct error *error);

#endif

/*
 * loader - from a file to registered tools: open, inspect, dlopen, factory, register.
 *
 * A refusal is one line (file, reason, what to do) and never stops the host (M5).  Errors
 * hold the reason only: whoever shows it puts the file before it.  The loading thread.
 *
 * Objects are opened with RTLD_NODELETE and never unmapped (objects.h).  dlopen() takes a
 * path, so that $ORIGIN works and links to one file are one object; that the path still leads
 * to the file that was checked is looked at before and after.  Who can swap files in a trusted
 * folder twice in between can also simply put a plugin there, unless only known bytes may run:
 * then a sealed copy is hashed, checked and opened (sealed.h).
 */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include "base/text.h"
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
    /* Which objects may stand in for a file with the same content, in a reload; NULL: none, and
     * content is not looked at. */
    object_free *is_free;
    void *is_free_context;
    /* How a plugin is to run, by the name of its file; *isolation is all zero before.  False with
     * *error: what is configured cannot be used.  NULL function: every plugin in this process. */
    bool (*isolation)(void *context, const char *plugin, struct isolation *isolation,
                      struct error *error);
    /* The face of a plugin that runs in another process, made from `path`, which has to be the file
     * `id` and have these bytes (NULL: any).  Nothing of it is mapped here.  *is_set_aside lives as
     * long as the face. */
    mortise_plugin *(*isolate)(const struct isolation *isolation, const char *path,
                               const struct file_id *id, const char *sha256, struct host_api *api,
                               const atomic_bool **is_set_aside, struct error *error);
    /* Whether a file with these bytes may be loaded, before anything but its owner is looked at;
     * else *error says why not.  What is mapped then has these bytes.  NULL function: all may. */
    bool (*admits)(void *context, const char *path, const char *sha256, struct error *error);
    /* A copy of the one file that is loaded, for a process that can make none (sealed.h); it stays the
     * caller's.  NULL: copies are made where they are needed. */
    const struct sealed *copy;
    /* The scopes that the configuration lets a plugin have, by the name of its file: a JSON list,
     * borrowed.  NULL, or a NULL function: those of every caller. */
    const json_t *(*scopes)(void *context, const char *plugin);
    /* Has the calls of a plugin's tools that are marked MORTISE_SANDBOX_REQUIRED run in sandboxes; the
     * plugin is read, and at least one of its tools is.  NULL function: they are not run. */
    bool (*confine)(struct plugin *plugin, struct error *error);
    struct host_services *services; /* what its plugins get (host_api.h); NULL: none */
    struct host_bell *bell; /* what they ring to be loaded anew; NULL: nothing */
};

/* One file.  A file that is already loaded under another path (link) is skipped silently
 * and counts as loaded.  False: it was refused, and *error has the reason. */
bool loader_load(struct loader *loader, const char *path, struct error *error);

/* Every candidate of a folder, in order; refusals are told, once all were tried, and kept. */
void loader_load_folder(struct loader *loader, const char *folder, bool optional);

/* ---- what a reload is made of ---- */

/* A path as the loader uses it: without a slash dlopen() would search the library path.  False:
 * no memory. */
bool loader_place(const char *path, struct text *place);
/* Checks and opens such a path, claims its object in loader->registry, calls its factory and
 * reads what it made, but registers nothing.  NULL with the reason; *again then tells whether it
 * is only another name of a file that is loaded. */
struct plugin *loader_make(const struct loader *loader, const char *path, bool *again,
                           struct error *error);
/* Whether a plugin would be admitted, run apart and be given scopes as it is, were it loaded now. */
bool loader_would_keep(const struct loader *loader, const struct plugin *plugin);
/* The section of the plugin at `path`, malloc'ed; NULL: no memory. */
char *loader_config(const struct loader *loader, const char *path);

/* ---- */

/* All checks that need none of the file's code (`mortise plugins check`). */
bool loader_check(const char *path, mortise_stamp *stamp, struct error *error);

#endif

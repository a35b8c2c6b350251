/*
 * watch - notices that files of a set may have changed (inotify).
 *
 * Watched are the set's folders that exist, the folders in them, and those of the files that it
 * must load.  What changes is left alone until nothing more has happened for a moment, so that
 * an installation of several files is one reload.  Where the system has no watches left to give,
 * which a warning tells, the files are looked at every second.  One thread, which polls the
 * descriptor beside its own.
 */
#ifndef PLUGIN_WATCH_H
#define PLUGIN_WATCH_H

#include "plugin/set.h"

struct plugin_watch;

/* `set` outlives it, and need not be loaded yet.  NULL with *error: no memory or descriptors. */
struct plugin_watch *plugin_watch_new(const struct plugin_set *set, struct error *error);
void plugin_watch_free(struct plugin_watch *watch); /* NULL is fine */

/* Readable when plugin_watch_due() is to be asked.  To poll only. */
int plugin_watch_fd(const struct plugin_watch *watch);
/* Whether it is time for a reload; false is for ever until the descriptor is readable again. */
bool plugin_watch_due(struct plugin_watch *watch);
/* The same for who does not poll: whether anything has changed, quiet or not. */
bool plugin_watch_changed(struct plugin_watch *watch);

#endif

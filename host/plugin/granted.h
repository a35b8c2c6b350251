/*
 * granted - the scopes that the configuration lets a plugin have: `"scopes"` in its section.
 *
 * What a caller holds is one bound, what a plugin was granted is another: a tool runs if the scopes
 * that it requires are within both, and it and the hooks of its plugin are told of those that are.
 * So a plugin that is granted little cannot do much for a caller who may do everything.  Without a
 * list all that the caller holds is granted; with an empty one nothing is.
 *
 * Thread-safe, once granted_read() has returned.
 */
#ifndef PLUGIN_GRANTED_H
#define PLUGIN_GRANTED_H

#include <jansson.h>

#include "plugin/registry.h"

/* Fills in plugin->scopes; NULL: no list is configured.  False: it is no list of scopes. */
bool granted_read(struct plugin *plugin, const json_t *list, struct error *error);
/* Whether that is what it was given. */
bool granted_are(const struct plugin *plugin, const json_t *list);

bool granted_has(const struct plugin *plugin, const char *scope);
/* Those of `scopes` (separated by spaces; NULL stays NULL) that are granted, in `memory` or as they
 * were.  NULL: no memory. */
const char *granted_of(const struct plugin *plugin, const char *scopes, struct arena *memory);

#endif

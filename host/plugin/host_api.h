/*
 * host_api - the `mortise_host` that a plugin's factory is given.
 *
 * Lives as long as its plugin.  log() is prefixed with the plugin's name.
 */
#ifndef PLUGIN_HOST_API_H
#define PLUGIN_HOST_API_H

#include <mortise/plugin.h>

struct host_api;

/* `name` is used until the plugin has told its own; `config` (malloc'ed JSON text) is taken
 * over, whatever happens.  NULL: no memory. */
struct host_api *host_api_new(const char *name, char *config);
void host_api_free(struct host_api *api); /* NULL is fine */
/* The plugin's own name, which outlives `api`.  Threads of the plugin's may be logging. */
void host_api_set_name(struct host_api *api, const char *name);
const mortise_host *host_api_face(struct host_api *api);
/* What the plugin gave refuse(), or NULL. */
const char *host_api_refusal(const struct host_api *api);

#endif

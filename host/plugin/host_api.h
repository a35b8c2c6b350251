/*
 * host_api - the `mortise_host` that a plugin's factory is given.
 *
 * Lives as long as its plugin.  log() is prefixed with the plugin's name.  What service() finds
 * is made by host/service, and shared by all plugins that were loaded with it.
 */
#ifndef PLUGIN_HOST_API_H
#define PLUGIN_HOST_API_H

#include <stdatomic.h>

#include <mortise/plugin.h>

/* The first member of what host/service makes.  Thread-safe. */
struct host_services {
    atomic_uint references;
    /* A table by its id; NULL: not here. */
    const void *(*find)(const struct host_services *services, const char *id);
    void (*free)(struct host_services *services); /* with the last reference */
};
struct host_services *host_services_ref(struct host_services *services); /* NULL is fine */
void host_services_unref(struct host_services *services);               /* NULL is fine */

/* The first member of what wants to know that a plugin asks to be loaded anew.  Thread-safe. */
struct host_bell {
    atomic_uint references;
    void (*ring)(struct host_bell *bell);
    void (*free)(struct host_bell *bell); /* with the last reference */
};
struct host_bell *host_bell_ref(struct host_bell *bell); /* NULL is fine */
void host_bell_unref(struct host_bell *bell);            /* NULL is fine */

struct host_api;

/* `name` is that of the file without its ".so", and used in the log until the plugin has told
 * its own; `config` (malloc'ed JSON text) is taken over, whatever happens; `services` is
 * referenced, and NULL when there are none.  NULL: no memory. */
struct host_api *host_api_new(const char *name, char *config, struct host_services *services);
void host_api_free(struct host_api *api); /* NULL is fine */
/* The plugin's own name, which outlives `api`.  Threads of the plugin's may be logging. */
void host_api_set_name(struct host_api *api, const char *name);
const mortise_host *host_api_face(struct host_api *api);
/* The other way round. */
struct host_api *host_api_of(const mortise_host *host);
struct host_services *host_api_services(const struct host_api *api); /* borrowed, or NULL */
/* Under which the configuration knows the plugin. */
const char *host_api_file_name(const struct host_api *api);
/* Unlike an address, never that of an earlier one. */
uint64_t host_api_number(const struct host_api *api);
/* From now on the plugin's changed() rings it; referenced.  Before the plugin sees the host. */
void host_api_set_bell(struct host_api *api, struct host_bell *bell);
/* Whether the plugin called changed() since the last time. */
bool host_api_take_changed(struct host_api *api);
void host_api_put_changed(struct host_api *api); /* back, without the bell */
/* What the plugin gave refuse(), or NULL. */
const char *host_api_refusal(const struct host_api *api);

#endif

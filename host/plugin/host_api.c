#include "plugin/host_api.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

struct host_api {
    mortise_host face;     /* first: a plugin hands its address back */
    struct host_api *self; /* what the const pointer of a callback leads to */
    _Atomic(const char *) name;
    char *file_name;
    char *config;
    char *refusal;
    atomic_bool is_changed;
    struct host_services *services;
    struct host_bell *bell;
    uint64_t number;
};

/* ---- services ---- */

struct host_services *host_services_ref(struct host_services *services)
{
    if (services)
        atomic_fetch_add_explicit(&services->references, 1, memory_order_relaxed);
    return services;
}

void host_services_unref(struct host_services *services)
{
    if (services &&
        atomic_fetch_sub_explicit(&services->references, 1, memory_order_acq_rel) == 1)
        services->free(services);
}

/* ---- bells ---- */

struct host_bell *host_bell_ref(struct host_bell *bell)
{
    if (bell)
        atomic_fetch_add_explicit(&bell->references, 1, memory_order_relaxed);
    return bell;
}

void host_bell_unref(struct host_bell *bell)
{
    if (bell && atomic_fetch_sub_explicit(&bell->references, 1, memory_order_acq_rel) == 1)
        bell->free(bell);
}

/* ---- what the plugin calls ---- */

struct host_api *host_api_of(const mortise_host *host)
{
    const void *address = host;
    const struct host_api *api = address;
    return api->self;
}

static void refuse(const mortise_host *host, const char *reason)
{
    struct host_api *api = host_api_of(host);
    free(api->refusal);
    api->refusal = reason ? strdup(reason) : NULL;
}

/* One call is one line, whatever the plugin puts into it. */
static void write_log(const mortise_host *host, uint32_t level, const char *message)
{
    static const enum log_level levels[] = {[MORTISE_LOG_ERROR] = LOG_ERROR,
                                            [MORTISE_LOG_WARNING] = LOG_WARNING,
                                            [MORTISE_LOG_NOTE] = LOG_NOTE,
                                            [MORTISE_LOG_DEBUG] = LOG_DEBUG};
    enum log_level known = level < sizeof(levels) / sizeof(levels[0]) ? levels[level] : LOG_DEBUG;
    if (!message || known > log_level())
        return;
    struct text line = TEXT_INIT;
    text_puts(&line, message);
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] == '\n' || line.data[i] == '\r')
            line.data[i] = ' ';
    log_line(known, "%s: %s", atomic_load(&host_api_of(host)->name), text_cstr(&line));
    text_release(&line);
}

static const char *config(const mortise_host *host)
{
    return host_api_of(host)->config;
}

static const void *service(const mortise_host *host, const char *id)
{
    const struct host_services *services = host_api_of(host)->services;
    return services && id ? services->find(services, id) : NULL;
}

static void changed(const mortise_host *host)
{
    struct host_api *api = host_api_of(host);
    atomic_store(&api->is_changed, true);
    if (api->bell)
        api->bell->ring(api->bell);
}

/* ---- the host's side ---- */

struct host_api *host_api_new(const char *name, char *config_text, struct host_services *services)
{
    static atomic_uint_fast64_t last;
    struct host_api *api = calloc(1, sizeof(*api));
    char *file_name = strdup(name);
    if (!api || !file_name || !config_text) {
        free(api);
        free(file_name);
        free(config_text);
        return NULL;
    }
    api->face = (mortise_host){.size = sizeof(api->face),
                               .abi_major = MORTISE_ABI_MAJOR,
                               .abi_minor = MORTISE_ABI_MINOR,
                               .refuse = refuse,
                               .log = write_log,
                               .config = config,
                               .service = service,
                               .changed = changed};
    api->self = api;
    api->file_name = file_name;
    atomic_init(&api->name, file_name);
    api->config = config_text;
    api->services = host_services_ref(services);
    api->number = atomic_fetch_add(&last, 1) + 1;
    return api;
}

void host_api_free(struct host_api *api)
{
    if (!api)
        return;
    free(api->file_name);
    free(api->config);
    free(api->refusal);
    host_services_unref(api->services);
    host_bell_unref(api->bell);
    free(api);
}

void host_api_set_name(struct host_api *api, const char *name)
{
    atomic_store(&api->name, name);
}

const mortise_host *host_api_face(struct host_api *api)
{
    return &api->face;
}

const char *host_api_refusal(const struct host_api *api)
{
    return api->refusal;
}

struct host_services *host_api_services(const struct host_api *api)
{
    return api->services;
}

void host_api_set_bell(struct host_api *api, struct host_bell *bell)
{
    api->bell = host_bell_ref(bell);
}

bool host_api_take_changed(struct host_api *api)
{
    return atomic_exchange(&api->is_changed, false);
}

void host_api_put_changed(struct host_api *api)
{
    atomic_store(&api->is_changed, true);
}

const char *host_api_file_name(const struct host_api *api)
{
    return api->file_name;
}

uint64_t host_api_number(const struct host_api *api)
{
    return api->number;
}

#include "service/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/secret.h"
#include "config/grant.h"
#include "service/services_private.h"

void secrets_init(struct secrets *secrets)
{
    pthread_mutex_init(&secrets->lock, NULL);
}

void secrets_release(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->kept.count; i++) {
        free(secrets->kept.items[i].name);
        secret_free(secrets->kept.items[i].value);
    }
    free(secrets->kept.items);
    free(secrets->grants);
    pthread_mutex_destroy(&secrets->lock);
}

static const char *find_locked(const struct secrets *secrets, uint64_t plugin, const char *name)
{
    for (size_t i = 0; i < secrets->kept.count; i++) {
        const struct kept_secret *kept = &secrets->kept.items[i];
        if (kept->plugin == plugin && strcmp(kept->name, name) == 0)
            return kept->value;
    }
    return NULL;
}

/* Takes over the value. */
static bool keep_locked(struct secrets *secrets, uint64_t plugin, const char *name, char *value,
                        struct error *error)
{
    char *copy = strdup(name);
    if (!copy || !array_reserve(&secrets->kept, 1)) {
        free(copy);
        secret_free(value);
        return error_memory(error);
    }
    secrets->kept.items[secrets->kept.count++] =
        (struct kept_secret){.plugin = plugin, .name = copy, .value = value};
    return true;
}

/* Under the lock also while a command runs, so that none is run twice. */
static const char *read_locked(struct secrets *secrets, const struct host_api *api,
                               const char *name)
{
    const char *plugin = host_api_file_name(api);
    struct error error = ERROR_INIT;
    char *value = NULL;
    if (!grant_read(secrets->grants ? secrets->grants : "{}", plugin, name, &value, &error) ||
        (value && !keep_locked(secrets, host_api_number(api), name, value, &error))) {
        log_warning("%s", error.message);
        return NULL;
    }
    if (!value)
        log_note("plugin '%s' asks for the secret '%s', which \"plugin-config\": {\"%s\": "
                 "{\"secrets\": …}} does not grant",
                 plugin, name, plugin);
    return value;
}

static const char *get(const mortise_host *host, const char *name)
{
    if (!host || !name || !*name)
        return NULL;
    const struct host_api *api = host_api_of(host);
    struct secrets *secrets = &services_of(host_api_services(api))->secrets;
    pthread_mutex_lock(&secrets->lock);
    const char *value = find_locked(secrets, host_api_number(api), name);
    if (!value)
        value = read_locked(secrets, api, name);
    pthread_mutex_unlock(&secrets->lock);
    return value;
}

const mortise_secrets secrets_table = {.size = sizeof(secrets_table), .get = get};

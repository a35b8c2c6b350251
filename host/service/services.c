#include "service/services.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "service/owner.h"
#include "service/services_private.h"

struct services *services_of(struct host_services *face)
{
    return (struct services *)((char *)face - offsetof(struct services, face));
}

/* ---- tables by id ---- */

static bool always(const struct services *services)
{
    (void)services;
    return true;
}

static bool has_folder(const struct services *services)
{
    return services->artifacts.folder;
}

static bool has_database(const struct services *services)
{
    return services->database.path;
}

static const struct {
    const char *id;
    const void *table;
    bool (*is_here)(const struct services *services);
} tables[] = {
    {MORTISE_ARTIFACTS_ID, &artifacts_table, has_folder},
    {MORTISE_MEMORY_ID, &memory_table, has_database},
    {MORTISE_STATE_ID, &state_table, has_database},
    {MORTISE_SECRETS_ID, &secrets_table, always},
    {MORTISE_HTTP_ID, &http_table, always},
};

static const void *find(const struct host_services *face, const char *id)
{
    const struct services *services =
        (const struct services *)((const char *)face - offsetof(struct services, face));
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strcmp(tables[i].id, id) == 0)
            return tables[i].is_here(services) ? tables[i].table : NULL;
    return NULL;
}

/* ---- making and freeing ---- */

static void free_all(struct host_services *face)
{
    struct services *services = services_of(face);
    http_pool_release(&services->http);
    secrets_release(&services->secrets);
    database_release(&services->database);
    free(services->artifacts.folder);
    free(services);
}

/* "" is no place. */
static bool copy(char **out, const char *place)
{
    *out = place && *place ? strdup(place) : NULL;
    return *out || !place || !*place;
}

struct services *services_new(const struct services_settings *settings)
{
    struct services *services = calloc(1, sizeof(*services));
    if (!services)
        return NULL;
    services->face.find = find;
    services->face.free = free_all;
    atomic_init(&services->face.references, 1);
    database_init(&services->database);
    secrets_init(&services->secrets);
    if (http_pool_init(&services->http, &settings->network) &&
        copy(&services->artifacts.folder, settings->artifacts) &&
        copy(&services->database.path, settings->database) &&
        copy(&services->secrets.grants, settings->grants))
        return services;
    services_unref(services);
    return NULL;
}

struct host_services *services_face(struct services *services)
{
    return services ? &services->face : NULL;
}

void services_unref(struct services *services)
{
    host_services_unref(services_face(services));
}

struct artifact_store *services_artifacts(struct services *services)
{
    return services->artifacts.folder ? &services->artifacts : NULL;
}

/* ---- sessions that go ---- */

bool services_forget_session(const struct services_settings *settings, const char *session,
                             bool *any, struct error *error)
{
    struct text owner = TEXT_INIT;
    *any = false;
    bool ok = owner_of_session(&owner, session, error);
    if (ok && settings->artifacts && *settings->artifacts)
        ok = artifact_store_forget(settings->artifacts, owner.data, any, error);
    if (ok && settings->database && *settings->database)
        ok = database_forget(settings->database, owner.data, any, error);
    text_release(&owner);
    return ok;
}

/*
 * The host's services, as a plugin in its own process sees them (mortise/services.h): tables whose
 * functions ask the host over the lane of the call.  What they return is in the call's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "remote/serve_request.h"

/* ---- artifacts ---- */

static mortise_status artifact_save(mortise_call *call, mortise_owner owner, const char *name,
                                    const char *mime_type, const void *data, size_t length,
                                    uint32_t *version)
{
    struct served_request request;
    struct text *out = served_request_begin(&request, call, PARCEL_ARTIFACT_SAVE);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, name);
    parcel_put_string(out, mime_type);
    parcel_put_bytes(out, data, length);
    mortise_status status = served_request_send(&request);
    if (status == MORTISE_OK && version)
        *version = parcel_u32(&request.answer);
    return served_request_end(&request, status);
}

static const mortise_artifact *take_artifact(struct served_request *request)
{
    mortise_artifact *artifact = served_request_alloc(request, sizeof(*artifact));
    if (!artifact)
        return NULL;
    artifact->size = sizeof(*artifact);
    artifact->version = parcel_u32(&request->answer);
    artifact->name = served_request_text(request);
    artifact->mime_type = served_request_text(request);
    artifact->saved_ms = parcel_i64(&request->answer);
    artifact->length = (size_t)parcel_u64(&request->answer);
    size_t length;
    artifact->data = served_request_bytes(request, &length);
    return artifact;
}

static mortise_status artifact_load(mortise_call *call, mortise_owner owner, const char *name,
                                    uint32_t version, const mortise_artifact **artifact)
{
    struct served_request request;
    struct text *out = artifact ? served_request_begin(&request, call, PARCEL_ARTIFACT_LOAD) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *artifact = NULL;
    parcel_put_u32(out, owner);
    parcel_put_string(out, name);
    parcel_put_u32(out, version);
    mortise_status status = served_request_send(&request);
    if (status == MORTISE_OK)
        *artifact = take_artifact(&request);
    return served_request_end(&request, status);
}

static mortise_status artifact_list(mortise_call *call, mortise_owner owner,
                                    const mortise_artifact *const **artifacts, size_t *count)
{
    struct served_request request;
    struct text *out =
        artifacts && count ? served_request_begin(&request, call, PARCEL_ARTIFACT_LIST) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *artifacts = NULL;
    *count = 0;
    parcel_put_u32(out, owner);
    mortise_status status = served_request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const mortise_artifact **list = served_request_alloc(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = take_artifact(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *artifacts = list;
        *count = found;
    }
    return served_request_end(&request, status);
}

static const mortise_artifacts artifacts_table = {.size = sizeof(artifacts_table),
                                                  .save = artifact_save,
                                                  .load = artifact_load,
                                                  .list = artifact_list};

/* ---- memory ---- */

static mortise_status memory_add(mortise_call *call, const char *text, size_t length, int64_t *id)
{
    struct served_request request;
    struct text *out = served_request_begin(&request, call, PARCEL_MEMORY_ADD);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_bytes(out, text, length);
    mortise_status status = served_request_send(&request);
    if (status == MORTISE_OK && id)
        *id = parcel_i64(&request.answer);
    return served_request_end(&request, status);
}

static const mortise_memory_entry *take_entry(struct served_request *request)
{
    mortise_memory_entry *entry = served_request_alloc(request, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->size = sizeof(*entry);
    entry->id = parcel_i64(&request->answer);
    entry->saved_ms = parcel_i64(&request->answer);
    entry->text = served_request_bytes(request, &entry->length);
    entry->score = parcel_double(&request->answer);
    return entry;
}

static mortise_status memory_search(mortise_call *call, const char *query, size_t limit,
                                    const mortise_memory_entry *const **entries, size_t *count)
{
    struct served_request request;
    struct text *out =
        entries && count ? served_request_begin(&request, call, PARCEL_MEMORY_SEARCH) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *entries = NULL;
    *count = 0;
    parcel_put_string(out, query);
    parcel_put_u64(out, limit);
    mortise_status status = served_request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const mortise_memory_entry **list = served_request_alloc(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = take_entry(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *entries = list;
        *count = found;
    }
    return served_request_end(&request, status);
}

static mortise_status memory_forget(mortise_call *call, int64_t id)
{
    struct served_request request;
    struct text *out = served_request_begin(&request, call, PARCEL_MEMORY_FORGET);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_i64(out, id);
    return served_request_end(&request, served_request_send(&request));
}

static const mortise_memory memory_table = {.size = sizeof(memory_table),
                                            .add = memory_add,
                                            .search = memory_search,
                                            .forget = memory_forget};

/* ---- state ---- */

static mortise_status state_get(mortise_call *call, mortise_owner owner, const char *key,
                                const char **json)
{
    struct served_request request;
    struct text *out = json ? served_request_begin(&request, call, PARCEL_STATE_GET) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *json = NULL;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    mortise_status status = served_request_send(&request);
    if (status == MORTISE_OK)
        *json = served_request_text(&request);
    return served_request_end(&request, status);
}

static mortise_status state_set(mortise_call *call, mortise_owner owner, const char *key,
                                const char *json)
{
    struct served_request request;
    struct text *out = served_request_begin(&request, call, PARCEL_STATE_SET);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    parcel_put_string(out, json);
    return served_request_end(&request, served_request_send(&request));
}

static mortise_status state_replace(mortise_call *call, mortise_owner owner, const char *key,
                                    const char *expected, const char *json)
{
    struct served_request request;
    struct text *out = served_request_begin(&request, call, PARCEL_STATE_REPLACE);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    parcel_put_string(out, expected);
    parcel_put_string(out, json);
    return served_request_end(&request, served_request_send(&request));
}

static mortise_status state_keys(mortise_call *call, mortise_owner owner, const char *prefix,
                                 const char *const **keys, size_t *count)
{
    struct served_request request;
    struct text *out = keys && count ? served_request_begin(&request, call, PARCEL_STATE_KEYS) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *keys = NULL;
    *count = 0;
    parcel_put_u32(out, owner);
    parcel_put_string(out, prefix);
    mortise_status status = served_request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const char **list = served_request_alloc(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = served_request_text(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *keys = list;
        *count = found;
    }
    return served_request_end(&request, status);
}

static const mortise_state_service state_table = {.size = sizeof(state_table),
                                                  .get = state_get,
                                                  .set = state_set,
                                                  .replace = state_replace,
                                                  .keys = state_keys};

/* ---- secrets ---- */

/* A value lives as long as the plugin, so each is asked for once. */
static const char *secret_get(const mortise_host *host, const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        struct kept {
            char *name, *value;
        } *items;
        size_t count, capacity;
    } kept;
    const char *value = NULL;
    size_t i = 0;
    if (!host || !name || !*name)
        return NULL;
    pthread_mutex_lock(&lock);
    while (i < kept.count && strcmp(kept.items[i].name, name) != 0)
        i++;
    if (i < kept.count) {
        value = kept.items[i].value;
    } else if (array_reserve(&kept, 1)) {
        struct kept secret = {.name = strdup(name), .value = serve_secret(name)};
        value = secret.name ? secret.value : NULL;
        if (value)
            kept.items[kept.count++] = secret;
        else
            free(secret.name);
    }
    pthread_mutex_unlock(&lock);
    return value;
}

static const mortise_secrets secrets_table = {.size = sizeof(secrets_table), .get = secret_get};

/* ---- by id ---- */

/* Whether this host has it is asked by the call (serve_ask.c); secrets need no call. */
static const void *find(const struct host_services *services, const char *id)
{
    const struct {
        const char *id;
        const void *table;
    } tables[] = {
        {MORTISE_ARTIFACTS_ID, &artifacts_table}, {MORTISE_MEMORY_ID, &memory_table},
        {MORTISE_STATE_ID, &state_table},         {MORTISE_SECRETS_ID, &secrets_table},
        {MORTISE_HTTP_ID, serve_is_for_calls() ? &served_confined_http : &served_http},
    };
    (void)services;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strcmp(tables[i].id, id) == 0)
            return tables[i].table;
    return NULL;
}

static void keep(struct host_services *services)
{
    (void)services;
}

struct host_services *serve_services(void)
{
    static struct host_services services = {.references = 1, .find = find, .free = keep};
    return &services;
}

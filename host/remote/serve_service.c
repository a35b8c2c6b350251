/*
 * The host's services, as a plugin in its own process sees them (mortise/services.h): tables whose
 * functions ask the host over the lane of the call.  What they return is in the call's memory.
 */
#include <stdlib.h>
#include <string.h>

#include <mortise/services.h>

#include "base/array.h"
#include "remote/serve_private.h"

/* ---- asking ---- */

/* A request that is being written: the lane is locked until request_end(). */
struct request {
    mortise_call *call;
    struct served_lane *lane;
    struct parcel answer;
    bool no_memory;
};

/* NULL: the call is over. */
static struct text *request_begin(struct request *request, mortise_call *call, enum parcel_type type)
{
    *request = (struct request){.call = call, .lane = served_call_lock(call)};
    if (!request->lane)
        return NULL;
    parcel_begin(&request->lane->out, type);
    return &request->lane->out;
}

static mortise_status request_send(struct request *request)
{
    if (!lane_ask(request->lane, &request->answer))
        return MORTISE_INVALID;
    return (mortise_status)parcel_u32(&request->answer);
}

/* When a service fails, the host keeps its reason with the call. */
static mortise_status request_end(struct request *request, mortise_status status)
{
    if (request->no_memory)
        status = MORTISE_NO_MEMORY;
    else if (status < MORTISE_OK && status != MORTISE_NOT_FOUND && status != MORTISE_CONFLICT)
        served_call_forget_error(request->call);
    served_call_unlock(request->call);
    return status;
}

static void *allocate(struct request *request, size_t bytes)
{
    void *memory = served_call_alloc(request->call, bytes);
    request->no_memory |= !memory;
    return memory;
}

static const char *take_bytes(struct request *request, size_t *length)
{
    const char *bytes = parcel_bytes(&request->answer, length);
    char *copy = bytes ? allocate(request, *length + 1) : NULL;
    if (copy)
        memcpy(copy, bytes, *length);
    return copy;
}

static const char *take_string(struct request *request)
{
    size_t length;
    return take_bytes(request, &length);
}

/* ---- artifacts ---- */

static mortise_status artifact_save(mortise_call *call, mortise_owner owner, const char *name,
                                    const char *mime_type, const void *data, size_t length,
                                    uint32_t *version)
{
    struct request request;
    struct text *out = request_begin(&request, call, PARCEL_ARTIFACT_SAVE);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, name);
    parcel_put_string(out, mime_type);
    parcel_put_bytes(out, data, length);
    mortise_status status = request_send(&request);
    if (status == MORTISE_OK && version)
        *version = parcel_u32(&request.answer);
    return request_end(&request, status);
}

static const mortise_artifact *take_artifact(struct request *request)
{
    mortise_artifact *artifact = allocate(request, sizeof(*artifact));
    if (!artifact)
        return NULL;
    artifact->size = sizeof(*artifact);
    artifact->version = parcel_u32(&request->answer);
    artifact->name = take_string(request);
    artifact->mime_type = take_string(request);
    artifact->saved_ms = parcel_i64(&request->answer);
    artifact->length = (size_t)parcel_u64(&request->answer);
    size_t length;
    artifact->data = take_bytes(request, &length);
    return artifact;
}

static mortise_status artifact_load(mortise_call *call, mortise_owner owner, const char *name,
                                    uint32_t version, const mortise_artifact **artifact)
{
    struct request request;
    struct text *out = artifact ? request_begin(&request, call, PARCEL_ARTIFACT_LOAD) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *artifact = NULL;
    parcel_put_u32(out, owner);
    parcel_put_string(out, name);
    parcel_put_u32(out, version);
    mortise_status status = request_send(&request);
    if (status == MORTISE_OK)
        *artifact = take_artifact(&request);
    return request_end(&request, status);
}

static mortise_status artifact_list(mortise_call *call, mortise_owner owner,
                                    const mortise_artifact *const **artifacts, size_t *count)
{
    struct request request;
    struct text *out =
        artifacts && count ? request_begin(&request, call, PARCEL_ARTIFACT_LIST) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *artifacts = NULL;
    *count = 0;
    parcel_put_u32(out, owner);
    mortise_status status = request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const mortise_artifact **list = allocate(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = take_artifact(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *artifacts = list;
        *count = found;
    }
    return request_end(&request, status);
}

static const mortise_artifacts artifacts_table = {.size = sizeof(artifacts_table),
                                                  .save = artifact_save,
                                                  .load = artifact_load,
                                                  .list = artifact_list};

/* ---- memory ---- */

static mortise_status memory_add(mortise_call *call, const char *text, size_t length, int64_t *id)
{
    struct request request;
    struct text *out = request_begin(&request, call, PARCEL_MEMORY_ADD);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_bytes(out, text, length);
    mortise_status status = request_send(&request);
    if (status == MORTISE_OK && id)
        *id = parcel_i64(&request.answer);
    return request_end(&request, status);
}

static const mortise_memory_entry *take_entry(struct request *request)
{
    mortise_memory_entry *entry = allocate(request, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->size = sizeof(*entry);
    entry->id = parcel_i64(&request->answer);
    entry->saved_ms = parcel_i64(&request->answer);
    entry->text = take_bytes(request, &entry->length);
    entry->score = parcel_double(&request->answer);
    return entry;
}

static mortise_status memory_search(mortise_call *call, const char *query, size_t limit,
                                    const mortise_memory_entry *const **entries, size_t *count)
{
    struct request request;
    struct text *out =
        entries && count ? request_begin(&request, call, PARCEL_MEMORY_SEARCH) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *entries = NULL;
    *count = 0;
    parcel_put_string(out, query);
    parcel_put_u64(out, limit);
    mortise_status status = request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const mortise_memory_entry **list = allocate(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = take_entry(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *entries = list;
        *count = found;
    }
    return request_end(&request, status);
}

static mortise_status memory_forget(mortise_call *call, int64_t id)
{
    struct request request;
    struct text *out = request_begin(&request, call, PARCEL_MEMORY_FORGET);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_i64(out, id);
    return request_end(&request, request_send(&request));
}

static const mortise_memory memory_table = {.size = sizeof(memory_table),
                                            .add = memory_add,
                                            .search = memory_search,
                                            .forget = memory_forget};

/* ---- state ---- */

static mortise_status state_get(mortise_call *call, mortise_owner owner, const char *key,
                                const char **json)
{
    struct request request;
    struct text *out = json ? request_begin(&request, call, PARCEL_STATE_GET) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *json = NULL;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    mortise_status status = request_send(&request);
    if (status == MORTISE_OK)
        *json = take_string(&request);
    return request_end(&request, status);
}

static mortise_status state_set(mortise_call *call, mortise_owner owner, const char *key,
                                const char *json)
{
    struct request request;
    struct text *out = request_begin(&request, call, PARCEL_STATE_SET);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    parcel_put_string(out, json);
    return request_end(&request, request_send(&request));
}

static mortise_status state_replace(mortise_call *call, mortise_owner owner, const char *key,
                                    const char *expected, const char *json)
{
    struct request request;
    struct text *out = request_begin(&request, call, PARCEL_STATE_REPLACE);
    if (!out)
        return MORTISE_INVALID;
    parcel_put_u32(out, owner);
    parcel_put_string(out, key);
    parcel_put_string(out, expected);
    parcel_put_string(out, json);
    return request_end(&request, request_send(&request));
}

static mortise_status state_keys(mortise_call *call, mortise_owner owner, const char *prefix,
                                 const char *const **keys, size_t *count)
{
    struct request request;
    struct text *out = keys && count ? request_begin(&request, call, PARCEL_STATE_KEYS) : NULL;
    if (!out)
        return MORTISE_INVALID;
    *keys = NULL;
    *count = 0;
    parcel_put_u32(out, owner);
    parcel_put_string(out, prefix);
    mortise_status status = request_send(&request);
    uint32_t found = status == MORTISE_OK ? parcel_u32(&request.answer) : 0;
    const char **list = allocate(&request, ((size_t)found + 1) * sizeof(*list));
    for (uint32_t i = 0; i < found && !request.no_memory; i++)
        list[i] = take_string(&request);
    if (status == MORTISE_OK && !request.no_memory) {
        *keys = list;
        *count = found;
    }
    return request_end(&request, status);
}

static const mortise_state_service state_table = {.size = sizeof(state_table),
                                                  .get = state_get,
                                                  .set = state_set,
                                                  .replace = state_replace,
                                                  .keys = state_keys};

/* ---- http ---- */

static void put_http_request(struct text *out, const mortise_http_request *request)
{
    parcel_put_u32(out, request->flags);
    parcel_put_string(out, request->method);
    parcel_put_string(out, request->url);
    parcel_put_u32(out, (uint32_t)request->header_count);
    for (size_t i = 0; i < request->header_count; i++) {
        parcel_put_string(out, request->headers[i].name);
        parcel_put_string(out, request->headers[i].value);
    }
    parcel_put_bytes(out, request->body, request->body_length);
    parcel_put_i64(out, request->timeout_ms);
    parcel_put_u64(out, request->max_bytes);
    parcel_put_u32(out, request->max_redirects);
    parcel_put_u32(out, request->received != NULL);
}

/* The callback may use the call itself, which asks over the same lane: what it is given is copied. */
static void hand_on_piece(struct request *request, const mortise_http_request *http)
{
    size_t length;
    const char *bytes = parcel_bytes(&request->answer, &length);
    char *piece = bytes ? malloc(length + 1) : NULL;
    if (piece)
        memcpy(piece, bytes, length);
    bool goes_on = piece && http->received(http->received_data, piece, length);
    free(piece);
    parcel_begin(&request->lane->out, PARCEL_ACKNOWLEDGE);
    parcel_put_u32(&request->lane->out, goes_on);
    lane_send(request->lane);
}

static void take_http_response(struct request *request, mortise_http_response *response)
{
    struct parcel *answer = &request->answer;
    response->status = parcel_u32(answer);
    uint32_t count = parcel_u32(answer);
    mortise_http_header *headers = allocate(request, ((size_t)count + 1) * sizeof(*headers));
    for (uint32_t i = 0; i < count && !request->no_memory; i++) {
        headers[i].name = take_string(request);
        headers[i].value = take_string(request);
    }
    response->headers = headers;
    response->header_count = headers ? count : 0;
    response->content_type = take_string(request);
    response->url = take_string(request);
    response->body = take_bytes(request, &response->body_length);
}

static mortise_status http_send(mortise_call *call, const mortise_http_request *http,
                                mortise_http_response *response)
{
    struct request request;
    bool usable = http && response && MORTISE_HAS(http, mortise_http_request, received_data) &&
                  MORTISE_HAS(response, mortise_http_response, body_length);
    struct text *out = usable ? request_begin(&request, call, PARCEL_HTTP_SEND) : NULL;
    if (!out)
        return MORTISE_INVALID;
    put_http_request(out, http);
    bool asked = lane_ask(request.lane, &request.answer);
    while (asked && request.answer.type == PARCEL_RECEIVED) {
        hand_on_piece(&request, http);
        lane_next(request.lane, &request.answer);
    }
    mortise_status status = asked ? (mortise_status)parcel_u32(&request.answer) : MORTISE_INVALID;
    if (status == MORTISE_OK)
        take_http_response(&request, response);
    return request_end(&request, status);
}

static const mortise_http http_table = {.size = sizeof(http_table), .send = http_send};

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
    static const struct {
        const char *id;
        const void *table;
    } tables[] = {
        {MORTISE_ARTIFACTS_ID, &artifacts_table}, {MORTISE_MEMORY_ID, &memory_table},
        {MORTISE_STATE_ID, &state_table},         {MORTISE_SECRETS_ID, &secrets_table},
        {MORTISE_HTTP_ID, &http_table},
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

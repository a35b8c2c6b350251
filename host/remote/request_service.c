/* What a tool in its own process asks the host's services for (mortise/services.h). */
#include <stdlib.h>

#include <mortise/services.h>

#include "remote/request.h"

#define HEADERS_MAX    1000
#define HTTP_DEPTH_MAX 4 /* requests that are made while another one's answer comes */

/* ---- artifacts ---- */

static void put_artifact(struct text *out, const mortise_artifact *artifact)
{
    parcel_put_u32(out, artifact->version);
    parcel_put_string(out, artifact->name);
    parcel_put_string(out, artifact->mime_type);
    parcel_put_i64(out, artifact->saved_ms);
    parcel_put_u64(out, artifact->length);
    parcel_put_bytes(out, artifact->data, artifact->data ? artifact->length : 0);
}

static bool artifact_save(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    size_t length;
    uint32_t version = 0;
    mortise_owner owner = parcel_u32(message);
    const char *name = parcel_string(message), *mime_type = parcel_string(message);
    const char *data = parcel_bytes(message, &length);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->save(exchange->call, owner, name, mime_type, data, length,
                                            &version));
    parcel_put_u32(&exchange->out, version);
    return exchange_answer(exchange);
}

static bool artifact_load(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    const mortise_artifact *artifact = NULL;
    mortise_owner owner = parcel_u32(message);
    const char *name = parcel_string(message);
    uint32_t version = parcel_u32(message);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->load(exchange->call, owner, name, version, &artifact));
    if (artifact)
        put_artifact(&exchange->out, artifact);
    return exchange_answer(exchange);
}

static bool artifact_list(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    const mortise_artifact *const *list = NULL;
    size_t count = 0;
    mortise_owner owner = parcel_u32(message);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->list(exchange->call, owner, &list, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_artifact(&exchange->out, list[i]);
    return exchange_answer(exchange);
}

/* ---- memory ---- */

static bool memory_add(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    size_t length;
    int64_t id = 0;
    const char *text = parcel_bytes(message, &length);
    if (!parcel_ends(message) || !memory)
        return false;
    request_begin(exchange, memory->add(exchange->call, text, length, &id));
    parcel_put_i64(&exchange->out, id);
    return exchange_answer(exchange);
}

static bool memory_search(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    const mortise_memory_entry *const *list = NULL;
    size_t count = 0;
    const char *query = parcel_string(message);
    size_t limit = (size_t)parcel_u64(message);
    if (!parcel_ends(message) || !memory)
        return false;
    request_begin(exchange, memory->search(exchange->call, query, limit, &list, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        parcel_put_i64(&exchange->out, list[i]->id);
        parcel_put_i64(&exchange->out, list[i]->saved_ms);
        parcel_put_bytes(&exchange->out, list[i]->text, list[i]->length);
        parcel_put_double(&exchange->out, list[i]->score);
    }
    return exchange_answer(exchange);
}

static bool memory_forget(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    int64_t id = parcel_i64(message);
    return parcel_ends(message) && memory &&
           request_status(exchange, memory->forget(exchange->call, id));
}

/* ---- state ---- */

static bool state_get(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    const char *json = NULL;
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message);
    if (!parcel_ends(message) || !state)
        return false;
    request_begin(exchange, state->get(exchange->call, owner, key, &json));
    parcel_put_string(&exchange->out, json);
    return exchange_answer(exchange);
}

static bool state_set(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message), *json = parcel_string(message);
    return parcel_ends(message) && state &&
           request_status(exchange, state->set(exchange->call, owner, key, json));
}

static bool state_replace(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message), *expected = parcel_string(message);
    const char *json = parcel_string(message);
    return parcel_ends(message) && state &&
           request_status(exchange, state->replace(exchange->call, owner, key, expected, json));
}

static bool state_keys(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    const char *const *keys = NULL;
    size_t count = 0;
    mortise_owner owner = parcel_u32(message);
    const char *prefix = parcel_string(message);
    if (!parcel_ends(message) || !state)
        return false;
    request_begin(exchange, state->keys(exchange->call, owner, prefix, &keys, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        parcel_put_string(&exchange->out, keys[i]);
    return exchange_answer(exchange);
}

/* ---- http ---- */

/* A piece of the body goes to the tool, which may ask for other things before it says whether it
 * wants more. */
static bool hand_on_piece(void *data, const void *bytes, size_t length)
{
    struct exchange *exchange = data;
    struct parcel message;
    parcel_begin(&exchange->out, PARCEL_RECEIVED);
    parcel_put_bytes(&exchange->out, bytes, length);
    if (exchange->failure[0] || !exchange_answer(exchange))
        return false;
    while (exchange_next(exchange, &message)) {
        if (message.type == PARCEL_ACKNOWLEDGE) {
            bool goes_on = parcel_flag(&message);
            return parcel_ends(&message) ? goes_on : exchange_wrong(exchange);
        }
        if (!request_answer(exchange, &message))
            return exchange->failure[0] ? false : exchange_wrong(exchange);
    }
    return false;
}

static mortise_http_header *read_headers(struct parcel *message, size_t *count)
{
    *count = parcel_u32(message);
    message->bad |= *count > HEADERS_MAX;
    mortise_http_header *headers =
        message->bad ? NULL : calloc(*count + 1, sizeof(*headers));
    message->bad |= !headers;
    for (size_t i = 0; i < *count && !message->bad; i++) {
        headers[i].name = parcel_needed(message);
        headers[i].value = parcel_needed(message);
    }
    return headers;
}

/* The message's own bytes are gone once a piece was handed on, so those of the request are copied. */
static bool read_http_request(struct exchange *exchange, struct parcel *message,
                              struct text *copy, mortise_http_request *request)
{
    text_append(copy, message->data, message->left);
    if (copy->failed)
        return false;
    struct parcel own = {.type = message->type, .data = copy->data, .left = copy->length};
    request->flags = parcel_u32(&own);
    request->method = parcel_string(&own);
    request->url = parcel_string(&own);
    mortise_http_header *headers = read_headers(&own, &request->header_count);
    request->headers = headers;
    request->body = parcel_bytes(&own, &request->body_length);
    request->timeout_ms = parcel_i64(&own);
    request->max_bytes = (size_t)parcel_u64(&own);
    request->max_redirects = parcel_u32(&own);
    if (parcel_flag(&own)) {
        request->received = hand_on_piece;
        request->received_data = exchange;
    }
    return parcel_ends(&own);
}

static void put_http_response(struct text *out, const mortise_http_response *response)
{
    parcel_put_u32(out, response->status);
    parcel_put_u32(out, (uint32_t)response->header_count);
    for (size_t i = 0; i < response->header_count; i++) {
        parcel_put_string(out, response->headers[i].name);
        parcel_put_string(out, response->headers[i].value);
    }
    parcel_put_string(out, response->content_type);
    parcel_put_string(out, response->url);
    parcel_put_bytes(out, response->body, response->body_length);
}

static bool http_send(struct exchange *exchange, struct parcel *message)
{
    const mortise_http *http = request_find_service(exchange, MORTISE_HTTP_ID);
    if (exchange->http_depth == HTTP_DEPTH_MAX)
        return request_status(exchange, MORTISE_DENIED);
    mortise_http_request request = {.size = sizeof(request)};
    mortise_http_response response = {.size = sizeof(response)};
    struct text copy = TEXT_INIT;
    bool good = http && read_http_request(exchange, message, &copy, &request);
    if (good) {
        exchange->http_depth++;
        mortise_status status = http->send(exchange->call, &request, &response);
        exchange->http_depth--;
        request_begin(exchange, status);
        if (status == MORTISE_OK)
            put_http_response(&exchange->out, &response);
        good = !exchange->failure[0] && exchange_answer(exchange);
    }
    free((void *)(uintptr_t)request.headers);
    text_release(&copy);
    return good;
}

bool request_service(struct exchange *exchange, struct parcel *message)
{
    switch (message->type) {
    case PARCEL_ARTIFACT_SAVE:
        return artifact_save(exchange, message);
    case PARCEL_ARTIFACT_LOAD:
        return artifact_load(exchange, message);
    case PARCEL_ARTIFACT_LIST:
        return artifact_list(exchange, message);
    case PARCEL_MEMORY_ADD:
        return memory_add(exchange, message);
    case PARCEL_MEMORY_SEARCH:
        return memory_search(exchange, message);
    case PARCEL_MEMORY_FORGET:
        return memory_forget(exchange, message);
    case PARCEL_STATE_GET:
        return state_get(exchange, message);
    case PARCEL_STATE_SET:
        return state_set(exchange, message);
    case PARCEL_STATE_REPLACE:
        return state_replace(exchange, message);
    case PARCEL_STATE_KEYS:
        return state_keys(exchange, message);
    case PARCEL_HTTP_SEND:
        return http_send(exchange, message);
    default:
        return false;
    }
}

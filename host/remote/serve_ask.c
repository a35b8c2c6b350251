/* What a tool in its own process asks the host for, over the lane of its call. */
#include <string.h>

#include "remote/serve_call.h"

#define CHUNK_MAX ((size_t)16384) /* the host cuts at the half of it */

/* ---- asking ---- */

static bool is_open(struct served_call *call)
{
    pthread_mutex_lock(&call->lock);
    bool open = call->is_open;
    pthread_mutex_unlock(&call->lock);
    return open;
}

/* The lane comes before the call: whoever asks has it until the answer is there. */
struct served_lane *served_call_lock(mortise_call *face)
{
    struct served_call *call = served_call_of(face);
    if (!call || !is_open(call)) /* its lane may be gone */
        return NULL;
    struct served_lane *lane = call->lane;
    pthread_mutex_lock(&lane->lock);
    if (is_open(call))
        return lane;
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

void served_call_unlock(mortise_call *face)
{
    pthread_mutex_unlock(&served_call_of(face)->lane->lock);
}

void *served_call_alloc(mortise_call *face, size_t bytes)
{
    struct served_call *call = served_call_of(face);
    pthread_mutex_lock(&call->lock);
    void *memory = call->is_open ? arena_alloc(&call->memory, bytes) : NULL;
    pthread_mutex_unlock(&call->lock);
    return memory;
}

void served_call_forget_error(mortise_call *face)
{
    struct served_call *call = served_call_of(face);
    pthread_mutex_lock(&call->lock);
    call->has_failed = false;
    pthread_mutex_unlock(&call->lock);
}

mortise_status served_attach(mortise_call *face, const mortise_attachment *attachment)
{
    struct parcel answer;
    mortise_status status = MORTISE_INVALID;
    if (!attachment || !MORTISE_HAS(attachment, mortise_attachment, uri))
        return MORTISE_INVALID;
    struct served_lane *lane = served_call_lock(face);
    if (!lane)
        return MORTISE_INVALID;
    parcel_begin(&lane->out, PARCEL_ATTACH);
    parcel_put_string(&lane->out, attachment->mime_type);
    parcel_put_string(&lane->out, attachment->name);
    parcel_put_bytes(&lane->out, attachment->data, attachment->length);
    parcel_put_string(&lane->out, attachment->uri);
    if (lane_ask(lane, &answer))
        status = (mortise_status)parcel_u32(&answer);
    served_call_unlock(face);
    return status;
}

void served_emit(mortise_call *face, const char *stream, const char *text, size_t length)
{
    struct served_lane *lane = text && length ? served_call_lock(face) : NULL;
    if (!lane)
        return;
    parcel_begin(&lane->out, PARCEL_EMIT);
    parcel_put_string(&lane->out, stream);
    parcel_put_bytes(&lane->out, text, length < CHUNK_MAX ? length : CHUNK_MAX);
    lane_send(lane);
    served_call_unlock(face);
}

void served_progress(mortise_call *face, double done, double total, const char *message)
{
    struct served_lane *lane = served_call_lock(face);
    if (!lane)
        return;
    parcel_begin(&lane->out, PARCEL_PROGRESS);
    parcel_put_double(&lane->out, done);
    parcel_put_double(&lane->out, total);
    size_t length = message ? strlen(message) : 0;
    parcel_put_bytes(&lane->out, message, length < CHUNK_MAX ? length : CHUNK_MAX);
    lane_send(lane);
    served_call_unlock(face);
}

static const char *ask_context(struct served_call *call, struct served_lane *lane, const char *key)
{
    struct parcel answer;
    struct answer *kept = arena_alloc(&call->memory, sizeof(*kept));
    parcel_begin(&lane->out, PARCEL_CONTEXT);
    parcel_put_string(&lane->out, key);
    if (!kept || !lane_ask(lane, &answer))
        return NULL;
    parcel_u32(&answer);
    const char *value = parcel_string(&answer);
    kept->key = arena_copy(&call->memory, key, strlen(key));
    kept->value = value ? arena_copy(&call->memory, value, strlen(value)) : NULL;
    if (!kept->key)
        return NULL;
    kept->next = call->answers;
    call->answers = kept;
    return kept->value;
}

const char *served_context(mortise_call *face, const char *key)
{
    struct served_call *call = served_call_of(face);
    struct served_lane *lane = key ? served_call_lock(face) : NULL;
    if (!lane)
        return NULL;
    pthread_mutex_lock(&call->lock);
    struct answer *answer = call->answers;
    while (answer && strcmp(answer->key, key) != 0)
        answer = answer->next;
    const char *value = answer ? answer->value : ask_context(call, lane, key);
    pthread_mutex_unlock(&call->lock);
    served_call_unlock(face);
    return value;
}

const void *served_service(mortise_call *face, const char *id)
{
    struct parcel answer;
    struct host_services *services = serve_services();
    const void *table = id && services ? services->find(services, id) : NULL;
    struct served_lane *lane = table ? served_call_lock(face) : NULL;
    if (!lane)
        return NULL;
    parcel_begin(&lane->out, PARCEL_SERVICE);
    parcel_put_string(&lane->out, id);
    if (!lane_ask(lane, &answer) || parcel_u32(&answer) != MORTISE_OK)
        table = NULL;
    served_call_unlock(face);
    return table;
}

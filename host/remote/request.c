#include "remote/request.h"

#include "remote/confined.h"

#include <string.h>

#include <mortise/services.h>

void request_begin(struct exchange *exchange, mortise_status status)
{
    parcel_begin(&exchange->out, PARCEL_ANSWER);
    parcel_put_u32(&exchange->out, (uint32_t)status);
}

bool request_status(struct exchange *exchange, mortise_status status)
{
    request_begin(exchange, status);
    return exchange_answer(exchange);
}

/* ---- what nobody answers ---- */

static bool emit(mortise_call *call, struct parcel *message)
{
    size_t length;
    const char *stream = parcel_string(message);
    const char *text = parcel_bytes(message, &length);
    if (!parcel_ends(message) || !text)
        return false;
    call->ops->emit(call, stream, text, length);
    return true;
}

static bool show_progress(mortise_call *call, struct parcel *message)
{
    double done = parcel_double(message), total = parcel_double(message);
    const char *text = parcel_string(message);
    if (!parcel_ends(message))
        return false;
    call->ops->progress(call, done, total, text);
    return true;
}

/* ---- what is answered ---- */

static bool attach(struct exchange *exchange, struct parcel *message)
{
    mortise_attachment attachment = {.size = sizeof(attachment)};
    attachment.mime_type = parcel_string(message);
    attachment.name = parcel_string(message);
    attachment.data = parcel_bytes(message, &attachment.length);
    attachment.uri = parcel_string(message);
    return parcel_ends(message) &&
           request_status(exchange, exchange->call->ops->attach(exchange->call, &attachment));
}

static bool tell_context(struct exchange *exchange, struct parcel *message)
{
    const char *key = parcel_needed(message);
    if (!parcel_ends(message))
        return false;
    const char *value = exchange->call ? exchange->call->ops->context(exchange->call, key)
                                       : exchange->hook->ops->context(exchange->hook, key);
    request_begin(exchange, MORTISE_OK);
    parcel_put_string(&exchange->out, value);
    return exchange_answer(exchange);
}

const void *request_find_service(struct exchange *exchange, const char *id)
{
    if (exchange->remote->has_no_network && strcmp(id, MORTISE_HTTP_ID) == 0)
        return NULL;
    return exchange->call->ops->service(exchange->call, id);
}

static bool tell_service(struct exchange *exchange, struct parcel *message)
{
    const char *id = parcel_needed(message);
    if (!parcel_ends(message))
        return false;
    return request_status(exchange, request_find_service(exchange, id) ? MORTISE_OK
                                                                     : MORTISE_NOT_FOUND);
}

bool request_answer(struct exchange *exchange, struct parcel *message)
{
    if (confined_hear(exchange, message))
        return true;
    if (message->type == PARCEL_CONTEXT)
        return tell_context(exchange, message);
    if (exchange->hook)
        return request_hook(exchange, message);
    switch (message->type) {
    case PARCEL_EMIT:
        return emit(exchange->call, message);
    case PARCEL_PROGRESS:
        return show_progress(exchange->call, message);
    case PARCEL_ATTACH:
        return attach(exchange, message);
    case PARCEL_SERVICE:
        return tell_service(exchange, message);
    case PARCEL_STOP: /* of a request that is over */
        return parcel_ends(message);
    default:
        return request_service(exchange, message);
    }
}

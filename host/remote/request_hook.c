/* What a hook in its own process may do, while it is asked: mortise_hook_ops, one by one. */
#include "remote/request.h"

static bool tell_count(struct exchange *exchange, struct parcel *message)
{
    if (!parcel_ends(message))
        return false;
    request_begin(exchange, MORTISE_OK);
    parcel_put_u64(&exchange->out, exchange->hook->ops->item_count(exchange->hook));
    return exchange_answer(exchange);
}

static bool tell_item(struct exchange *exchange, struct parcel *message)
{
    size_t length = 0, index = (size_t)parcel_u64(message);
    if (!parcel_ends(message))
        return false;
    const char *item = exchange->hook->ops->item(exchange->hook, index, &length);
    request_begin(exchange, MORTISE_OK);
    parcel_put_bytes(&exchange->out, item, length);
    return exchange_answer(exchange);
}

static bool set_item(struct exchange *exchange, struct parcel *message)
{
    size_t length, index = (size_t)parcel_u64(message);
    const char *json = parcel_bytes(message, &length);
    return parcel_ends(message) &&
           request_status(exchange,
                          exchange->hook->ops->set_item(exchange->hook, index, json, length));
}

static bool remove_item(struct exchange *exchange, struct parcel *message)
{
    size_t index = (size_t)parcel_u64(message);
    return parcel_ends(message) &&
           request_status(exchange, exchange->hook->ops->remove_item(exchange->hook, index));
}

/* append() and set_arguments(). */
static bool put_json(struct exchange *exchange, struct parcel *message,
                     mortise_status (*put)(mortise_hook *hook, const char *json, size_t length))
{
    size_t length;
    const char *json = parcel_bytes(message, &length);
    return parcel_ends(message) && request_status(exchange, put(exchange->hook, json, length));
}

/* respond() and set_result(). */
static bool put_result(struct exchange *exchange, struct parcel *message,
                       mortise_status (*put)(mortise_hook *hook, bool is_error, const char *text,
                                             size_t length))
{
    size_t length;
    bool is_error = parcel_flag(message);
    const char *text = parcel_bytes(message, &length);
    return parcel_ends(message) &&
           request_status(exchange, put(exchange->hook, is_error, text, length));
}

bool request_hook(struct exchange *exchange, struct parcel *message)
{
    const mortise_hook_ops *ops = exchange->hook->ops;
    switch (message->type) {
    case PARCEL_ITEM_COUNT:
        return tell_count(exchange, message);
    case PARCEL_ITEM:
        return tell_item(exchange, message);
    case PARCEL_SET_ITEM:
        return set_item(exchange, message);
    case PARCEL_REMOVE_ITEM:
        return remove_item(exchange, message);
    case PARCEL_APPEND:
        return put_json(exchange, message, ops->append);
    case PARCEL_SET_ARGUMENTS:
        return put_json(exchange, message, ops->set_arguments);
    case PARCEL_RESPOND:
        return put_result(exchange, message, ops->respond);
    case PARCEL_SET_RESULT:
        return put_result(exchange, message, ops->set_result);
    default:
        return false;
    }
}

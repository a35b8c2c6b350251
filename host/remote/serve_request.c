#include "remote/serve_request.h"

#include <string.h>

struct text *served_request_begin(struct served_request *request, mortise_call *call,
                                  enum parcel_type type)
{
    *request = (struct served_request){.call = call, .lane = served_call_lock(call)};
    if (!request->lane)
        return NULL;
    parcel_begin(&request->lane->out, type);
    return &request->lane->out;
}

mortise_status served_request_send(struct served_request *request)
{
    if (!lane_ask(request->lane, &request->answer))
        return MORTISE_INVALID;
    return (mortise_status)parcel_u32(&request->answer);
}

mortise_status served_request_end(struct served_request *request, mortise_status status)
{
    if (request->no_memory)
        status = MORTISE_NO_MEMORY;
    else if (status < MORTISE_OK && status != MORTISE_NOT_FOUND && status != MORTISE_CONFLICT)
        served_call_forget_error(request->call);
    served_call_unlock(request->call);
    return status;
}

void *served_request_alloc(struct served_request *request, size_t bytes)
{
    void *memory = request->call ? served_call_alloc(request->call, bytes)
                                 : arena_alloc(request->memory, bytes);
    request->no_memory |= !memory;
    return memory;
}

const char *served_request_bytes(struct served_request *request, size_t *length)
{
    const char *bytes = parcel_bytes(&request->answer, length);
    char *copy = bytes ? served_request_alloc(request, *length + 1) : NULL;
    if (copy)
        memcpy(copy, bytes, *length);
    return copy;
}

const char *served_request_text(struct served_request *request)
{
    size_t length;
    return served_request_bytes(request, &length);
}

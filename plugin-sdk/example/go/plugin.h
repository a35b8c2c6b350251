/* What Go and C tell each other; see main.go. */
#include <mortise/plugin.h>

/* The functions of the call that Go needs: it cannot call a C function pointer itself. */
static inline mortise_status reply(mortise_call *call, const char *text, size_t length)
{
    return call->ops->reply(call, MORTISE_JSON_RESULT, text, length);
}

static inline mortise_status fail(mortise_call *call, const char *text, size_t length)
{
    mortise_error error = {.size = sizeof(error), .category = MORTISE_INVALID_INPUT,
                           .message = text, .message_length = length};
    return call->ops->fail(call, &error);
}

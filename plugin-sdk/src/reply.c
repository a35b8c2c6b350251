/* Results and errors of a call. */
#include "internal.h"

MORTISE__PRINTF(3, 0)
static mortise_status reply(mortise_call *call, uint32_t type, const char *format, va_list args)
{
    struct mortise__text text;
    mortise__text_format(&text, format, args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes)
        status = call->ops->reply(call, type, text.bytes, text.length);
    mortise__text_release(&text);
    return status;
}

mortise_status mortise_reply(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = reply(call, MORTISE_TEXT_RESULT, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_reply_json(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = reply(call, MORTISE_JSON_RESULT, format, args);
    va_end(args);
    return status;
}

MORTISE__PRINTF(4, 0)
static mortise_status fail(mortise_call *call, mortise_category category, const char *code,
                           const char *format, va_list args)
{
    struct mortise__text text;
    mortise__text_format(&text, format, args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes) {
        const mortise_error error = {
            .size = sizeof(error),
            .category = category,
            .code = code,
            .message = text.bytes,
            .message_length = text.length,
        };
        status = call->ops->fail(call, &error);
    }
    mortise__text_release(&text);
    return status;
}

mortise_status mortise_fail(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = fail(call, MORTISE_INTERNAL, NULL, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_fail_as(mortise_call *call, mortise_category category, const char *code,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = fail(call, category, code, format, args);
    va_end(args);
    return status;
}

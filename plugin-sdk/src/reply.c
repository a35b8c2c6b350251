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

MORTISE__PRINTF(3, 0)
static mortise_status fail(mortise_call *call, mortise_error error, const char *format,
                           va_list args)
{
    struct mortise__text text;
    mortise__text_format(&text, format, args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes) {
        error.size = sizeof(error);
        error.message = text.bytes;
        error.message_length = text.length;
        status = call->ops->fail(call, &error);
    }
    mortise__text_release(&text);
    return status;
}

mortise_status mortise_fail(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_error error = {.category = MORTISE_INTERNAL};
    mortise_status status = fail(call, error, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_fail_as(mortise_call *call, mortise_category category, const char *code,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_error error = {.category = category, .code = code};
    mortise_status status = fail(call, error, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_fail_retry(mortise_call *call, mortise_category category, const char *code,
                                  int64_t after_ms, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_error error = {.category = category, .code = code, .retry_after_ms = after_ms};
    mortise_status status = fail(call, error, format, args);
    va_end(args);
    return status;
}

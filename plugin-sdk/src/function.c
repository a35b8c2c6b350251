/* function - the answer of a tool that knows nothing but its arguments (MORTISE_FUNCTION). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf() */
#endif
#include <mortise/tool.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL without memory, or when the format cannot be written. */
MORTISE__PRINTF(1, 0) static char *format_text(const char *format, va_list args)
{
    char *text;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

mortise_answer mortise_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_answer answer = {.text = format_text(format, args)};
    va_end(args);
    return answer;
}

mortise_answer mortise_json(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_answer answer = {.text = format_text(format, args), .is_json = true};
    va_end(args);
    return answer;
}

mortise_answer mortise_failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_answer answer = {.text = format_text(format, args), .is_error = true};
    va_end(args);
    return answer;
}

mortise_status mortise_give_answer(mortise_call *call, mortise_answer answer)
{
    mortise_status status = MORTISE_NO_MEMORY;
    if (answer.text && answer.is_error)
        status = mortise_fail(call, "%s", answer.text);
    else if (answer.text)
        status = call->ops->reply(call, answer.is_json ? MORTISE_JSON_RESULT : MORTISE_TEXT_RESULT,
                                  answer.text, strlen(answer.text));
    free(answer.text);
    return status;
}

/* function - the answer of a tool that knows nothing but its arguments (MORTISE_FUNCTION). */
#include <mortise/tool.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL without memory, or when the format cannot be written. */
MORTISE__PRINTF(1, 0) static char *format_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
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

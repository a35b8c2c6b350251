/* Short words for hooks. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

void mortise_hook_reason(mortise_hook *hook, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    if (text.bytes)
        hook->ops->reason(hook, text.bytes, text.length);
    mortise__text_release(&text);
}

mortise_status mortise_hook_respond(mortise_hook *hook, bool is_error, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes)
        status = hook->ops->respond(hook, is_error, text.bytes, text.length);
    mortise__text_release(&text);
    return status;
}

/* Writes a message item as JSON; `out`, `size` and what is returned as in mortise_json_quote(). */
static size_t write_message(char *out, size_t size, const char *role, const char *text)
{
    const char *type = strcmp(role, "assistant") == 0 ? "output_text" : "input_text";
    const char *parts[] = {"{\"type\":\"message\",\"role\":\"", role,
                           "\",\"content\":[{\"type\":\"", type, "\",\"text\":"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        n = mortise__put(out, size, n, parts[i], strlen(parts[i]));
    size_t used = n < size ? n : size;
    n += mortise_json_quote(out ? out + used : NULL, size - used, text, strlen(text));
    n = mortise__put(out, size, n, "}]}", 3);
    mortise__put_end(out, size, n);
    return n;
}

mortise_status mortise_hook_append_text(mortise_hook *hook, const char *role, const char *text)
{
    size_t length = write_message(NULL, 0, role, text);
    char *item = malloc(length + 1);
    if (!item)
        return MORTISE_NO_MEMORY;
    write_message(item, length + 1, role, text);
    mortise_status status = hook->ops->append(hook, item, length);
    free(item);
    return status;
}

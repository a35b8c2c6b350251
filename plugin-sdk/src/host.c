/* What a plugin says to its host: why it refuses, and lines for the operator. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static char **kept_reason;

void mortise__keep_refusal(char **reason)
{
    kept_reason = reason;
}

void *mortise_refuse(const mortise_host *host, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    const char *reason = text.bytes ? text.bytes : "out of memory";
    char *kept = kept_reason ? malloc(strlen(reason) + 1) : NULL;
    if (kept) {
        memcpy(kept, reason, strlen(reason) + 1);
        free(*kept_reason);
        *kept_reason = kept;
    } else {
        host->refuse(host, reason);
    }
    mortise__text_release(&text);
    return NULL;
}

void mortise_log(const mortise_host *host, uint32_t level, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    if (text.bytes)
        host->log(host, level, text.bytes);
    mortise__text_release(&text);
}

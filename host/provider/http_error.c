#include "provider/http_error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/secret.h"
#include "provider/wire_error.h"

/* ---- headers ---- */

void http_hints_init(struct http_hints *hints)
{
    *hints = (struct http_hints){.retry_after_ms = -1, .should_retry = -1};
}

/* Seconds, perhaps with a fraction, or a date; a past date is now. */
static int64_t parse_retry_after(const struct curl_api *api, const char *value)
{
    int64_t wait_ms = wire_error_decimal(value, 1000);
    if (wait_ms >= 0)
        return wait_ms;
    int64_t when = api->getdate(value, NULL);
    if (when < 0)
        return -1;
    int64_t left_ms = when * 1000 - clock_date_ms(); /* time() may be a second behind */
    return left_ms > 0 ? left_ms : 0;
}

static int parse_flag(const char *value)
{
    if (strcasecmp(value, "true") == 0)
        return 1;
    return strcasecmp(value, "false") == 0 ? 0 : -1;
}

static void read_hint(struct http_hints *hints, const struct curl_api *api, const char *name,
                      const char *value)
{
    if (strcasecmp(name, "retry-after-ms") == 0) {
        int64_t wait_ms = wire_error_decimal(value, 1);
        hints->exact = wait_ms >= 0;
        if (hints->exact)
            hints->retry_after_ms = wait_ms;
    } else if (strcasecmp(name, "retry-after") == 0 && !hints->exact) {
        hints->retry_after_ms = parse_retry_after(api, value);
    } else if (strcasecmp(name, "x-should-retry") == 0) {
        hints->should_retry = parse_flag(value);
    } else if (strcasecmp(name, "location") == 0) {
        snprintf(hints->location, sizeof(hints->location), "%s", value);
        secret_redact_buffer(hints->location, sizeof(hints->location)); /* it knows of the cut */
    }
}

void http_hints_read(struct http_hints *hints, const struct curl_api *api, const char *line,
                     size_t length)
{
    char copy[512];
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0)
        http_hints_init(hints);
    while (length && (unsigned char)line[length - 1] <= ' ')
        length--;
    const char *colon = memchr(line, ':', length);
    if (length >= sizeof(copy))
        length = sizeof(copy) - 1; /* the beginning of an address tells enough */
    if (!colon || colon >= line + length)
        return;
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *value = copy + (colon - line);
    *value++ = '\0';
    read_hint(hints, api, copy, value + strspn(value, " \t"));
}

/* ---- what went wrong ---- */

/* A wrong key stays wrong, and an account stays empty, whatever a server says (D11). */
static bool may_be_retried(const struct error *error)
{
    return error->kind != ERROR_AUTH && error->kind != ERROR_RATE_LIMIT &&
           error->kind != ERROR_CONTEXT_OVERFLOW;
}

void http_error_from_status(struct error *error, const char *host, int status,
                            const struct http_hints *hints, const struct text *body)
{
    if (status < 400 && hints->location[0]) {
        error_set(error, ERROR_CONFIG, "'%s' redirects to '%s'; name that in the base URL", host,
                  hints->location);
        error->status = status;
    } else {
        wire_error_from_body(error, status, text_cstr(body), body->length);
    }
    if (hints->retry_after_ms >= 0)
        error->retry_after_ms = hints->retry_after_ms;
    if (!hints->should_retry || (hints->should_retry > 0 && may_be_retried(error)))
        error->retryable = hints->should_retry;
}

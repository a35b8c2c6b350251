/*
 * http_error - what the headers of a response ask for, and what its status means to the user.
 */
#ifndef PROVIDER_HTTP_ERROR_H
#define PROVIDER_HTTP_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "provider/curl_api.h"

/* Of all headers that belong to one request: of informational responses too, and behind a body. */
#define HTTP_HEADERS_MOST_BYTES (256u << 10)

/* What the headers of one response said. */
struct http_hints {
    int64_t retry_after_ms; /* -1 = nothing */
    bool exact;             /* from retry-after-ms, which wins over Retry-After */
    int should_retry;       /* x-should-retry; -1 = nothing */
    char location[256];
};

void http_hints_init(struct http_hints *hints);
/* Reads one header line, with or without its line end.  A status line starts anew: only the
 * last response counts.  What cannot be read is as if it were not there. */
void http_hints_read(struct http_hints *hints, const struct curl_api *api, const char *line,
                     size_t length);

/* A response whose status is no success. */
void http_error_from_status(struct error *error, const char *host, int status,
                            const struct http_hints *hints, const struct text *body);

#endif

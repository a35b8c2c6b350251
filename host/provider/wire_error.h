/*
 * wire_error - what a server meant when it did not answer: kind, message, retryable.
 *
 * Servers put errors into objects, strings, arrays, `detail`, `message`, HTML pages and
 * into streams that began with 200.  Status first, then code and type, then patterns in
 * the message.
 */
#ifndef PROVIDER_WIRE_ERROR_H
#define PROVIDER_WIRE_ERROR_H

#include <jansson.h>

#include "base/error.h"

/* From a response with an error status (or 0), whose body may be anything: always fills
 * *error.  Sets its status (a numeric code in the body counts when `status` is below 300),
 * and retry_after_ms when the body says it (headers know better). */
void wire_error_from_body(struct error *error, int status, const char *body, size_t length);
/* From a parsed document or event; false when it holds no error.  `status` 0 = unknown, as
 * in a stream that began with 200. */
bool wire_error_from_json(struct error *error, int status, const json_t *document);

/* A decimal number times `unit`, or -1 when the text is anything else. */
int64_t wire_error_decimal(const char *text, int64_t unit);

#endif

/*
 * http_response - one response of a server: from the bytes of its body, however they are cut and
 * wherever they come from, to what the wire's decoder tells the stream.
 *
 * What a body is (events, one document, a web page, an error) is decided by what it begins with:
 * servers mislabel it.  One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_HTTP_RESPONSE_H
#define PROVIDER_HTTP_RESPONSE_H

#include "provider/event_stream.h"
#include "provider/http_error.h"
#include "provider/provider.h"
#include "provider/sse.h"

enum http_body {
    HTTP_BODY_UNKNOWN,
    HTTP_BODY_EVENTS,
    HTTP_BODY_MESSAGES, /* of an event stream of Amazon's */
    HTTP_BODY_DOCUMENT,
    HTTP_BODY_PAGE,
    HTTP_BODY_ERROR
};

struct http_response {
    const struct wire *wire;
    const char *host;      /* for messages; borrowed */
    struct stream *stream; /* NULL between two responses */
    struct wire_decoder *decoder;
    struct sse sse;
    struct event_stream messages;
    struct text event; /* that was in the last one */
    enum http_body body;
    struct text received; /* of a body that is not cut into events */
    size_t most_bytes;    /* that one body may have, unpacked; 0: any number */
    size_t total_bytes;   /* that it had so far */
};

/* One that is zeroed but for `most_bytes`, or one that has ended.  False: the stream failed. */
bool http_response_begin(struct http_response *response, const struct wire *wire, const char *host,
                         struct stream *stream);
/* Bytes of the body; `status` is that of HTTP.  What comes behind the end is passed over. */
void http_response_receive(struct http_response *response, int status, const char *data,
                           size_t length);
/* Whether what may still come is of no interest. */
bool http_response_is_enough(const struct http_response *response);
bool http_response_has_failed(const struct http_response *response);
/* Whether it is enough because the rest must not be read. */
bool http_response_is_refused(const struct http_response *response);
/* The first failure stays. */
void http_response_fail(struct http_response *response, enum error_kind kind, bool retryable,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
void http_response_fail_memory(struct http_response *response);
/* The bytes are complete, or as many as are needed. */
void http_response_conclude(struct http_response *response, int status,
                            const struct http_hints *hints);
/* Finishes the stream. */
void http_response_end(struct http_response *response);
void http_response_release(struct http_response *response);

#endif

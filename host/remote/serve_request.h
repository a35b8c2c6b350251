/*
 * serve_request - what a plugin in its own process asks a service of the host for, over the lane of
 * a call or over one of its own: written, sent, and the answer read.
 *
 *     struct served_request request;
 *     struct text *out = served_request_begin(&request, call, PARCEL_STATE_GET);
 *     parcel_put_…(out, …);
 *     mortise_status status = served_request_send(&request);
 *     …parcel_…(&request.answer)…, served_request_text(&request)
 *     return served_request_end(&request, status);
 */
#ifndef REMOTE_SERVE_REQUEST_H
#define REMOTE_SERVE_REQUEST_H

#include <mortise/services.h>

#include "remote/serve_private.h"

/* The lane is locked until the end. */
struct served_request {
    mortise_call *call; /* NULL: outside of one */
    struct served_lane *lane;
    struct arena *memory; /* of what is returned, outside of a call */
    struct parcel answer;
    bool no_memory;
};

/* NULL: the call is over. */
struct text *served_request_begin(struct served_request *request, mortise_call *call,
                                  enum parcel_type type);
mortise_status served_request_send(struct served_request *request);
/* When a service fails, the host keeps its reason with the call. */
mortise_status served_request_end(struct served_request *request, mortise_status status);

/* In memory of the call; NULL: there is none left, or nothing is there. */
void *served_request_alloc(struct served_request *request, size_t bytes);
const char *served_request_bytes(struct served_request *request, size_t *length);
const char *served_request_text(struct served_request *request);

extern const mortise_http served_http;          /* serve_http.c */
extern const mortise_http served_confined_http; /* the same for calls in sandboxes: no fetch() */

#endif

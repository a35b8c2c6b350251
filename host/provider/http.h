/*
 * http - one request to a server, streamed, with libcurl on the calling thread.
 *
 * libcurl is loaded when the first client is made (curl_api.h).  Waits are on
 * curl_multi_poll() with the cancel token's descriptor beside the sockets.  No redirects,
 * http and https only, `Accept-Encoding: identity` is asked for and gzip is decoded all the same.
 * A connection that the server closed since the last request is replaced unnoticed, unless a byte
 * of the response had come.
 */
#ifndef PROVIDER_HTTP_H
#define PROVIDER_HTTP_H

#include "provider/provider.h"

struct http_settings {
    const struct profile *profile; /* outlives the client */
    const char *model;
    const char *base_url;
    const char *query;              /* behind the path, without '?', or NULL */
    const char *const *headers;     /* beside the format's, NULL-terminated, or NULL */
    const char *key;      /* or NULL */
    const char *key_from; /* where it was found, or would be looked for; or NULL */
    struct network_settings network;
    int64_t connect_timeout_ms;
    int64_t first_byte_timeout_ms;
    int64_t idle_timeout_ms;
    int64_t response_limit; /* bytes of one response; 0 = none */
    unsigned max_attempts;
};

/* Copies its other settings; the connection is kept for the next request. */
struct client *http_client_new(const struct http_settings *settings, struct error *error);

#endif

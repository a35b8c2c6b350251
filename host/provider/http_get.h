/*
 * http_get - what a provider's server says to a GET: the whole body, with limits of size and time.
 *
 * For what is asked beside the turn loop: which models there are, and whether the server answers
 * at all.  Headers, key, certificates and proxies are those of a request (http_host.h).  The
 * connection is kept from one GET to the next.  One thread, which waits here; a command that only
 * lists ends with the signal that ends its process.
 */
#ifndef PROVIDER_HTTP_GET_H
#define PROVIDER_HTTP_GET_H

#include <time.h>

#include "provider/provider.h"

struct http_get_settings {
    const struct profile *profile;
    const char *base_url;
    const char *query;          /* behind every path, without '?', or NULL */
    const char *const *headers; /* beside the format's, NULL-terminated, or NULL */
    const char *key;            /* or NULL */
    struct network_settings network;
    int64_t connect_timeout_ms; /* 0: as long as the whole GET may take */
    int64_t timeout_ms;         /* of one GET, from its beginning to its last byte */
};

struct http_get;

/* Copies its settings.  NULL with *error. */
struct http_get *http_get_new(const struct http_get_settings *settings, struct error *error);
void http_get_free(struct http_get *get); /* NULL is fine */

/* Asks for `path`, which is put behind the base URL, and appends the body.  False with *error when
 * there was no success: the kinds are those of a request, error->status is that of HTTP if one
 * came, and nothing was appended. */
bool http_get_fetch(struct http_get *get, const char *path, struct text *body, struct error *error);

/* The host with its port, for messages. */
const char *http_get_host(const struct http_get *get);
/* When the server says it answered the last GET; -1: it did not say. */
time_t http_get_date(const struct http_get *get);

#endif

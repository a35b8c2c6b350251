/*
 * http_host - where a server is, how it is reached, and what every request to it says.
 *
 * The key is in one of the headers and nowhere else.
 */
#ifndef PROVIDER_HTTP_HOST_H
#define PROVIDER_HTTP_HOST_H

#include <stdbool.h>

#include "base/text.h"
#include "provider/curl_api.h"
#include "provider/http_easy.h"
#include "provider/provider.h"
#include "provider/tls_peer.h"

/* Of every request. */
#define HTTP_CONTENT_TYPE "application/json"

struct http_host {
    struct text name;   /* with its port, without a user name: for messages */
    struct text url;    /* of the requests */
    struct text socket; /* the path of a socket that is connected to instead of the host in `url` */
    struct text client_cert;
    struct text client_key;
    struct http_network network;
    struct tls_peer peer; /* of the last connection that was begun */
    const struct curl_api *api;
    struct curl_slist *headers;
};

struct http_host_settings {
    const char *base_url;
    const char *path; /* of the requests, behind the base URL */
    struct network_settings network;
};

/* As one segment of a path, or one word of a query, whatever is in it. */
void http_put_segment(struct text *out, const char *name);
/* Appends the path of the profile's requests for the model, and `query` unless it is NULL. */
void http_host_path(const struct profile *profile, const char *model, const char *query,
                    struct text *out);
/* Whether a URL is that of a server on this machine, which no proxy is asked for. */
bool http_is_here(const char *url);

/* A base URL "http+unix://%2Frun%2Fmodel.sock/v1" is that of a socket of this machine.  False: no
 * memory, or kind config; release it all the same. */
bool http_host_init(struct http_host *host, const struct curl_api *api,
                    const struct http_host_settings *settings, struct error *error);
/* What the format wants, `headers` (a NULL-terminated list of lines, or NULL), and the key unless
 * it is NULL.  Of one name, those of `headers` count.  False when there is no memory. */
bool http_host_add_headers(struct http_host *host, const struct profile *profile,
                           const char *const *headers, const char *key);
/* Appends copies of them to `list`; false when there is no memory. */
bool http_host_copy_headers(const struct http_host *host, struct curl_slist **list);
/* Wipes and frees a list of headers: one of them may hold a key.  NULL is fine. */
void http_headers_free(const struct curl_api *api, struct curl_slist *list);
/* Sets everything of a request that does not change; the host must outlive it. */
bool http_host_apply(struct http_host *host, CURL *easy);
/* Why a transfer brought no response of the server.  `code` is libcurl's, `detail` its own words or
 * "". */
void http_host_tell_failure(const struct http_host *host, CURL *easy, CURLcode code,
                            const char *detail, struct error *error);
void http_host_release(struct http_host *host);

#endif

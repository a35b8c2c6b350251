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

/* Of every request. */
#define HTTP_CONTENT_TYPE "application/json"

struct http_host {
    struct text name; /* with its port, without a user name: for messages */
    struct text url;  /* of the requests */
    bool is_loopback; /* on this machine: no proxy is asked */
    struct http_certificates certificates;
    const struct curl_api *api;
    struct curl_slist *headers;
};

/* As one segment of a path, or one word of a query, whatever is in it. */
void http_put_segment(struct text *out, const char *name);
/* Appends the path of the profile's requests for the model, and `query` unless it is NULL. */
void http_host_path(const struct profile *profile, const char *model, const char *query,
                    struct text *out);
/* From the base URL, the path behind it, and the environment (http_easy.h).  False when there is
 * no memory. */
bool http_host_init(struct http_host *host, const char *base_url, const char *path);
/* What the format wants, `headers` (a NULL-terminated list of lines, or NULL), and the key unless
 * it is NULL.  False when there is no memory. */
bool http_host_add_headers(struct http_host *host, const struct curl_api *api,
                           const struct profile *profile, const char *const *headers,
                           const char *key);
/* Appends copies of them to `list`; false when there is no memory. */
bool http_host_copy_headers(const struct http_host *host, struct curl_slist **list);
/* Wipes and frees a list of headers: one of them may hold a key.  NULL is fine. */
void http_headers_free(const struct curl_api *api, struct curl_slist *list);
/* Sets everything of a request that does not change; the host must outlive it. */
bool http_host_apply(const struct http_host *host, CURL *easy);
void http_host_release(struct http_host *host);

#endif

/*
 * http_network - how HTTP servers are reached from here: which certificates are trusted, and which
 * proxy is asked.
 *
 * What the user names counts before the variables that other programs read too: CURL_CA_BUNDLE,
 * SSL_CERT_FILE and SSL_CERT_DIR; http_proxy, https_proxy, ALL_PROXY and NO_PROXY.  A server on
 * this machine is never asked for through a proxy.  The password in a proxy's URL is secret, and so
 * is a user name without one.
 */
#ifndef PROVIDER_HTTP_NETWORK_H
#define PROVIDER_HTTP_NETWORK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "provider/curl_api.h"
#include "provider/network.h"

struct http_network {
    const struct curl_api *api;
    struct text ca_file; /* both empty: where libcurl looks by itself */
    struct text ca_directory;
    const char *ca_from;  /* who named them: an option or a variable; NULL: nobody */
    struct text proxy;    /* as the user named it; empty: none */
    bool proxy_named;     /* else libcurl looks at the variables */
    struct text no_proxy; /* servers that are reached without one */
};

/* False: no memory, or the proxy that was named is no URL (kind config); release it all the
 * same. */
bool http_network_init(struct http_network *network, const struct curl_api *api,
                       const struct network_settings *settings, struct error *error);
void http_network_release(struct http_network *network);
/* The network must outlive the handle.  False: libcurl has no memory. */
bool http_network_apply(const struct http_network *network, CURL *easy);

/* A proxy, for messages. */
struct http_proxy {
    const char *from; /* the option or the variable that names it; NULL: there is none */
    struct text name; /* "host:port" */
    bool has_user;
};

/* The proxy that a request to `url` goes to, unless NO_PROXY says otherwise. */
void http_proxy_find(struct http_proxy *proxy, const struct http_network *network,
                     const char *url);
void http_proxy_release(struct http_proxy *proxy);

#endif

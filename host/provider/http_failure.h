/*
 * http_failure - why no response came, and what to do about it.
 */
#ifndef PROVIDER_HTTP_FAILURE_H
#define PROVIDER_HTTP_FAILURE_H

#include "provider/http_network.h"
#include "provider/tls_peer.h"

struct http_failure {
    const char *host; /* as messages name it */
    CURLcode code;
    const char *detail;             /* libcurl's own words */
    long system_error;              /* errno, or 0 */
    long proxy_status;              /* what the proxy answered, or 0 */
    bool is_socket;                 /* `host` is a path */
    bool has_client_certificate;    /* one was named */
    const char *ca_from;            /* who named the certificates that are trusted, or NULL */
    const struct http_proxy *proxy; /* that may have been asked */
    const struct tls_peer *peer;
};

void http_failure_tell(const struct http_failure *failure, struct error *error);

#endif

/*
 * http_host - where a server is, and whose certificates are believed there.
 */
#ifndef PROVIDER_HTTP_HOST_H
#define PROVIDER_HTTP_HOST_H

#include <stdbool.h>

#include "base/text.h"

struct http_host {
    struct text name; /* with its port, without a user name: for messages */
    struct text url;  /* of the requests */
    bool is_loopback; /* on this machine: no proxy is asked */
    /* Where the CA certificates are; both empty: where libcurl looks by itself. */
    struct text ca_file;
    struct text ca_directory;
};

/* From the base URL, the path behind it, and the environment (CURL_CA_BUNDLE, SSL_CERT_FILE,
 * SSL_CERT_DIR).  False when there is no memory. */
bool http_host_init(struct http_host *host, const char *base_url, const char *path);
void http_host_release(struct http_host *host);

#endif

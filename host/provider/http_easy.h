/*
 * http_easy - what every HTTP request of this process has in common: which certificates are
 * trusted, which protocols are spoken, who asks.
 */
#ifndef PROVIDER_HTTP_EASY_H
#define PROVIDER_HTTP_EASY_H

#include <stdbool.h>

#include "base/text.h"
#include "provider/curl_api.h"

/* Where the CA certificates are; both empty: where libcurl looks by itself. */
struct http_certificates {
    struct text file;
    struct text directory;
};

/* By the environment (CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR).  False: no memory. */
bool http_certificates_find(struct http_certificates *certificates);
void http_certificates_release(struct http_certificates *certificates);

/* Sets all that; the certificates must outlive the handle.  False: libcurl cannot, or has no
 * memory. */
bool http_easy_apply(const struct curl_api *api, const struct http_certificates *certificates,
                     CURL *easy);

#endif

/*
 * http_easy - what every HTTP request of this process has in common: how servers are
 * reached (http_network.h), which protocols are spoken, who asks.
 */
#ifndef PROVIDER_HTTP_EASY_H
#define PROVIDER_HTTP_EASY_H

#include <stdbool.h>

#include "provider/http_network.h"

/* Sets all that; the network must outlive the handle.  False: libcurl cannot, or has no memory. */
bool http_easy_apply(const struct http_network *network, CURL *easy);
/* Whether a transfer ended with `code` because a header line is longer than libcurl takes. */
bool http_easy_is_header_too_long(const struct curl_api *api, CURL *easy, CURLcode code);

#endif

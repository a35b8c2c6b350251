/*
 * http_request - a tool's request: checked, and given to libcurl.
 */
#ifndef SERVICE_HTTP_REQUEST_H
#define SERVICE_HTTP_REQUEST_H

#include <mortise/services.h>

#include "base/text.h"
#include "provider/http_easy.h"

struct http_request {
    mortise_http_request face; /* complete, whatever size the tool compiled, and with defaults */
    struct text host;          /* with its port, without a user name: for messages */
    struct curl_slist *lines;
};

/* Copies what `given` has, but not what that points to.  NULL, or what cannot be used. */
const char *http_request_read(struct http_request *request, const mortise_http_request *given);

/* Whether a redirect is followed, and no answer. */
bool http_request_follows(const mortise_http_request *face);

/* Sets everything of it but the callbacks; the request must outlive the handle.  False: no
 * memory. */
bool http_request_apply(struct http_request *request, const struct curl_api *api, CURL *easy);

void http_request_release(struct http_request *request, const struct curl_api *api);

#endif

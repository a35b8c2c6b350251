#include "provider/aws_signer.h"

#include <stdlib.h>
#include <string.h>

#include "provider/aws_credentials.h"
#include "provider/aws_sign.h"

struct aws_signer {
    const char *service;
    struct text region;
    struct aws_credentials credentials;
};

struct aws_signer *aws_signer_new(const char *service, struct error *error)
{
    struct aws_signer *signer = calloc(1, sizeof(*signer));
    if (!signer) {
        error_memory(error);
        return NULL;
    }
    signer->service = service;
    if (aws_credentials_find(&signer->credentials, error) &&
        aws_region_find(&signer->region, error))
        return signer;
    aws_signer_free(signer);
    return NULL;
}

void aws_signer_free(struct aws_signer *signer)
{
    if (!signer)
        return;
    aws_credentials_release(&signer->credentials);
    text_release(&signer->region);
    free(signer);
}

static bool add(const struct curl_api *api, struct curl_slist **headers, const char *name,
                const char *value)
{
    struct text line = TEXT_INIT;
    text_printf(&line, "%s: %s", name, value);
    struct curl_slist *grown = line.failed ? NULL : api->slist_append(*headers, line.data);
    if (grown)
        *headers = grown;
    text_wipe(&line);
    return grown != NULL;
}

/* What the URL says of the host, with its port, and the path. */
static bool split_url(const char *url, struct text *host, struct text *path)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    size_t length = strcspn(start, "/");
    const char *at = memrchr(start, '@', length);
    const char *name = at ? at + 1 : start;
    text_append(host, name, (size_t)(start + length - name));
    text_puts(path, start[length] ? start + length : "/");
    return !host->failed && !path->failed;
}

/* The host is sent as it was signed: libcurl would leave a usual port out. */
static bool add_signature(const struct aws_signer *signer, struct aws_signing *signing,
                          const struct curl_api *api, struct curl_slist **headers)
{
    const struct aws_credentials *keys = &signer->credentials;
    struct text authorization = TEXT_INIT;
    char date[AWS_DATE_SIZE];
    signing->access_key_id = keys->access_key_id;
    signing->secret_access_key = keys->secret_access_key;
    signing->session_token = keys->session_token;
    bool added =
        aws_sign(signing, date, &authorization) && add(api, headers, "Host", signing->host) &&
        add(api, headers, "X-Amz-Date", date) &&
        (!keys->session_token || add(api, headers, "X-Amz-Security-Token", keys->session_token)) &&
        add(api, headers, "Authorization", authorization.data);
    text_release(&authorization);
    return added;
}

bool aws_signer_add(struct aws_signer *signer, const struct aws_signed_request *request,
                    const struct curl_api *api, struct curl_slist **headers, struct error *error)
{
    struct text host = TEXT_INIT, path = TEXT_INIT;
    bool added = aws_credentials_find(&signer->credentials, error);
    if (added) {
        struct aws_signing signing = {
            .region = signer->region.data,
            .service = signer->service,
            .time = time(NULL),
            .method = "POST",
            .content_type = request->content_type,
            .body = request->body->data,
            .body_length = request->body->length,
        };
        added = split_url(request->url, &host, &path);
        signing.host = text_cstr(&host);
        signing.path = text_cstr(&path);
        added = (added && add_signature(signer, &signing, api, headers)) || error_memory(error);
    }
    text_release(&host);
    text_release(&path);
    return added;
}

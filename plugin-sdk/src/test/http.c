/* Requests that a test answers itself, and secrets from its list. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 10 << 20 };

static char *lend_text(mortise_call *call, const char *text)
{
    char *copy = text ? call->ops->alloc(call, strlen(text) + 1) : NULL;
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

static const mortise_http_header *lend_headers(mortise_call *call,
                                               const mortise_http_header *headers, size_t count)
{
    mortise_http_header *copy = call->ops->alloc(call, (count + 1) * sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = (mortise_http_header){.name = lend_text(call, headers[i].name),
                                        .value = lend_text(call, headers[i].value)};
    return copy;
}

/* Gives the body piece by piece, as a network would; false when the tool has had enough. */
static bool deliver(const mortise_http_request *request, const char *body, size_t length)
{
    enum { PIECE = 1000 };
    for (size_t at = 0; at < length; at += PIECE) {
        size_t bytes = length - at < PIECE ? length - at : PIECE;
        if (!request->received(request->received_data, body + at, bytes))
            return false;
    }
    return true;
}

static void lend_body(mortise_call *call, mortise_http_response *out, const char *body,
                      size_t length)
{
    char *copy = call->ops->alloc(call, length + 1);
    if (length > 0)
        memcpy(copy, body, length);
    out->body = copy;
    out->body_length = length;
}

static mortise_status pass_on(mortise_call *call, const mortise_http_request *request,
                              const mortise_http_response *answer, mortise_http_response *out)
{
    size_t limit = request->max_bytes ? request->max_bytes : MAX_BYTES;
    size_t length =
        answer->body && !answer->body_length ? strlen(answer->body) : answer->body_length;
    if (length > limit)
        return mortise__call_refuse(call, MORTISE_FAILED, "the answer has more than %zu bytes",
                                    limit);
    *out = (mortise_http_response){
        .size = out->size,
        .status = answer->status ? answer->status : 200,
        .headers = lend_headers(call, answer->headers, answer->header_count),
        .header_count = answer->header_count,
        .content_type = lend_text(call, answer->content_type),
        .url = lend_text(call, answer->url ? answer->url : request->url),
    };
    bool by_pieces = MORTISE_HAS(request, mortise_http_request, received_data) && request->received;
    lend_body(call, out, answer->body, by_pieces ? 0 : length);
    return by_pieces && !deliver(request, answer->body, length) ? MORTISE_CANCELLED : MORTISE_OK;
}

static mortise_status http_send(mortise_call *call, const mortise_http_request *request,
                                mortise_http_response *response)
{
    const mortise_test_setup *setup = &mortise__call_test(call)->setup;
    mortise_http_response answer = {.size = sizeof(answer)};
    if (!request || !request->url || !response ||
        !MORTISE_HAS(response, mortise_http_response, body_length) ||
        (strncmp(request->url, "http://", 7) != 0 && strncmp(request->url, "https://", 8) != 0))
        return mortise__call_refuse(call, MORTISE_INVALID,
                                    "the request has no http or https address");
    if (call->ops->cancelled(call))
        return mortise__call_refuse(call, MORTISE_CANCELLED, "cancelled");
    mortise_status status = setup->http(setup->http_data, request, &answer);
    if (status != MORTISE_OK)
        return mortise__call_refuse(call, status, "no answer from '%s'", request->url);
    return pass_on(call, request, &answer, response);
}

static const mortise_http http = {.size = sizeof(mortise_http), .send = http_send};

const void *mortise__test_http(const mortise_test *test)
{
    return test->setup.http ? &http : NULL;
}

/* ---- secrets ---- */

static const char *get_secret(const mortise_host *host, const char *name)
{
    const mortise_test *test = (const mortise_test *)host;
    for (const char *const *secret = test->setup.secrets; secret[0] && secret[1]; secret += 2)
        if (strcmp(secret[0], name) == 0)
            return secret[1];
    return NULL;
}

static const mortise_secrets secrets = {.size = sizeof(mortise_secrets), .get = get_secret};

const void *mortise__test_secrets(const mortise_test *test)
{
    return test->setup.secrets ? &secrets : NULL;
}

/* Requests that a test answers itself, and secrets from its list. */
#include "internal.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BYTES = 10 << 20 };

/* ---- memory of the call, or outside of one until release() ---- */

struct lender {
    mortise_test *test;
    mortise_call *call; /* NULL: fetch() */
    struct pool *pool;  /* of fetch() */
};

static void *lend(const struct lender *lender, size_t bytes)
{
    return lender->call ? lender->call->ops->alloc(lender->call, bytes)
                        : mortise__pool_take(lender->pool, bytes);
}

static char *lend_text(const struct lender *lender, const char *text)
{
    char *copy = text ? lend(lender, strlen(text) + 1) : NULL;
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

static const mortise_http_header *lend_headers(const struct lender *lender,
                                               const mortise_http_header *headers, size_t count)
{
    mortise_http_header *copy = lend(lender, (count + 1) * sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = (mortise_http_header){.name = lend_text(lender, headers[i].name),
                                        .value = lend_text(lender, headers[i].value)};
    return copy;
}

/* ---- what is answered ---- */

static mortise_status refuse(const struct lender *lender, mortise_http_response *out,
                             mortise_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static mortise_status refuse(const struct lender *lender, mortise_http_response *out,
                             mortise_status status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (MORTISE_HAS(out, mortise_http_response, problem))
        out->problem = lend_text(lender, text);
    return lender->call ? mortise__call_refuse(lender->call, status, "%s", text) : status;
}

static bool is_stopped(const struct lender *lender, const mortise_http_request *request)
{
    struct pollfd stop = {.events = POLLIN};
    if (MORTISE_HAS(request, mortise_http_request, stop_fd))
        stop.fd = request->stop_fd;
    return (lender->call && lender->call->ops->cancelled(lender->call)) ||
           (stop.fd > 0 && poll(&stop, 1, 0) > 0);
}

/* Gives the body piece by piece, as a network would; false when the plugin has had enough. */
static bool deliver(const struct lender *lender, const mortise_http_request *request,
                    const char *body, size_t length)
{
    enum { PIECE = 1000 };
    for (size_t at = 0; at < length; at += PIECE) {
        size_t bytes = length - at < PIECE ? length - at : PIECE;
        if (is_stopped(lender, request) ||
            !request->received(request->received_data, body + at, bytes))
            return false;
    }
    return true;
}

static void lend_body(const struct lender *lender, mortise_http_response *out, const char *body,
                      size_t length)
{
    char *copy = lend(lender, length + 1);
    if (length > 0)
        memcpy(copy, body, length);
    out->body = copy;
    out->body_length = length;
}

/* As large as the plugin compiled it. */
static void set(mortise_http_response *out, const mortise_http_response *value)
{
    uint32_t size = out->size;
    memcpy(out, value, size < sizeof(*value) ? size : sizeof(*value));
    out->size = size;
}

static mortise_status pass_on(const struct lender *lender, const mortise_http_request *request,
                              const mortise_http_response *answer, mortise_http_response *out)
{
    size_t limit = request->max_bytes ? request->max_bytes : MAX_BYTES;
    size_t length =
        answer->body && !answer->body_length ? strlen(answer->body) : answer->body_length;
    bool by_pieces = MORTISE_HAS(request, mortise_http_request, received_data) && request->received;
    mortise_http_response given = {
        .status = answer->status ? answer->status : 200,
        .headers = lend_headers(lender, answer->headers, answer->header_count),
        .header_count = answer->header_count,
        .content_type = lend_text(lender, answer->content_type),
        .url = lend_text(lender, answer->url ? answer->url : request->url),
    };
    if (MORTISE_HAS(request, mortise_http_request, answered) && request->answered)
        request->answered(request->received_data, given.status, given.headers, given.header_count);
    if (length > limit)
        return refuse(lender, out, MORTISE_FAILED, "the answer has more than %zu bytes", limit);
    if (by_pieces && !deliver(lender, request, answer->body, length))
        return refuse(lender, out, MORTISE_CANCELLED, "the request was cancelled");
    lend_body(lender, &given, answer->body, by_pieces ? 0 : length);
    set(out, &given);
    return MORTISE_OK;
}

static mortise_status ask(const struct lender *lender, const mortise_http_request *request,
                          mortise_http_response *response)
{
    const mortise_test_setup *setup = &lender->test->setup;
    mortise_http_response answer = {.size = sizeof(answer)};
    set(response, &(mortise_http_response){0});
    if (!request || !request->url ||
        (strncmp(request->url, "http://", 7) != 0 && strncmp(request->url, "https://", 8) != 0))
        return refuse(lender, response, MORTISE_INVALID,
                      "the request has no http or https address");
    if (is_stopped(lender, request))
        return refuse(lender, response, MORTISE_CANCELLED, "the request was cancelled");
    mortise_status status = setup->http(setup->http_data, request, &answer);
    if (status != MORTISE_OK)
        return refuse(lender, response, status, "%s '%s'",
                      answer.problem ? answer.problem : "no answer from", request->url);
    return pass_on(lender, request, &answer, response);
}

/* ---- the table ---- */

static mortise_status http_send(mortise_call *call, const mortise_http_request *request,
                                mortise_http_response *response)
{
    const struct lender lender = {.test = mortise__call_test(call), .call = call};
    if (!response || !MORTISE_HAS(response, mortise_http_response, body_length))
        return mortise__call_refuse(call, MORTISE_INVALID, "there is no place for the response");
    return ask(&lender, request, response);
}

static mortise_status http_fetch(const mortise_host *host, const mortise_http_request *request,
                                 mortise_http_response *response)
{
    struct pool pool = {0};
    struct lender lender = {.test = mortise__test_of(host), .pool = &pool};
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory))
        return MORTISE_INVALID;
    mortise_status status = ask(&lender, request, response);
    struct pool *memory = mortise__pool_take(&pool, sizeof(*memory));
    *memory = pool; /* it is in itself, and goes last */
    response->memory = memory;
    atomic_fetch_add(&lender.test->responses, 1);
    return status;
}

static void http_release(const mortise_host *host, mortise_http_response *response)
{
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory) || !response->memory)
        return;
    struct pool pool = *(struct pool *)response->memory;
    set(response, &(mortise_http_response){0});
    mortise__pool_release(&pool);
    atomic_fetch_sub(&mortise__test_of(host)->responses, 1);
}

static const mortise_http http = {
    .size = sizeof(mortise_http), .send = http_send, .fetch = http_fetch, .release = http_release};

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

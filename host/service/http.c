/* http - requests of plugins through the host's libcurl, in a call or outside of one. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/caller.h"
#include "service/http_answer.h"
#include "service/http_request.h"
#include "service/public_address.h"

enum { LONGEST_WAIT_MS = 60000, LOOK_AGAIN_MS = 100 };

struct exchange {
    struct caller caller;
    const struct curl_api *api;
    struct http_request request;
    struct http_answer answer;
    CURLM *multi;
    CURL *easy;
    int64_t deadline_ms; /* -1: none */
    bool refused; /* an address that is not public */
    char detail[CURL_ERROR_SIZE];
};

static bool is_public_only(const struct exchange *exchange)
{
    return exchange->request.face.flags & MORTISE_HTTP_PUBLIC_ONLY;
}

/* ---- setting up ---- */

/* Here the name has become an address, and it is this one that is connected to. */
static curl_socket_t open_public_socket(void *context, curlsocktype purpose,
                                        struct curl_sockaddr *address)
{
    struct exchange *exchange = context;
    (void)purpose;
    if (address_is_public(&address->addr, address->addrlen))
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    exchange->refused = true;
    return CURL_SOCKET_BAD;
}

/* A proxy would connect in our place, and to anything. */
static bool set_public_only(struct exchange *exchange)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = exchange->api->easy_setopt;
    return set(exchange->easy, CURLOPT_PROXY, "") == CURLE_OK &&
           set(exchange->easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           set(exchange->easy, CURLOPT_OPENSOCKETFUNCTION, open_public_socket) == CURLE_OK &&
           set(exchange->easy, CURLOPT_OPENSOCKETDATA, exchange) == CURLE_OK;
}

static bool set_options(struct exchange *exchange)
{
    const struct curl_api *api = exchange->api;
    CURL *easy = exchange->easy;
    return http_easy_apply(&exchange->caller.services->http.network, easy) &&
           api->easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->detail) == CURLE_OK &&
           http_request_apply(&exchange->request, api, easy) &&
           http_answer_apply(&exchange->answer, api, easy) &&
           (!is_public_only(exchange) || set_public_only(exchange));
}

static mortise_status set_up(struct exchange *exchange)
{
    struct error error = ERROR_INIT;
    struct http_pool *pool = &exchange->caller.services->http;
    exchange->multi = http_pool_borrow(pool, is_public_only(exchange), &error);
    if (!exchange->multi)
        return caller_error(&exchange->caller, &error);
    exchange->api = pool->api;
    exchange->answer.request = &exchange->request.face;
    exchange->easy = exchange->api->easy_init();
    bool ok = exchange->easy && set_options(exchange) &&
              exchange->api->multi_add_handle(exchange->multi, exchange->easy) == CURLM_OK;
    return ok ? MORTISE_OK : caller_no_memory(&exchange->caller);
}

static void tear_down(struct exchange *exchange)
{
    if (exchange->easy) {
        exchange->api->multi_remove_handle(exchange->multi, exchange->easy);
        exchange->api->easy_cleanup(exchange->easy);
    }
    if (exchange->multi)
        http_pool_give_back(&exchange->caller.services->http, is_public_only(exchange),
                            exchange->multi);
    http_request_release(&exchange->request, exchange->api);
    http_answer_release(&exchange->answer);
}

/* ---- what went wrong ---- */

static mortise_status fail_with(struct exchange *exchange, mortise_category category,
                                const char *code, const char *what)
{
    return caller_fail(&exchange->caller, MORTISE_FAILED, category, code, "'%s' %s",
                       text_cstr(&exchange->request.host), what);
}

static mortise_status fail_cancelled(struct exchange *exchange)
{
    return caller_fail(&exchange->caller, MORTISE_CANCELLED, MORTISE_ABORTED, "cancelled",
                       "the request to '%s' was cancelled", text_cstr(&exchange->request.host));
}

static mortise_status fail_timeout(struct exchange *exchange)
{
    return fail_with(exchange, MORTISE_TIMEOUT, "timeout", "did not answer in time");
}

static mortise_status fail_limit(struct exchange *exchange)
{
    return caller_fail(&exchange->caller, MORTISE_FAILED, MORTISE_INTERNAL, "too_large",
                       "the answer of '%s' has more than %zu bytes",
                       text_cstr(&exchange->request.host), exchange->request.face.max_bytes);
}

static mortise_status fail_headers(struct exchange *exchange)
{
    return fail_with(exchange, MORTISE_INTERNAL, "too_large", "sent too many headers");
}

static mortise_status fail_refused(struct exchange *exchange)
{
    return caller_fail(&exchange->caller, MORTISE_DENIED, MORTISE_FORBIDDEN, "not_public",
                       "'%s' leads to an address that is not public, which is not allowed here",
                       text_cstr(&exchange->request.host));
}

static mortise_status fail_transfer(struct exchange *exchange, CURLcode code)
{
    const char *detail =
        exchange->detail[0] ? exchange->detail : exchange->api->easy_strerror(code);
    const char *host = text_cstr(&exchange->request.host);
    if (http_easy_is_header_too_long(exchange->api, exchange->easy, code))
        return fail_headers(exchange);
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        return caller_no_memory(&exchange->caller);
    case CURLE_URL_MALFORMAT:
        return caller_invalid(&exchange->caller, "the URL cannot be read: %s", detail);
    case CURLE_TOO_MANY_REDIRECTS:
        return fail_with(exchange, MORTISE_INTERNAL, "redirects", "redirects too often");
    case CURLE_UNSUPPORTED_PROTOCOL:
        return fail_with(exchange, MORTISE_INTERNAL, "redirects",
                         "redirects to something that is neither http nor https");
    case CURLE_PEER_FAILED_VERIFICATION:
        return caller_fail(&exchange->caller, MORTISE_FAILED, MORTISE_INTERNAL, "certificate",
                           "the certificate of '%s' is not trusted: %s", host, detail);
    default:
        return caller_fail(&exchange->caller, MORTISE_FAILED, MORTISE_UNAVAILABLE, "unavailable",
                           "'%s' cannot be reached: %s", host, detail);
    }
}

/* ---- the transfer ---- */

static bool is_done(struct exchange *exchange, CURLcode *code)
{
    int left;
    CURLMsg *message = exchange->api->multi_info_read(exchange->multi, &left);
    if (!message || message->msg != CURLMSG_DONE)
        return false;
    *code = message->data.result;
    return true;
}

/* Also when the other end of it was closed, which libcurl does not tell. */
static bool is_stopped(const struct exchange *exchange)
{
    struct pollfd stop = {.fd = exchange->request.face.stop_fd, .events = POLLIN};
    return stop.fd && poll(&stop, 1, 0) > 0;
}

static bool is_cancelled(const struct exchange *exchange)
{
    mortise_call *call = exchange->caller.call;
    return (call && call->ops->cancelled(call)) || is_stopped(exchange);
}

static int time_left(const struct exchange *exchange)
{
    if (exchange->deadline_ms < 0)
        return LONGEST_WAIT_MS;
    int64_t left = exchange->deadline_ms - clock_ms();
    return left <= 0 ? 0 : left < LONGEST_WAIT_MS ? (int)left : LONGEST_WAIT_MS;
}

/* What ends the wait for the network. */
struct waking {
    struct curl_waitfd fds[2];
    unsigned count;
    bool is_blind; /* no descriptor was left for a cancel: it must be looked at */
};

static void wake_by(struct waking *wakes, int fd)
{
    wakes->fds[wakes->count++] = (struct curl_waitfd){.fd = fd, .events = CURL_WAIT_POLLIN};
}

static void note_what_wakes(const struct exchange *exchange, struct waking *wakes)
{
    mortise_call *call = exchange->caller.call;
    int cancel_fd = call ? call->ops->cancel_fd(call) : -1;
    *wakes = (struct waking){.is_blind = call && cancel_fd < 0};
    if (cancel_fd >= 0)
        wake_by(wakes, cancel_fd);
    if (exchange->request.face.stop_fd)
        wake_by(wakes, exchange->request.face.stop_fd);
}

/* Until libcurl is done with it.  Another status than OK: it has been told. */
static mortise_status transfer(struct exchange *exchange, CURLcode *code)
{
    struct waking wakes;
    int running;
    note_what_wakes(exchange, &wakes);
    while (exchange->api->multi_perform(exchange->multi, &running) == CURLM_OK) {
        if (is_done(exchange, code))
            return MORTISE_OK;
        int left_ms = time_left(exchange);
        if (is_cancelled(exchange))
            return fail_cancelled(exchange);
        if (!left_ms)
            return fail_timeout(exchange);
        if (wakes.is_blind && left_ms > LOOK_AGAIN_MS)
            left_ms = LOOK_AGAIN_MS;
        if (exchange->api->multi_poll(exchange->multi, wakes.fds, wakes.count, left_ms, NULL) !=
            CURLM_OK)
            break;
    }
    return caller_no_memory(&exchange->caller);
}

static mortise_status conclude(struct exchange *exchange, CURLcode code,
                               mortise_http_response *response)
{
    switch (exchange->answer.stop) {
    case HTTP_GOES_ON:
        break;
    case HTTP_TOO_LARGE:
        return fail_limit(exchange);
    case HTTP_HEAD_TOO_LARGE:
        return fail_headers(exchange);
    case HTTP_STOPPED:
        return fail_cancelled(exchange);
    case HTTP_NO_MEMORY:
        return caller_no_memory(&exchange->caller);
    }
    if (code == CURLE_OK)
        return http_answer_hand_over(&exchange->answer, &exchange->caller, exchange->api,
                                     exchange->easy, response);
    return exchange->refused ? fail_refused(exchange) : fail_transfer(exchange, code);
}

static int64_t deadline(const struct exchange *exchange)
{
    mortise_call *call = exchange->caller.call;
    int64_t limit_ms = exchange->request.face.timeout_ms;
    int64_t call_ms = call ? call->ops->remaining_ms(call) : -1;
    if (call_ms >= 0 && (limit_ms < 0 || call_ms < limit_ms))
        limit_ms = call_ms;
    return limit_ms < 0 ? -1 : clock_ms() + limit_ms;
}

static mortise_status exchange_with(struct exchange *exchange, mortise_http_response *response)
{
    CURLcode code = CURLE_OK;
    exchange->deadline_ms = deadline(exchange);
    mortise_status status = set_up(exchange);
    if (status == MORTISE_OK)
        status = transfer(exchange, &code);
    if (status == MORTISE_OK)
        status = conclude(exchange, code, response);
    tear_down(exchange);
    return status;
}

static void clear(mortise_http_response *response)
{
    mortise_http_response nothing = {.size = response->size};
    memcpy(response, &nothing, nothing.size < sizeof(nothing) ? nothing.size : sizeof(nothing));
}

static void tell_problem(mortise_http_response *response, const char *problem)
{
    if (MORTISE_HAS(response, mortise_http_response, problem))
        response->problem = problem;
}

/* The reason of what failed is in memory of the caller's; there may be none left. */
static void tell_reason(struct caller *caller, mortise_http_response *response)
{
    const struct text *reason = &caller->reason;
    const char *copy = caller_copy(caller, text_cstr(reason), reason->length);
    tell_problem(response, copy && *copy ? copy : "out of memory");
}

static mortise_status ask(struct exchange *exchange, const mortise_http_request *request,
                          mortise_http_response *response)
{
    const char *problem = http_request_read(&exchange->request, request);
    mortise_status status;
    if (problem) {
        text_release(&exchange->request.host);
        status = caller_invalid(&exchange->caller, "the request cannot be made: %s", problem);
    } else {
        status = exchange_with(exchange, response);
    }
    if (status != MORTISE_OK)
        tell_reason(&exchange->caller, response);
    return status;
}

/* ---- the table ---- */

static mortise_status send_request(mortise_call *call, const mortise_http_request *request,
                                   mortise_http_response *response)
{
    struct exchange exchange = {0};
    bool has_place = response && MORTISE_HAS(response, mortise_http_response, status);
    if (has_place)
        clear(response);
    if (!caller_begin(&exchange.caller, call, "http")) {
        if (has_place)
            tell_problem(response, "the call is over");
        return MORTISE_INVALID;
    }
    mortise_status status =
        has_place ? ask(&exchange, request, response)
                  : caller_invalid(&exchange.caller, "there is no place for the response");
    caller_end(&exchange.caller);
    return status;
}

/* The answer's memory is the plugin's from then on; false: there is none to remember it by. */
static bool hand_over_memory(struct caller *caller, mortise_http_response *response)
{
    struct arena *memory = malloc(sizeof(*memory));
    response->memory = memory;
    if (!memory)
        return false;
    *memory = caller->memory;
    caller->memory = (struct arena){0};
    return true;
}

static mortise_status fetch(const mortise_host *host, const mortise_http_request *request,
                            mortise_http_response *response)
{
    struct exchange exchange = {0};
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory))
        return MORTISE_INVALID;
    clear(response);
    if (!caller_begin_outside(&exchange.caller, host, "http")) {
        tell_problem(response, "this host makes no requests");
        return MORTISE_UNSUPPORTED;
    }
    mortise_status status = ask(&exchange, request, response);
    if (!hand_over_memory(&exchange.caller, response)) {
        clear(response);
        tell_problem(response, "out of memory");
        status = MORTISE_NO_MEMORY;
    }
    caller_end(&exchange.caller);
    return status;
}

static void release(const mortise_host *host, mortise_http_response *response)
{
    (void)host;
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory))
        return;
    struct arena *memory = response->memory;
    if (memory)
        arena_release(memory);
    free(memory);
    clear(response);
}

const mortise_http http_table = {
    .size = sizeof(http_table), .send = send_request, .fetch = fetch, .release = release};

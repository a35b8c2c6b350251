/*
 * Requests over HTTP, as a plugin in its own process makes them: in a call over its lane, outside of
 * one over lanes that are asked for when they are needed (fetcher.h) and kept.  What goes between
 * the two ends is told in asked_http.h.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/serve_request.h"

/* A request that is under way. */
struct asking {
    struct served_request request;
    mortise_http_request http; /* complete, whatever size the plugin compiled */
    mortise_http_response *response;
    mortise_http_response given; /* the same, complete */
    bool is_stopped;             /* the host was told so: it expects no acknowledgement any more */
};

static bool has_place(const mortise_http_response *response)
{
    return response && MORTISE_HAS(response, mortise_http_response, body_length);
}

/* As large as the plugin compiled it. */
static void tell(struct asking *asking)
{
    mortise_http_response *given = &asking->given;
    given->size = asking->response->size;
    memcpy(asking->response, given, given->size < sizeof(*given) ? given->size : sizeof(*given));
}

/* ---- what is asked ---- */

/* What could not be sent to the host, or what the host does not see; NULL: nothing. */
static const char *find_problem(const mortise_http_request *http)
{
    if (!http->url)
        return "it has no URL";
    if (http->header_count && !http->headers)
        return "its headers have a count and no place";
    for (size_t i = 0; i < http->header_count; i++)
        if (!http->headers[i].name)
            return "a header has no name";
    if (http->stop_fd > 0 && fcntl(http->stop_fd, F_GETFD) < 0)
        return "its stop_fd is no open descriptor";
    return NULL;
}

/* False: it cannot be used, and `given` says why. */
static bool take_request(struct asking *asking, const mortise_http_request *http,
                         mortise_http_response *response)
{
    *asking = (struct asking){.response = response};
    if (http && MORTISE_HAS(http, mortise_http_request, url))
        memcpy(&asking->http, http,
               http->size < sizeof(asking->http) ? http->size : sizeof(asking->http));
    asking->given.problem = find_problem(&asking->http);
    return !asking->given.problem;
}

static void put_request(struct text *out, const mortise_http_request *http)
{
    parcel_put_u32(out, http->flags);
    parcel_put_string(out, http->method);
    parcel_put_string(out, http->url);
    parcel_put_u32(out, (uint32_t)http->header_count);
    for (size_t i = 0; i < http->header_count; i++) {
        parcel_put_string(out, http->headers[i].name);
        parcel_put_string(out, http->headers[i].value ? http->headers[i].value : "");
    }
    parcel_put_bytes(out, http->body, http->body_length);
    parcel_put_i64(out, http->timeout_ms);
    parcel_put_u64(out, http->max_bytes);
    parcel_put_u32(out, http->max_redirects);
    parcel_put_u32(out, http->received != NULL);
    parcel_put_u32(out, http->answered != NULL);
    parcel_put_u32(out, http->stop_fd > 0);
}

/* ---- while it is made ---- */

static void stop(struct asking *asking)
{
    struct served_lane *lane = asking->request.lane;
    asking->is_stopped = true;
    parcel_begin(&lane->out, PARCEL_STOP);
    lane_send(lane);
}

/* Nothing is in the lane's buffer here: the host waits for each message to be acknowledged. */
static void next_message(struct asking *asking)
{
    struct served_lane *lane = asking->request.lane;
    struct pollfd fds[2] = {{lane->fd, POLLIN, 0}, {asking->http.stop_fd, POLLIN, 0}};
    while (asking->http.stop_fd > 0 && !asking->is_stopped && !fds[0].revents) {
        if (poll(fds, 2, -1) < 0)
            fds[0].revents = fds[1].revents = 0;
        if (fds[1].revents)
            stop(asking);
    }
    lane_next(lane, &asking->request.answer);
}

static void acknowledge(struct asking *asking, bool goes_on)
{
    struct served_lane *lane = asking->request.lane;
    if (asking->is_stopped)
        return;
    parcel_begin(&lane->out, PARCEL_ACKNOWLEDGE);
    parcel_put_u32(&lane->out, goes_on);
    lane_send(lane);
}

static void hand_on_head(struct asking *asking, struct parcel *message)
{
    uint32_t status = parcel_u32(message), count = parcel_u32(message);
    mortise_http_header *headers = calloc((size_t)count + 1, sizeof(*headers));
    for (uint32_t i = 0; headers && i < count; i++) {
        headers[i].name = parcel_string(message);
        headers[i].value = parcel_string(message);
    }
    if (headers && asking->http.answered)
        asking->http.answered(asking->http.received_data, status, headers, count);
    free(headers);
    acknowledge(asking, headers);
}

static void hand_on_piece(struct asking *asking, struct parcel *message)
{
    size_t length;
    const char *bytes = parcel_bytes(message, &length);
    bool goes_on = bytes && asking->http.received &&
                   asking->http.received(asking->http.received_data, bytes, length);
    acknowledge(asking, goes_on);
}

/* The callbacks may use the call itself, which asks over the same lane: what they get is copied. */
static void hand_on(struct asking *asking)
{
    const struct parcel *answer = &asking->request.answer;
    struct text copy = TEXT_INIT;
    text_append(&copy, answer->data, answer->left);
    struct parcel own = {.type = answer->type, .data = copy.data, .left = copy.length};
    if (copy.failed)
        acknowledge(asking, false);
    else if (answer->type == PARCEL_ANSWERED)
        hand_on_head(asking, &own);
    else
        hand_on_piece(asking, &own);
    text_release(&copy);
}

static void take_response(struct asking *asking)
{
    struct served_request *request = &asking->request;
    mortise_http_response *given = &asking->given;
    given->status = parcel_u32(&request->answer);
    uint32_t count = parcel_u32(&request->answer);
    mortise_http_header *headers =
        served_request_alloc(request, ((size_t)count + 1) * sizeof(*headers));
    for (uint32_t i = 0; i < count && !request->no_memory; i++) {
        headers[i].name = served_request_text(request);
        headers[i].value = served_request_text(request);
    }
    given->headers = headers;
    given->header_count = headers ? count : 0;
    given->content_type = served_request_text(request);
    given->url = served_request_text(request);
    given->body = served_request_bytes(request, &given->body_length);
}

/* `request` has begun. */
static mortise_status make(struct asking *asking)
{
    struct served_request *request = &asking->request;
    put_request(&request->lane->out, &asking->http);
    if (!lane_send(request->lane)) {
        asking->given.problem = "the request is larger than what can be handed to the host";
        return MORTISE_INVALID;
    }
    next_message(asking);
    while (request->answer.type == PARCEL_RECEIVED || request->answer.type == PARCEL_ANSWERED) {
        hand_on(asking);
        next_message(asking);
    }
    mortise_status status = (mortise_status)parcel_u32(&request->answer);
    asking->given.problem = served_request_text(request);
    if (status == MORTISE_OK)
        take_response(asking);
    if (!request->no_memory)
        return status;
    asking->given = (mortise_http_response){.problem = "out of memory"};
    return MORTISE_NO_MEMORY;
}

/* ---- in a call ---- */

/* What the host does not know of is kept here. */
static mortise_status refuse(struct asking *asking, mortise_call *call)
{
    const char *problem = asking->given.problem;
    tell(asking);
    call->ops->fail(call, &(mortise_error){.size = sizeof(mortise_error),
                                           .category = MORTISE_INVALID_INPUT,
                                           .component = "http",
                                           .code = "http.invalid",
                                           .message = problem,
                                           .message_length = strlen(problem)});
    return MORTISE_INVALID;
}

static mortise_status http_send(mortise_call *call, const mortise_http_request *http,
                                mortise_http_response *response)
{
    struct asking asking;
    if (!has_place(response))
        return MORTISE_INVALID;
    if (!take_request(&asking, http, response))
        return refuse(&asking, call);
    if (!served_request_begin(&asking.request, call, PARCEL_HTTP_SEND)) {
        asking.given.problem = "the call is over";
        tell(&asking);
        return MORTISE_INVALID;
    }
    mortise_status status = make(&asking);
    tell(&asking);
    return served_request_end(&asking.request, status);
}

/* ---- outside of one ---- */

/* Lanes of the plugin's own; those that are idle wait for the next request. */
struct own_lane {
    struct served_lane lane; /* first */
    struct own_lane *next;
};
static struct {
    pthread_mutex_t lock;
    struct own_lane *first;
    size_t count;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { IDLE_MOST = 4 };

static struct own_lane *take_lane(char problem[SERVE_PROBLEM])
{
    pthread_mutex_lock(&idle.lock);
    struct own_lane *lane = idle.first;
    if (lane) {
        idle.first = lane->next;
        idle.count--;
    }
    pthread_mutex_unlock(&idle.lock);
    if (lane)
        return lane;
    lane = malloc(sizeof(*lane));
    int fd = lane ? serve_own_lane(problem) : -1;
    if (fd < 0) {
        if (!lane)
            snprintf(problem, SERVE_PROBLEM, "out of memory");
        free(lane);
        return NULL;
    }
    lane_init(&lane->lane, fd, -1, NULL);
    return lane;
}

static void give_lane_back(struct own_lane *lane)
{
    pthread_mutex_lock(&idle.lock);
    bool kept = idle.count < IDLE_MOST;
    if (kept) {
        lane->next = idle.first;
        idle.first = lane;
        idle.count++;
    }
    pthread_mutex_unlock(&idle.lock);
    if (!kept)
        lane_free(&lane->lane);
}

static mortise_status fetch_over(struct own_lane *lane, struct asking *asking)
{
    asking->request.lane = &lane->lane;
    parcel_begin(&lane->lane.out, PARCEL_HTTP_FETCH);
    mortise_status status = make(asking);
    give_lane_back(lane);
    return status;
}

static mortise_status fetch_into(struct asking *asking)
{
    char problem[SERVE_PROBLEM];
    struct own_lane *lane = take_lane(problem);
    if (lane)
        return fetch_over(lane, asking);
    asking->given.problem = arena_copy(asking->request.memory, problem, strlen(problem));
    if (!asking->given.problem)
        asking->given.problem = "out of memory";
    return MORTISE_DENIED;
}

static mortise_status http_fetch(const mortise_host *host, const mortise_http_request *http,
                                 mortise_http_response *response)
{
    struct asking asking;
    mortise_status status = MORTISE_INVALID;
    (void)host;
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory))
        return MORTISE_INVALID;
    if (take_request(&asking, http, response)) {
        struct arena *memory = calloc(1, sizeof(*memory));
        asking.request.memory = memory;
        asking.given.problem = memory ? NULL : "out of memory";
        status = memory ? fetch_into(&asking) : MORTISE_NO_MEMORY;
        asking.given.memory = memory;
    }
    tell(&asking);
    return status;
}

static void http_release(const mortise_host *host, mortise_http_response *response)
{
    (void)host;
    if (!response || !MORTISE_HAS(response, mortise_http_response, memory))
        return;
    if (response->memory)
        arena_release(response->memory);
    free(response->memory);
    struct asking nothing = {.response = response};
    tell(&nothing);
}

const mortise_http served_http = {.size = sizeof(served_http),
                                  .send = http_send,
                                  .fetch = http_fetch,
                                  .release = http_release};
const mortise_http served_confined_http = {.size = sizeof(served_confined_http),
                                           .send = http_send};

#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "mcp/http_private.h"

/* What waits behind a request that is served; more stays in the socket. */
#define INPUT_MAX  65536
/* Messages in memory, of all connections together: how many of the longest, and at least so much.
 */
#define HELD_MAX   16
#define HELD_MIN   ((size_t)64 << 20)
/* A slow client's body may take the longer the more of it has come: bytes in a millisecond. */
#define BODY_RATE  16
/* For the client to read an answer that it did not wait for. */
#define END_MS     2000
/* Kept for the next request. */
#define KEPT_BYTES 4096

static struct evbuffer *input(struct http_connection *connection)
{
    return connection->http->api->bufferevent_get_input(connection->stream);
}

bool http_connection_timer(struct http_connection *connection, int64_t ms)
{
    struct timeval time = http_time(ms);
    return connection->http->api->event_add(connection->timer, &time) == 0;
}

static void drop_body(struct http_connection *connection)
{
    connection->http->held -= connection->body.text.length;
    http_body_release(&connection->body);
}

void http_connection_wrote(struct http_connection *connection, size_t length)
{
    connection->waiting += length;
    connection->http->held += length;
}

static void forget_written(struct http_connection *connection)
{
    connection->http->held -= connection->waiting;
    connection->waiting = 0;
}

/* ---- its end ------------------------------------------------------------------------------ */

void http_connection_close(struct http_connection *connection)
{
    struct mcp_http *http = connection->http;
    if (connection->exchange)
        http_exchange_leave(connection->exchange);
    if (connection->before)
        connection->before->next = connection->next;
    else
        http->connections = connection->next;
    if (connection->next)
        connection->next->before = connection->before;
    drop_body(connection);
    forget_written(connection);
    text_release(&connection->head_text);
    http->api->event_free(connection->timer);
    http->api->bufferevent_free(connection->stream);
    free(connection);
    http_gone(http);
}

static bool is_written(struct http_connection *connection)
{
    const struct event_api *api = connection->http->api;
    return api->evbuffer_get_length(api->bufferevent_get_output(connection->stream)) == 0;
}

static void end(struct http_connection *connection)
{
    struct evbuffer *in = input(connection);
    connection->state = HTTP_ENDING;
    connection->http->api->event_del(connection->timer);
    connection->http->api->evbuffer_drain(in, connection->http->api->evbuffer_get_length(in));
}

/* Closing a socket with unread bytes in it would take back what was written: the client is told
 * that this was all, and what it still sends is read, for a while. */
static void on_written(struct bufferevent *stream, void *argument)
{
    struct http_connection *connection = argument;
    forget_written(connection);
    if (connection->state != HTTP_ENDING)
        return;
    if (connection->is_closed_by_client) {
        http_connection_close(connection);
        return;
    }
    shutdown(connection->http->api->bufferevent_getfd(stream), SHUT_WR);
    http_connection_timer(connection, END_MS);
}

void http_connection_answered(struct http_connection *connection)
{
    connection->exchange = NULL;
    if (connection->closes || connection->http->is_closing) {
        end(connection);
        return;
    }
    connection->state = HTTP_HEAD;
    if (connection->head_text.capacity > KEPT_BYTES)
        text_release(&connection->head_text);
    http_connection_timer(connection, connection->http->patience_ms);
    if (connection->is_held)
        connection->http->api->bufferevent_enable(connection->stream, EV_READ);
    connection->is_held = false;
}

static void refuse(struct http_connection *connection, const struct http_refusal *refusal)
{
    drop_body(connection);
    http_answer_refusal(connection, refusal);
    http_connection_answered(connection);
}

static void refuse_for(struct http_connection *connection, int status, const char *problem)
{
    connection->closes = true;
    refuse(connection, &(struct http_refusal){status, problem, ""});
}

/* ---- reading ------------------------------------------------------------------------------ */

static void serve(struct http_connection *connection)
{
    connection->state = HTTP_SERVING;
    connection->http->api->event_del(connection->timer);
    bool served = http_exchange_begin(connection);
    drop_body(connection);
    if (!served)
        refuse_for(connection, 503, "out of memory");
}

static void go_by(struct http_connection *connection, int status)
{
    if (status == HTTP_BODY_DONE)
        serve(connection);
    else if (status == 413)
        refuse_for(connection, status, "the message is too long");
    else if (status == 503)
        refuse_for(connection, status, "out of memory");
    else if (status != HTTP_BODY_MORE)
        refuse_for(connection, status, "the body is malformed");
}

static bool is_too_much(const struct mcp_http *http)
{
    return http->held > HELD_MIN && http->held / HELD_MAX > http->policy.body_max;
}

static void take_body(struct http_connection *connection)
{
    struct mcp_http *http = connection->http;
    struct evbuffer *in = input(connection);
    size_t length = http->api->evbuffer_get_contiguous_space(in), used;
    const char *data = (const char *)http->api->evbuffer_pullup(in, (ev_ssize_t)length);
    http->held -= connection->body.text.length;
    int status = http_body_take(&connection->body, data, length, &used);
    http->held += connection->body.text.length;
    http->api->evbuffer_drain(in, used);
    if (is_too_much(http))
        refuse_for(connection, 503, "there are too many long messages at once");
    else
        go_by(connection, status);
}

static void begin_body(struct http_connection *connection)
{
    struct http_head *head = &connection->head;
    struct mcp_http *http = connection->http;
    int status =
        http_body_begin(&connection->body, head->length, head->is_chunked, http->policy.body_max);
    connection->state = HTTP_BODY;
    connection->since_ms = clock_ms();
    http_connection_timer(connection, http->patience_ms);
    if (status == HTTP_BODY_MORE && head->expects_continue &&
        !http->api->evbuffer_get_length(input(connection)))
        http_answer_continue(connection);
    go_by(connection, status);
}

static void read_head(struct http_connection *connection)
{
    const char *problem;
    struct http_refusal refusal;
    struct http_head *head = &connection->head;
    int status =
        http_head_read(head, connection->head_text.data, connection->head_text.length, &problem);
    connection->closes = head->closes || connection->http->is_closing;
    if (status) {
        refuse_for(connection, status, problem);
    } else if (http_check(&connection->http->policy, head, &refusal)) {
        begin_body(connection);
    } else {
        connection->closes = connection->closes || head->length || head->is_chunked;
        refuse(connection, &refusal);
    }
}

/* An empty line before the request is forgiven: old clients send one behind a body. */
static void skip_line(struct http_connection *connection)
{
    struct evbuffer *in = input(connection);
    if (connection->seen || connection->http->api->evbuffer_get_length(in) < 2)
        return;
    const unsigned char *data = connection->http->api->evbuffer_pullup(in, 2);
    if (data && data[0] == '\r' && data[1] == '\n')
        connection->http->api->evbuffer_drain(in, 2);
}

/* False: it is not whole. */
static bool take_head(struct http_connection *connection)
{
    const struct event_api *api = connection->http->api;
    struct evbuffer *in = input(connection);
    skip_line(connection);
    size_t length = api->evbuffer_get_length(in);
    length = length < HTTP_HEAD_MAX ? length : HTTP_HEAD_MAX;
    const char *data = length ? (const char *)api->evbuffer_pullup(in, (ev_ssize_t)length) : "";
    size_t end_at = data ? http_head_end(data, length, connection->seen) : 0;
    if (!end_at && data && length < HTTP_HEAD_MAX) {
        if (!connection->seen && length)
            http_connection_timer(connection, connection->http->patience_ms);
        connection->seen = length;
        return false;
    }
    connection->seen = 0;
    text_reset(&connection->head_text);
    text_append(&connection->head_text, data, end_at);
    api->evbuffer_drain(in, end_at);
    if (!data || connection->head_text.failed)
        refuse_for(connection, 503, "out of memory");
    else if (!end_at)
        refuse_for(connection, 431, "the header is too long");
    else
        read_head(connection);
    return true;
}

/* The next request waits.  (libevent's own limit for its buffers crashes without memory.) */
static void hold(struct http_connection *connection)
{
    const struct event_api *api = connection->http->api;
    if (connection->is_held || api->evbuffer_get_length(input(connection)) <= INPUT_MAX)
        return;
    connection->is_held = true;
    api->bufferevent_disable(connection->stream, EV_READ);
}

void http_connection_go_on(struct http_connection *connection)
{
    const struct event_api *api = connection->http->api;
    struct evbuffer *in = input(connection);
    bool goes_on = true;
    while (goes_on && api->evbuffer_get_length(in)) {
        switch (connection->state) {
        case HTTP_HEAD:
            goes_on = take_head(connection);
            break;
        case HTTP_BODY:
            take_body(connection);
            break;
        case HTTP_SERVING:
            hold(connection);
            goes_on = false;
            break;
        case HTTP_ENDING:
            api->evbuffer_drain(in, api->evbuffer_get_length(in));
            break;
        }
    }
    if (!connection->is_closed_by_client || connection->state == HTTP_SERVING)
        return;
    if (is_written(connection))
        http_connection_close(connection);
    else if (connection->state != HTTP_ENDING)
        end(connection);
}

bool http_connection_is_idle(const struct http_connection *connection)
{
    return connection->state == HTTP_HEAD && !connection->seen;
}

/* ---- what happens to it ------------------------------------------------------------------- */

/* What it asked for is answered at once, before the loop sees that it went away. */
static void on_read(struct bufferevent *stream, void *argument)
{
    struct http_connection *connection = argument;
    struct mcp_http *http = connection->http;
    (void)stream;
    http_connection_go_on(connection);
    http_drain(http);
}

/* The end of what the client sends.  In the modern era that is how it cancels; a legacy client may
 * have closed its half only. */
static void on_end(struct http_connection *connection)
{
    bool is_bound =
        connection->state == HTTP_SERVING && http_exchange_is_bound(connection->exchange);
    connection->is_closed_by_client = true;
    if (is_bound)
        http_connection_close(connection);
    else
        http_connection_go_on(connection);
}

static void on_event(struct bufferevent *stream, short what, void *argument)
{
    (void)stream;
    if ((what & BEV_EVENT_EOF) && (what & BEV_EVENT_READING))
        on_end(argument);
    else
        http_connection_close(argument);
}

static void check_body_time(struct http_connection *connection)
{
    int64_t spent = clock_ms() - connection->since_ms;
    int64_t allowed =
        connection->http->patience_ms + (int64_t)connection->body.text.length / BODY_RATE;
    if (spent < allowed)
        http_connection_timer(connection, allowed - spent + 1);
    else
        refuse_for(connection, 408, "the request took too long");
}

static void on_time(evutil_socket_t none, short what, void *argument)
{
    struct http_connection *connection = argument;
    const struct event_api *api = connection->http->api;
    (void)none;
    (void)what;
    switch (connection->state) {
    case HTTP_HEAD:
        if (connection->seen)
            refuse_for(connection, 408, "the request took too long");
        else
            http_connection_close(connection);
        break;
    case HTTP_BODY:
        check_body_time(connection);
        break;
    case HTTP_SERVING:
        if (!api->evbuffer_get_length(api->bufferevent_get_output(connection->stream)))
            http_answer_comment(connection);
        http_connection_timer(connection, connection->http->patience_ms / 2);
        break;
    case HTTP_ENDING:
        http_connection_close(connection);
        break;
    }
}

/* ---- its beginning ------------------------------------------------------------------------ */

static struct http_connection *connection_new(struct mcp_http *http, evutil_socket_t fd)
{
    const struct event_api *api = http->api;
    struct http_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->http = http;
    connection->timer = api->event_new(http->base, -1, 0, on_time, connection);
    connection->stream = api->bufferevent_socket_new(http->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (connection->timer && connection->stream)
        return connection;
    if (connection->timer)
        api->event_free(connection->timer);
    free(connection);
    return NULL;
}

void http_connection_open(struct mcp_http *http, evutil_socket_t fd)
{
    const struct event_api *api = http->api;
    struct timeval patience = http_time(http->patience_ms);
    struct http_connection *connection = connection_new(http, fd);
    if (!connection) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    connection->next = http->connections;
    if (connection->next)
        connection->next->before = connection;
    http->connections = connection;
    http->connection_count++;
    api->bufferevent_setcb(connection->stream, on_read, on_written, on_event, connection);
    api->bufferevent_set_timeouts(connection->stream, NULL, &patience);
    if (api->bufferevent_enable(connection->stream, EV_READ | EV_WRITE) != 0 ||
        !http_connection_timer(connection, http->patience_ms))
        http_connection_close(connection);
}

#include "base/json_write.h"
#include "mcp/http_private.h"

/* Below it copying costs less than a reference. */
#define COPY_MAX    4096

#define EVENT_START "event: message\ndata: "
#define EVENT_END   "\n\n"

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{200, "OK"},
                   {202, "Accepted"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {431, "Request Header Fields Too Large"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}

/* ---- bytes -------------------------------------------------------------------------------- */

static struct evbuffer *output(struct http_connection *connection)
{
    return connection->http->api->bufferevent_get_output(connection->stream);
}

/* Part of an answer is worse than none: the client would take what follows for the rest. */
static void failed(struct http_connection *connection)
{
    connection->closes = true;
    shutdown(connection->http->api->bufferevent_getfd(connection->stream), SHUT_RDWR);
}

/* That a buffer has something makes it write, unless there was no memory for that when it was made.
 */
static void check(struct http_connection *connection, int added, size_t length)
{
    const struct event_api *api = connection->http->api;
    http_connection_wrote(connection, added == 0 ? length : 0);
    if (added != 0 || api->bufferevent_enable(connection->stream, EV_WRITE) != 0)
        failed(connection);
}

static void put(struct http_connection *connection, const char *data, size_t length)
{
    check(connection, connection->http->api->evbuffer_add(output(connection), data, length),
          length);
}

static void forget(const void *data, size_t length, void *owned)
{
    (void)data;
    (void)length;
    free(owned);
}

/* Takes the text. */
static void put_text(struct http_connection *connection, struct text *text)
{
    if (text->failed) {
        failed(connection);
    } else if (text->length <= COPY_MAX) {
        put(connection, text->data, text->length);
    } else {
        size_t length;
        char *data = text_take(text, &length);
        int added = connection->http->api->evbuffer_add_reference(output(connection), data, length,
                                                                  forget, data);
        if (added != 0)
            free(data);
        check(connection, added, length);
    }
    text_release(text);
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Up to the fields that are of this answer alone. */
static void begin(struct http_connection *connection, int status, struct text *head)
{
    text_printf(head, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\n", status, reason_of(status));
    if (connection->closes)
        text_puts(head, "Connection: close\r\n");
}

void http_answer_json(struct http_connection *connection, int status, struct text *message)
{
    struct text head = TEXT_INIT;
    begin(connection, status, &head);
    text_printf(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                message->length);
    put_text(connection, &head);
    put_text(connection, message);
}

void http_answer_accepted(struct http_connection *connection)
{
    struct text head = TEXT_INIT;
    begin(connection, 202, &head);
    text_puts(&head, "Content-Length: 0\r\n\r\n");
    put_text(connection, &head);
}

void http_answer_refusal(struct http_connection *connection, const struct http_refusal *refusal)
{
    struct text head = TEXT_INIT, body = TEXT_INIT;
    text_puts(&body, "{\"jsonrpc\":\"2.0\",\"error\":{");
    json_put_integer(&body, "code", MCP_INVALID_REQUEST);
    json_put_string(&body, "message", refusal->problem);
    text_puts(&body, "}}");
    begin(connection, refusal->status, &head);
    text_printf(&head, "%sContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                refusal->field, body.length);
    put_text(connection, &head);
    if (slice_is(connection->head.method, "HEAD"))
        text_release(&body); /* it has the length that the body would have, and none */
    else
        put_text(connection, &body);
}

void http_answer_continue(struct http_connection *connection)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    put(connection, go_on, sizeof(go_on) - 1);
}

/* ---- events ------------------------------------------------------------------------------- */

static void open_stream(struct http_connection *connection)
{
    struct text head = TEXT_INIT;
    connection->is_stream = true;
    if (connection->head.is_old)
        connection->closes = true; /* it has no chunks: the end is the end of the connection */
    begin(connection, 200, &head);
    text_puts(&head, "Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n");
    text_puts(&head, connection->head.is_old ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n");
    put_text(connection, &head);
}

static void begin_chunk(struct http_connection *connection, size_t length)
{
    struct text size = TEXT_INIT;
    text_printf(&size, "%zx\r\n", length);
    if (!connection->head.is_old)
        put_text(connection, &size);
    text_release(&size);
}

static void end_chunk(struct http_connection *connection)
{
    if (!connection->head.is_old)
        put(connection, "\r\n", 2);
}

void http_answer_event(struct http_connection *connection, struct text *message)
{
    if (!connection->is_stream)
        open_stream(connection);
    begin_chunk(connection, sizeof(EVENT_START) - 1 + message->length + sizeof(EVENT_END) - 1);
    put(connection, EVENT_START, sizeof(EVENT_START) - 1);
    put_text(connection, message);
    put(connection, EVENT_END, sizeof(EVENT_END) - 1);
    end_chunk(connection);
}

void http_answer_comment(struct http_connection *connection)
{
    static const char comment[] = ":\n\n";
    begin_chunk(connection, sizeof(comment) - 1);
    put(connection, comment, sizeof(comment) - 1);
    end_chunk(connection);
}

void http_answer_end(struct http_connection *connection)
{
    begin_chunk(connection, 0);
    end_chunk(connection);
    connection->is_stream = false;
}

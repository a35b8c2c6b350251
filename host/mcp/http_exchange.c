#include <stddef.h>
#include <stdlib.h>

#include "mcp/http_metadata.h"
#include "mcp/http_private.h"

/* What may wait for a slow client before what is not the answer is left out. */
#define OUTPUT_MAX 262144
/* Calls that run or wait for a thread: those of legacy clients stay when the client is gone. */
#define CALLS_MAX  1024

struct http_message {
    struct http_note note; /* first */
    struct http_exchange *exchange;
    struct text text;
    int code;
    bool is_last;
    bool is_empty; /* it was cancelled: there is no answer */
};

/*
 * A request that is served.  The connection has a reference, and whoever may still send: the thread
 * that serves it; for a subscription the server, until the last message, or until it is cancelled.
 */
struct http_exchange {
    atomic_uint refs;
    struct mcp_http *http;
    struct http_connection *connection; /* of the loop; NULL: the client is gone */
    struct mcp_exchange *served;        /* a reference; NULL: a notification */
    bool is_modern;
    bool is_refused;
    bool has_bad_metadata;
    bool takes_json; /* the client */
    bool takes_events;
    bool listens;             /* it is a subscription */
    bool is_counted;          /* among the calls */
    size_t held;              /* bytes of the message, among those that the server holds */
    atomic_bool is_answered;  /* the last message is on its way */
    struct http_message last; /* in here, so that there is always room for it */
    atomic_bool is_lost;      /* a message of a subscription, for want of memory */
    struct http_note lost;
};

static void exchange_unref(struct http_exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->refs, 1) > 1)
        return;
    mcp_exchange_unref(exchange->served);
    free(exchange);
}

/* False: there are too many. */
static bool count_call(struct http_exchange *exchange)
{
    struct mcp_http *http = exchange->http;
    pthread_mutex_lock(&http->lock);
    exchange->is_counted = http->calls < CALLS_MAX;
    http->calls += exchange->is_counted;
    pthread_mutex_unlock(&http->lock);
    return exchange->is_counted;
}

/* Nothing of it is served any more. */
static void uncount(struct http_exchange *exchange)
{
    struct mcp_http *http = exchange->http;
    http->held -= exchange->held;
    exchange->held = 0;
    if (!exchange->is_counted)
        return;
    pthread_mutex_lock(&http->lock);
    if (--http->calls == 0)
        pthread_cond_signal(&http->quiet);
    pthread_mutex_unlock(&http->lock);
}

/* ---- answers, on the loop ----------------------------------------------------------------- */

static int status_of(const struct http_exchange *exchange, int code)
{
    if (exchange->is_refused)
        return 400;
    switch (code) {
    case MCP_PARSE_ERROR:
    case MCP_INVALID_REQUEST:
        return 400;
    case MCP_METHOD_NOT_FOUND:
        return exchange->is_modern ? 404 : 200;
    case MCP_HEADER_MISMATCH:
    case MCP_MISSING_CAPABILITY:
    case MCP_UNSUPPORTED_VERSION:
        return 400;
    case MCP_INVALID_PARAMS:
        return exchange->has_bad_metadata ? 400 : 200;
    default:
        return 200;
    }
}

static bool is_full(struct http_connection *connection)
{
    const struct event_api *api = connection->http->api;
    return api->evbuffer_get_length(api->bufferevent_get_output(connection->stream)) > OUTPUT_MAX;
}

static void write_event(struct http_connection *connection, struct text *text)
{
    bool opens = !connection->is_stream;
    http_answer_event(connection, text);
    if (opens)
        http_connection_timer(connection, connection->http->patience_ms / 2);
}

static void write_last(struct http_connection *connection, struct http_message *message)
{
    struct http_exchange *exchange = message->exchange;
    if (message->is_empty && !connection->is_stream)
        http_answer_accepted(connection);
    else if (!connection->is_stream && (exchange->takes_json || message->code))
        http_answer_json(connection, status_of(exchange, message->code), &message->text);
    else if (!message->is_empty)
        http_answer_event(connection, &message->text);
    if (connection->is_stream)
        http_answer_end(connection);
    http_connection_answered(connection);
    http_connection_go_on(connection);
}

static void act_last(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;
    exchange->connection = NULL;
    uncount(exchange);
    if (connection) {
        write_last(connection, &exchange->last);
        exchange_unref(exchange); /* the connection's */
    }
    if (exchange->listens)
        exchange_unref(exchange); /* the server's */
    text_release(&exchange->last.text);
}

/* The client asks again, and learns what it was not told. */
static void act_lost(struct mcp_http *http, struct http_note *note)
{
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)note - offsetof(struct http_exchange, lost));
    (void)http;
    if (exchange->connection)
        http_connection_close(exchange->connection);
    exchange_unref(exchange);
}

static void act(struct mcp_http *http, struct http_note *note)
{
    struct http_message *message = (struct http_message *)note;
    struct http_exchange *exchange = message->exchange;
    struct http_connection *connection = exchange->connection;
    (void)http;
    if (message->is_last) {
        act_last(exchange);
    } else {
        if (connection && exchange->takes_events && !is_full(connection))
            write_event(connection, &message->text);
        text_release(&message->text);
        free(message);
    }
    exchange_unref(exchange);
}

/* ---- messages, from any thread ------------------------------------------------------------ */

static void push(struct http_exchange *exchange, struct http_message *message)
{
    message->note.act = act;
    message->exchange = exchange;
    atomic_fetch_add(&exchange->refs, 1);
    queue_push(&exchange->http->queue, &message->note.node);
}

/* Of a call it is its progress, which is no matter. */
static void lose(struct http_exchange *exchange)
{
    if (!exchange->listens || atomic_exchange(&exchange->is_lost, true))
        return;
    exchange->lost.act = act_lost;
    atomic_fetch_add(&exchange->refs, 1);
    queue_push(&exchange->http->queue, &exchange->lost.node);
}

static void take_message(void *self, struct slice text, int code, bool is_last)
{
    struct http_exchange *exchange = self;
    struct http_message *message = is_last ? &exchange->last : calloc(1, sizeof(*message));
    if (!message) {
        lose(exchange);
        return;
    }
    message->code = code;
    message->is_last = is_last;
    text_append(&message->text, text.data, text.length);
    if (is_last)
        atomic_store(&exchange->is_answered, true);
    if (is_last || !message->text.failed) { /* that it failed ends the connection */
        push(exchange, message);
        return;
    }
    free(message);
    lose(exchange);
}

/* It was cancelled, so nothing answers it; but the request of HTTP has to end. */
static void end_unanswered(struct http_exchange *exchange)
{
    if (atomic_exchange(&exchange->is_answered, true))
        return;
    exchange->last.is_last = exchange->last.is_empty = true;
    push(exchange, &exchange->last);
}

static void serve(void *argument)
{
    struct http_exchange *exchange = argument;
    mcp_serve(exchange->served);
    if (exchange->listens)
        return; /* the server has the reference from now on */
    end_unanswered(exchange);
    exchange_unref(exchange);
}

/* ---- its beginning ------------------------------------------------------------------------ */

static bool is_method(const struct mcp_message *message, const char *name)
{
    return slice_is((struct slice){message->method.data, message->method.length}, name);
}

/* Without Accept, and where it has neither, the client gets what is best. */
static void read_accept(struct http_exchange *exchange, const struct http_head *head)
{
    const struct http_field *field = NULL;
    while ((field = http_head_next(head, "Accept", field))) {
        struct slice list = field->value, type;
        while (http_list_next(&list, &type)) {
            const char *end = memchr(type.data, ';', type.length);
            type.length = end ? (size_t)(end - type.data) : type.length;
            type = http_trim(type);
            bool is_any = slice_is(type, "*/*");
            exchange->takes_json |= is_any || http_is_word(type, "application/json") ||
                                    http_is_word(type, "application/*");
            exchange->takes_events |=
                is_any || http_is_word(type, "text/event-stream") || http_is_word(type, "text/*");
        }
    }
    if (!exchange->takes_json && !exchange->takes_events)
        exchange->takes_json = exchange->takes_events = true;
}

/* Before 2025-06-18 there was no such field. */
static void set_revision(struct http_exchange *exchange, const struct http_head *head)
{
    enum mcp_revision revision = MCP_2025_03_26;
    struct slice version = http_head_value(head, "MCP-Protocol-Version");
    if (version.data)
        mcp_revision_parse(version, &revision);
    mcp_exchange_set_revision(exchange->served, revision);
}

/* Whether a request that is refused for its parameters has none that could be read by its era. */
static bool has_bad_metadata(const struct mcp_message *message)
{
    if (!message->is_modern)
        return is_method(message, "server/discover") || is_method(message, "subscriptions/listen");
    return !json_piece_is_string(message->version) || !message->capabilities.length ||
           *message->capabilities.data != '{';
}

static void refuse(struct http_exchange *exchange, int code, const char *problem)
{
    exchange->is_refused = true;
    mcp_exchange_refuse(exchange->served, code, problem);
}

static void check(struct http_exchange *exchange, const struct http_head *head)
{
    const struct mcp_message *message = mcp_exchange_message(exchange->served);
    struct text problem = TEXT_INIT, schema = TEXT_INIT;
    exchange->is_modern = message->is_modern;
    exchange->has_bad_metadata = has_bad_metadata(message);
    exchange->listens = message->is_modern && is_method(message, "subscriptions/listen");
    read_accept(exchange, head);
    if (message->kind != MCP_REQUEST)
        return;
    if (!message->is_modern)
        set_revision(exchange, head);
    mcp_exchange_put_schema(exchange->served, "x-mcp-header", &schema);
    int code = http_metadata_check(head, message, (struct json_piece){schema.data, schema.length},
                                   &problem);
    if (code)
        refuse(exchange, code, text_cstr(&problem));
    else if (exchange->listens && !exchange->takes_events)
        refuse(exchange, MCP_INVALID_REQUEST, "a subscription needs Accept: text/event-stream");
    text_release(&problem);
    text_release(&schema);
}

static void begin(struct http_exchange *exchange)
{
    if (mcp_exchange_is_quick(exchange->served) || exchange->listens) {
        serve(exchange);
        return;
    }
    if (count_call(exchange) && pool_submit(exchange->http->pool, serve, exchange))
        return;
    mcp_exchange_fail(exchange->served, "too many calls are running; try again later");
    serve(exchange);
}

bool http_exchange_begin(struct http_connection *connection)
{
    struct http_exchange *exchange = calloc(1, sizeof(*exchange));
    if (!exchange)
        return false;
    struct mcp_sink sink = {take_message, exchange};
    const struct text *body = &connection->body.text;
    atomic_init(&exchange->refs, 2);
    exchange->http = connection->http;
    exchange->connection = connection;
    connection->exchange = exchange;
    exchange->held = body->length;
    connection->http->held += body->length;
    struct mcp_exchange *served =
        mcp_take(connection->http->server, NULL, text_cstr(body), body->length, &sink);
    if (served) {
        exchange->served = mcp_exchange_ref(served);
        check(exchange, &connection->head);
        begin(exchange);
    } else {
        end_unanswered(exchange); /* a notification, or out of memory, which was said */
        exchange_unref(exchange);
    }
    return true;
}

/* ---- its client --------------------------------------------------------------------------- */

bool http_exchange_is_bound(const struct http_exchange *exchange)
{
    return exchange->is_modern && !atomic_load(&exchange->is_answered);
}

void http_exchange_leave(struct http_exchange *exchange)
{
    exchange->connection = NULL;
    if (exchange->is_modern) {
        mcp_exchange_cancel(exchange->served); /* nothing is sent once it returns */
        if (exchange->listens && !atomic_load(&exchange->is_answered)) {
            uncount(exchange);
            exchange_unref(exchange); /* the server's */
        }
    }
    exchange_unref(exchange); /* the connection's */
}

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "mcp/server_private.h"

/* Room for an error that needs no memory, with its id unless that is a long one. */
#define PLAIN_ID_MAX    128
#define PLAIN_ERROR_MAX (PLAIN_ID_MAX + 128)

static struct slice write_plain_error(char out[PLAIN_ERROR_MAX], struct json_piece id)
{
    bool has_id = id.length && id.length < PLAIN_ID_MAX;
    int length = snprintf(out, PLAIN_ERROR_MAX,
                          "{\"jsonrpc\":\"2.0\"%s%.*s,\"error\":{\"code\":%d,"
                          "\"message\":\"out of memory\"}}",
                          has_id ? ",\"id\":" : "", has_id ? (int)id.length : 0,
                          has_id ? id.data : "", MCP_INTERNAL_ERROR);
    return (struct slice){out, (size_t)length};
}

/* ---- life ---- */

static struct mcp_exchange *exchange_new(struct mcp_server *server,
                                         struct mcp_connection *connection, struct slice message,
                                         const struct mcp_sink *sink)
{
    struct mcp_exchange *exchange = malloc(sizeof(*exchange) + message.length + 1);
    if (!exchange)
        return NULL;
    memset(exchange, 0, sizeof(*exchange));
    atomic_init(&exchange->refs, 1);
    exchange->server = server;
    exchange->connection = connection;
    exchange->sink = *sink;
    memcpy(exchange->text, message.data, message.length);
    exchange->text[message.length] = '\0';
    pthread_mutex_init(&exchange->sending, NULL);
    mcp_progress_init(&exchange->progress);
    mcp_message_read(&exchange->message, exchange->text, message.length);
    return exchange;
}

struct mcp_exchange *mcp_exchange_ref(struct mcp_exchange *exchange)
{
    atomic_fetch_add(&exchange->refs, 1);
    return exchange;
}

void mcp_exchange_unref(struct mcp_exchange *exchange)
{
    if (!exchange || atomic_fetch_sub(&exchange->refs, 1) > 1)
        return;
    text_release(&exchange->capabilities);
    mcp_progress_release(&exchange->progress);
    batch_free(exchange->batch);
    pthread_mutex_destroy(&exchange->sending);
    free(exchange);
}

/* ---- what is open ---- */

static bool same_id(const struct mcp_exchange *exchange, struct json_piece id)
{
    return exchange->message.id.length == id.length &&
           memcmp(exchange->message.id.data, id.data, id.length) == 0;
}

static struct mcp_exchange *find_locked(const struct mcp_server *server,
                                        const struct mcp_connection *connection,
                                        struct json_piece id)
{
    struct mcp_exchange *exchange = server->open;
    while (exchange && (exchange->connection != connection || !same_id(exchange, id)))
        exchange = exchange->next;
    return exchange;
}

/* Of those that belong to no connection: the legacy one with this id.  NULL: there is none, or
 * there are several, and whose this is nobody can tell. */
static struct mcp_exchange *find_only_locked(const struct mcp_server *server, struct json_piece id)
{
    struct mcp_exchange *found = NULL;
    for (struct mcp_exchange *at = server->open; at; at = at->next) {
        if (at->connection || at->message.is_modern || !same_id(at, id))
            continue;
        if (found)
            return NULL;
        found = at;
    }
    return found;
}

static void open_locked(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    exchange->next = server->open;
    if (server->open)
        server->open->previous = exchange;
    server->open = exchange;
    exchange->is_open = true;
}

/* Under its id it can be cancelled from now on, if it takes its time.  What is open has the one
 * reference of whoever serves it. */
static void open_exchange(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    bool is_quick = mcp_exchange_is_quick(exchange);
    bool is_known, is_stopped;
    pthread_mutex_lock(&server->lock);
    is_known = exchange->connection && exchange->message.id.length &&
               find_locked(server, exchange->connection, exchange->message.id);
    is_stopped = server->stopped && !is_quick;
    if (!is_known && !is_stopped && !is_quick)
        open_locked(exchange);
    pthread_mutex_unlock(&server->lock);
    if (is_known)
        mcp_refuse(exchange, MCP_INVALID_REQUEST,
                   "Invalid request: a request with this id is still being served");
    else if (is_stopped)
        mcp_refuse(exchange, MCP_INTERNAL_ERROR, "the server is ending");
}

bool mcp_close(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool was_open = exchange->is_open;
    if (was_open) {
        *(exchange->previous ? &exchange->previous->next : &server->open) = exchange->next;
        if (exchange->next)
            exchange->next->previous = exchange->previous;
        exchange->previous = exchange->next = NULL;
        exchange->is_open = false;
        if (exchange->listens)
            server->listeners--;
    }
    pthread_mutex_unlock(&server->lock);
    return was_open;
}

/* ---- cancelling ---- */

void mcp_stop(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    atomic_store(&exchange->is_stopped, true);
    pthread_mutex_lock(&server->lock);
    struct call *call = exchange->call ? call_ref(exchange->call) : NULL;
    pthread_mutex_unlock(&server->lock);
    if (call) {
        call_cancelled(call);
        call_unref(call);
    }
}

static void silence(struct mcp_exchange *exchange)
{
    atomic_store(&exchange->is_silent, true);
    mcp_stop(exchange);
}

/* A subscription has nobody else who would let go of it. */
static void close_listener(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool listens = exchange->listens;
    pthread_mutex_unlock(&server->lock);
    if (listens && mcp_close(exchange))
        mcp_exchange_unref(exchange);
}

void mcp_exchange_cancel(struct mcp_exchange *exchange)
{
    silence(exchange);
    pthread_mutex_lock(&exchange->sending); /* what is being sent now is the last */
    pthread_mutex_unlock(&exchange->sending);
    close_listener(exchange);
}

/* `notifications/cancelled`.  What is unknown, or was answered by now, is no matter.  Without a
 * connection the id may be that of another client's call, when it comes late: its tool is told to
 * stop, but whoever waits for it gets what it says then. */
static void cancel_by_id(struct mcp_server *server, struct mcp_connection *connection,
                         struct json_piece params)
{
    struct json_piece id = json_walk_member(params, "requestId");
    if (!id.length)
        return;
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *exchange =
        connection ? find_locked(server, connection, id) : find_only_locked(server, id);
    if (exchange)
        mcp_exchange_ref(exchange);
    pthread_mutex_unlock(&server->lock);
    if (!exchange)
        return;
    if (connection) {
        silence(exchange);
        close_listener(exchange);
    } else {
        mcp_stop(exchange);
    }
    mcp_exchange_unref(exchange);
}

/* ---- taking ---- */

static void take_notification(struct mcp_exchange *exchange)
{
    struct slice method = {exchange->message.method.data, exchange->message.method.length};
    struct mcp_connection *connection = exchange->connection;
    if (slice_is(method, "notifications/cancelled"))
        cancel_by_id(exchange->server, connection, exchange->message.params);
    else if (slice_is(method, "notifications/initialized") && connection)
        atomic_store(&connection->is_initialized, true);
}

static void check_modern(struct mcp_exchange *exchange)
{
    const struct mcp_message *message = &exchange->message;
    struct text version = TEXT_INIT;
    enum mcp_revision revision = MCP_2025_11_25;
    if (!json_piece_text(message->version, &version))
        mcp_refuse(exchange, MCP_INVALID_PARAMS,
                   "Invalid params: _meta[\"" MCP_META "protocolVersion\"] must be a string");
    else if (!mcp_revision_parse((struct slice){text_cstr(&version), version.length}, &revision) ||
             revision != MCP_2026_07_28)
        mcp_refuse(exchange, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version: %.100s",
                   text_cstr(&version));
    else if (!message->capabilities.length || *message->capabilities.data != '{')
        mcp_refuse(exchange, MCP_INVALID_PARAMS,
                   "Invalid params: _meta[\"" MCP_META "clientCapabilities\"] must be an object");
    text_release(&version);
    exchange->revision = MCP_2026_07_28;
}

/* What of a legacy connection holds for its requests is copied: it may be gone before them. */
static void take_legacy(struct mcp_exchange *exchange)
{
    const struct mcp_connection *connection = exchange->connection;
    exchange->revision = connection ? connection->revision : MCP_2025_11_25;
    if (connection && exchange->method == METHOD_TOOLS_CALL && connection->capabilities.length)
        text_append(&exchange->capabilities, connection->capabilities.data,
                    connection->capabilities.length);
}

static void take_request(struct mcp_exchange *exchange)
{
    const struct mcp_message *message = &exchange->message;
    exchange->method = method_find(message);
    if (message->is_modern)
        check_modern(exchange);
    else
        take_legacy(exchange);
    method_check(exchange);
    if (exchange->method == METHOD_INITIALIZE)
        method_initialize(exchange->connection, exchange);
    if (exchange->code || exchange->method != METHOD_TOOLS_CALL)
        return;
    int64_t timeout_ms = exchange->server->setting.timeout_ms;
    exchange->deadline_ms = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
}

static void take_broken(struct mcp_exchange *exchange, bool in_batch)
{
    const struct mcp_connection *connection = exchange->connection;
    bool may_be_batch = !in_batch && connection && connection->revision == MCP_2025_03_26;
    if (exchange->message.batch.length && may_be_batch && batch_take(exchange))
        exchange->method = METHOD_BATCH;
    else if (!exchange->code)
        mcp_refuse(exchange, exchange->message.code, "%s", exchange->message.problem);
}

struct mcp_exchange *mcp_take_message(struct mcp_server *server, struct mcp_connection *connection,
                                      struct slice message, const struct mcp_sink *sink,
                                      bool in_batch)
{
    struct mcp_exchange *exchange = exchange_new(server, connection, message, sink);
    if (!exchange) {
        char plain[PLAIN_ERROR_MAX];
        sink->send(sink->self, write_plain_error(plain, (struct json_piece){0}), MCP_INTERNAL_ERROR,
                   true);
        return NULL;
    }
    switch (exchange->message.kind) {
    case MCP_REQUEST:
        take_request(exchange);
        open_exchange(exchange);
        return exchange;
    case MCP_BROKEN:
        take_broken(exchange, in_batch);
        open_exchange(exchange);
        return exchange;
    case MCP_NOTIFICATION:
        take_notification(exchange);
        break;
    case MCP_RESPONSE:
        break;
    }
    mcp_exchange_unref(exchange);
    return NULL;
}

struct mcp_exchange *mcp_take(struct mcp_server *server, struct mcp_connection *connection,
                              const char *message, size_t length, const struct mcp_sink *sink)
{
    return mcp_take_message(server, connection, (struct slice){message, length}, sink, false);
}

const struct mcp_message *mcp_exchange_message(const struct mcp_exchange *exchange)
{
    return &exchange->message;
}

bool mcp_exchange_is_quick(const struct mcp_exchange *exchange)
{
    return exchange->code ||
           (exchange->method != METHOD_TOOLS_CALL && exchange->method != METHOD_LISTEN &&
            exchange->method != METHOD_BATCH);
}

bool mcp_is_modern(const struct mcp_exchange *exchange)
{
    return exchange->revision == MCP_2026_07_28;
}

void mcp_exchange_set_revision(struct mcp_exchange *exchange, enum mcp_revision revision)
{
    if (!mcp_is_modern(exchange) && exchange->method != METHOD_INITIALIZE)
        exchange->revision = revision;
}

/* ---- refusing ---- */

void mcp_refuse(struct mcp_exchange *exchange, int code, const char *format, ...)
{
    char problem[sizeof(exchange->problem)];
    va_list args;
    va_start(args, format);
    vsnprintf(problem, sizeof(problem), format, args);
    va_end(args);
    size_t length = utf8_valid(problem, strlen(problem)); /* it may be cut inside a character */
    memcpy(exchange->problem, problem, length);
    exchange->problem[length] = '\0';
    exchange->code = code;
}

void mcp_exchange_refuse(struct mcp_exchange *exchange, int code, const char *message)
{
    mcp_refuse(exchange, code, "%s", message);
}

void mcp_exchange_fail(struct mcp_exchange *exchange, const char *message)
{
    mcp_refuse(exchange, MCP_INTERNAL_ERROR, "%s", message);
    exchange->fails = exchange->method == METHOD_TOOLS_CALL;
}

/* ---- answering ---- */

static void put_id(struct text *out, struct json_piece id)
{
    text_puts(out, "{\"jsonrpc\":\"2.0\"");
    if (!id.length)
        return;
    text_puts(out, ",\"id\":");
    text_append(out, id.data, id.length);
}

void answer_begin(struct mcp_exchange *exchange, struct text *out)
{
    put_id(out, exchange->message.id);
    text_puts(out, ",\"result\":{");
    if (mcp_is_modern(exchange))
        text_puts(out, "\"resultType\":\"complete\"");
}

void answer_close(struct mcp_exchange *exchange, struct text *out)
{
    if (mcp_is_modern(exchange))
        text_puts(out, ",\"_meta\":{\"" MCP_META
                       "serverInfo\":{\"name\":\"mortise\",\"version\":\"" MORTISE_VERSION "\"}}");
    text_puts(out, "}}");
}

static void put_error_data(struct text *out, const struct mcp_exchange *exchange)
{
    if (exchange->code == MCP_UNSUPPORTED_VERSION) {
        text_puts(out, ",\"data\":{\"supported\":[\"");
        text_puts(out, mcp_revision_name(MCP_2026_07_28));
        text_puts(out, "\"],\"requested\":");
        if (exchange->message.version.length)
            text_append(out, exchange->message.version.data, exchange->message.version.length);
        else
            text_puts(out, "\"\"");
        text_putc(out, '}');
    } else if (exchange->code == MCP_MISSING_CAPABILITY) {
        text_puts(out, ",\"data\":{\"requiredCapabilities\":{");
        text_json_string(out, exchange->capability, strlen(exchange->capability));
        text_puts(out, ":{}}}");
    }
}

void mcp_send_error(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    put_id(&out, exchange->message.id);
    text_puts(&out, ",\"error\":{");
    json_put_integer(&out, "code", exchange->code);
    json_put_string(&out, "message", exchange->problem);
    put_error_data(&out, exchange);
    text_puts(&out, "}}");
    mcp_send(exchange, &out, exchange->code, true);
    text_release(&out);
}

void mcp_send(struct mcp_exchange *exchange, const struct text *message, int code, bool is_last)
{
    struct slice slice = {message->data, message->length};
    char plain[PLAIN_ERROR_MAX];
    if (message->failed && !is_last)
        return;
    if (message->failed) {
        slice = write_plain_error(plain, exchange->message.id);
        code = MCP_INTERNAL_ERROR;
    }
    if (is_last)
        mcp_close(exchange);
    pthread_mutex_lock(&exchange->sending);
    bool is_wanted = !exchange->is_over && !atomic_load(&exchange->is_silent);
    exchange->is_over |= is_last;
    if (is_wanted)
        exchange->sink.send(exchange->sink.self, slice, code, is_last);
    pthread_mutex_unlock(&exchange->sending);
}

void mcp_serve(struct mcp_exchange *exchange)
{
    if (!exchange->code && exchange->method == METHOD_LISTEN && listen_serve(exchange))
        return; /* and whoever ends it lets go of it */
    if (!exchange->code)
        method_serve(exchange);
    else if (exchange->fails)
        tool_call_serve(exchange);
    else
        mcp_send_error(exchange);
    mcp_close(exchange);
    mcp_exchange_unref(exchange);
}

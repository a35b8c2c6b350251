/* listen - subscriptions/listen: who is told of other tools, each tagged with its request's id. */
#include "mcp/server_private.h"

#define LISTENERS_MAX 64

static void put_tag(struct text *out, const struct mcp_exchange *exchange)
{
    text_puts(out, "\"_meta\":{\"" MCP_META "subscriptionId\":");
    text_append(out, exchange->message.id.data, exchange->message.id.length);
}

static bool wants_tools(const struct mcp_exchange *exchange)
{
    struct json_piece filter = json_walk_member(exchange->message.params, "notifications");
    struct json_piece wish = json_walk_member(filter, "toolsListChanged");
    return slice_is((struct slice){wish.data, wish.length}, "true");
}

/* False: there is no memory for it. */
static bool acknowledge(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    text_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                    "\"params\":{");
    put_tag(&out, exchange);
    text_puts(&out, "},\"notifications\":{");
    if (wants_tools(exchange))
        text_puts(&out, "\"toolsListChanged\":true");
    text_puts(&out, "}}}");
    bool written = !out.failed;
    if (written)
        mcp_send(exchange, &out, 0, false);
    text_release(&out);
    return written;
}

void listen_answer(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    text_puts(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    text_append(&out, exchange->message.id.data, exchange->message.id.length);
    text_puts(&out, ",\"result\":{\"resultType\":\"complete\",");
    put_tag(&out, exchange);
    text_puts(&out, ",\"" MCP_META
                    "serverInfo\":{\"name\":\"mortise\",\"version\":\"" MORTISE_VERSION "\"}}}}");
    mcp_send(exchange, &out, 0, true);
    text_release(&out);
}

/* ---- beginning ---- */

/* Counted first, so that the acknowledgement is sent before anybody can tell it more.  It is owed
 * each change from here on. */
static bool reserve(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool has_room = server->listeners < LISTENERS_MAX;
    server->listeners += has_room;
    exchange->told_change = server->change;
    pthread_mutex_unlock(&server->lock);
    if (!has_room)
        mcp_refuse(exchange, MCP_INTERNAL_ERROR, "there are %d subscriptions already",
                   LISTENERS_MAX);
    return has_room;
}

/* From here on it is told and ended by others.  False: it was cancelled by now, or all ends, or it
 * could not be told that it began. */
static bool join(struct mcp_exchange *exchange, bool is_told)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    exchange->listens = is_told && !atomic_load(&exchange->is_silent) && !server->stopped;
    bool listens = exchange->listens;
    server->listeners -= !listens;
    pthread_mutex_unlock(&server->lock);
    return listens;
}

/* ---- telling and ending ---- */

/* A reference on the first that does not know of the latest change; NULL: all do. */
static struct mcp_exchange *next_to_tell(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *e = server->open;
    while (e && (!e->listens || e->told_change == server->change))
        e = e->next;
    if (e) {
        e->told_change = server->change;
        mcp_exchange_ref(e);
    }
    pthread_mutex_unlock(&server->lock);
    return e;
}

/* The same for one that listens at all. */
static struct mcp_exchange *next_to_end(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *e = server->open;
    while (e && !e->listens)
        e = e->next;
    if (e)
        mcp_exchange_ref(e);
    pthread_mutex_unlock(&server->lock);
    return e;
}

/* The first to close it lets go of it. */
static void end(struct mcp_exchange *exchange)
{
    if (!mcp_close(exchange))
        return;
    listen_answer(exchange);
    mcp_exchange_unref(exchange);
}

/* Who cannot be told, for want of memory, listens in vain: better that it asks again. */
static void tell(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    text_puts(&out,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{");
    put_tag(&out, exchange);
    text_puts(&out, "}}}");
    if (out.failed)
        end(exchange);
    else
        mcp_send(exchange, &out, 0, false);
    text_release(&out);
}

static void tell_all(struct mcp_server *server)
{
    struct mcp_exchange *exchange;
    while ((exchange = next_to_tell(server))) {
        if (wants_tools(exchange))
            tell(exchange);
        mcp_exchange_unref(exchange);
    }
}

void listen_tell(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->change++;
    pthread_mutex_unlock(&server->lock);
    tell_all(server);
}

void listen_end(struct mcp_server *server)
{
    struct mcp_exchange *exchange;
    while ((exchange = next_to_end(server))) {
        end(exchange);
        mcp_exchange_unref(exchange);
    }
}

/* ---- the whole ---- */

bool listen_serve(struct mcp_exchange *exchange)
{
    struct json_piece filter = json_walk_member(exchange->message.params, "notifications");
    if (!filter.length || *filter.data != '{') {
        mcp_refuse(exchange, MCP_INVALID_PARAMS,
                   "Invalid params: \"notifications\" must be an object");
        return false;
    }
    if (!reserve(exchange))
        return false;
    struct mcp_server *server = exchange->server;
    bool is_told = acknowledge(exchange);
    if (join(exchange, is_told)) {
        tell_all(server); /* what has changed meanwhile */
        return true;
    }
    if (!is_told)
        mcp_refuse(exchange, MCP_INTERNAL_ERROR, "out of memory");
    return false;
}

/* listen - subscriptions/listen: who is told of other tools, each tagged with its request's id. */
#include <stdlib.h>

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

static void acknowledge(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    text_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                    "\"params\":{");
    put_tag(&out, exchange);
    text_puts(&out, "},\"notifications\":{");
    if (wants_tools(exchange))
        text_puts(&out, "\"toolsListChanged\":true");
    text_puts(&out, "}}}");
    mcp_send(exchange, &out, 0, false);
    text_release(&out);
}

/* ---- beginning ---- */

/* Counted first, so that the acknowledgement is sent before anybody can tell it more. */
static bool reserve(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool has_room = server->listeners < LISTENERS_MAX;
    server->listeners += has_room;
    pthread_mutex_unlock(&server->lock);
    if (!has_room)
        mcp_refuse(exchange, MCP_INTERNAL_ERROR, "there are %d subscriptions already",
                   LISTENERS_MAX);
    return has_room;
}

/* From here on it is told and ended by others.  False: it was cancelled by now, or all ends. */
static bool join(struct mcp_exchange *exchange)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    exchange->listens = !atomic_load(&exchange->is_silent) && !server->stopped;
    bool listens = exchange->listens;
    server->listeners -= !listens;
    pthread_mutex_unlock(&server->lock);
    return listens;
}

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
    acknowledge(exchange);
    return join(exchange);
}

/* ---- telling and ending ---- */

/* References on all of them; their number.  NULL: there are none, or no memory. */
static struct mcp_exchange **all_listeners(struct mcp_server *server, size_t *count)
{
    *count = 0;
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange **list =
        server->listeners ? malloc(server->listeners * sizeof(struct mcp_exchange *)) : NULL;
    for (struct mcp_exchange *e = server->open; e && list; e = e->next)
        if (e->listens)
            list[(*count)++] = mcp_exchange_ref(e);
    pthread_mutex_unlock(&server->lock);
    return list;
}

static void tell(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    text_puts(&out,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{");
    put_tag(&out, exchange);
    text_puts(&out, "}}}");
    mcp_send(exchange, &out, 0, false);
    text_release(&out);
}

void listen_tell(struct mcp_server *server)
{
    size_t count;
    struct mcp_exchange **list = all_listeners(server, &count);
    for (size_t i = 0; i < count; i++) {
        if (wants_tools(list[i]))
            tell(list[i]);
        mcp_exchange_unref(list[i]);
    }
    free(list);
}

/* The first to close it lets go of it. */
static void end(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    if (!mcp_close(exchange))
        return;
    text_puts(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    text_append(&out, exchange->message.id.data, exchange->message.id.length);
    text_puts(&out, ",\"result\":{\"resultType\":\"complete\",");
    put_tag(&out, exchange);
    text_puts(&out, ",\"" MCP_META
                    "serverInfo\":{\"name\":\"mortise\",\"version\":\"" MORTISE_VERSION "\"}}}}");
    mcp_send(exchange, &out, 0, true);
    text_release(&out);
    mcp_exchange_unref(exchange);
}

void listen_end(struct mcp_server *server)
{
    size_t count;
    struct mcp_exchange **list = all_listeners(server, &count);
    for (size_t i = 0; i < count; i++) {
        end(list[i]);
        mcp_exchange_unref(list[i]);
    }
    free(list);
}

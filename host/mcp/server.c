#include <stdlib.h>

#include "base/clock.h"
#include "mcp/server_private.h"

/* ---- the server ---- */

/* What the clients will compare with: the tools as they are now. */
static struct catalogue *look_locked(struct mcp_server *server)
{
    const struct catalogue_filter filter = {server->setting.offered, server->setting.offered_data};
    struct registry *registry = plugin_set_registry(server->setting.plugins);
    struct catalogue *catalogue =
        catalogues_get(&server->catalogues, registry, MCP_2026_07_28, &filter);
    catalogues_forget(&server->catalogues, registry);
    registry_unref(registry);
    return catalogue;
}

struct mcp_server *mcp_server_new(const struct mcp_setting *setting, struct error *error)
{
    struct mcp_server *server = calloc(1, sizeof(*server));
    if (!server) {
        error_memory(error);
        return NULL;
    }
    server->setting = *setting;
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->telling, NULL);
    pthread_mutex_init(&server->asking, NULL);
    server->told = look_locked(server);
    if (server->told)
        return server;
    error_memory(error);
    mcp_server_free(server);
    return NULL;
}

void mcp_server_free(struct mcp_server *server)
{
    if (!server)
        return;
    catalogues_forget(&server->catalogues, NULL);
    catalogue_unref(server->told);
    pthread_mutex_destroy(&server->asking);
    pthread_mutex_destroy(&server->telling);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static void tell_connections_locked(const struct mcp_server *server)
{
    static const char message[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";
    for (struct mcp_connection *c = server->connections; c; c = c->next)
        if (atomic_load(&c->is_initialized))
            c->sink.send(c->sink.self, (struct slice){message, sizeof(message) - 1}, 0, false);
}

/* Without memory to compare with, they are told. */
void mcp_server_reloaded(struct mcp_server *server)
{
    pthread_mutex_lock(&server->telling);
    struct catalogue *before = server->told;
    server->told = look_locked(server);
    bool is_new = !before || !server->told || !catalogue_equal(before, server->told);
    if (is_new)
        tell_connections_locked(server);
    pthread_mutex_unlock(&server->telling);
    catalogue_unref(before);
    if (is_new)
        listen_tell(server);
}

/* ---- calls that shall stop ---- */

enum { TOOL_GRACE_MS = 2000, TEND_MS = 100 };

/* A reference on the first that is to be told; NULL: none is. */
static struct mcp_exchange *next_to_stop(struct mcp_server *server, int64_t now_ms)
{
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *e = server->open;
    while (e && (e->was_told || e->method != METHOD_TOOLS_CALL ||
                 (!server->stopped && (e->deadline_ms < 0 || now_ms < e->deadline_ms))))
        e = e->next;
    if (e) {
        e->was_told = true;
        mcp_exchange_ref(e);
    }
    pthread_mutex_unlock(&server->lock);
    return e;
}

/* The same for one that was told, and whose tool goes on. */
static struct mcp_exchange *next_to_give_up(struct mcp_server *server, int64_t now_ms)
{
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *e = server->open;
    while (e && (!e->call || e->deadline_ms < 0 || now_ms < e->deadline_ms + TOOL_GRACE_MS))
        e = e->next;
    if (e)
        mcp_exchange_ref(e);
    pthread_mutex_unlock(&server->lock);
    return e;
}

int mcp_server_tend(struct mcp_server *server)
{
    int64_t now_ms = clock_ms();
    struct mcp_exchange *exchange;
    while ((exchange = next_to_stop(server, now_ms))) {
        mcp_stop(exchange);
        mcp_exchange_unref(exchange);
    }
    while ((exchange = next_to_give_up(server, now_ms))) {
        tool_call_give_up(exchange);
        mcp_exchange_unref(exchange);
    }
    return server->setting.timeout_ms < 0 ? -1 : TEND_MS;
}

void mcp_server_stop(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stopped = true;
    pthread_mutex_unlock(&server->lock);
    mcp_server_tend(server);
    listen_end(server);
}

/* ---- connections ---- */

struct mcp_connection *mcp_connection_new(struct mcp_server *server, const struct mcp_sink *sink)
{
    struct mcp_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->server = server;
    connection->sink = *sink;
    connection->revision = MCP_2025_11_25;
    atomic_init(&connection->is_initialized, false);
    pthread_mutex_lock(&server->telling);
    connection->next = server->connections;
    if (server->connections)
        server->connections->previous = connection;
    server->connections = connection;
    pthread_mutex_unlock(&server->telling);
    return connection;
}

/* A reference on one of its exchanges, which is not its own any more; NULL: it has none. */
static struct mcp_exchange *take_exchange(struct mcp_connection *connection)
{
    struct mcp_server *server = connection->server;
    pthread_mutex_lock(&server->lock);
    struct mcp_exchange *exchange = server->open;
    while (exchange && exchange->connection != connection)
        exchange = exchange->next;
    if (exchange) {
        exchange->connection = NULL;
        mcp_exchange_ref(exchange);
    }
    pthread_mutex_unlock(&server->lock);
    return exchange;
}

void mcp_connection_free(struct mcp_connection *connection)
{
    if (!connection)
        return;
    struct mcp_server *server = connection->server;
    pthread_mutex_lock(&server->telling);
    *(connection->previous ? &connection->previous->next : &server->connections) = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    pthread_mutex_unlock(&server->telling);
    struct mcp_exchange *exchange;
    while ((exchange = take_exchange(connection))) {
        mcp_exchange_cancel(exchange);
        mcp_exchange_unref(exchange);
    }
    text_release(&connection->capabilities);
    free(connection);
}

#include "base/json_write.h"
#include "mcp/server_private.h"

/* How long a client may keep what it was told.  Tools may change with their files; what the server
 * can do does not. */
#define LIST_TTL_MS     5000
#define DISCOVER_TTL_MS 3600000

/* ---- which ---- */

enum era { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

static const struct {
    const char *name;
    enum mcp_method method;
    enum era era;
} methods[] = {
    {"tools/call", METHOD_TOOLS_CALL, BOTH},
    {"tools/list", METHOD_TOOLS_LIST, BOTH},
    {"initialize", METHOD_INITIALIZE, LEGACY},
    {"ping", METHOD_PING, LEGACY},
    {"server/discover", METHOD_DISCOVER, MODERN},
    {"subscriptions/listen", METHOD_LISTEN, MODERN},
    {"resources/list", METHOD_RESOURCES, BOTH},
    {"resources/templates/list", METHOD_TEMPLATES, BOTH},
    {"prompts/list", METHOD_PROMPTS, BOTH},
};

/* What only the modern era has is known without its mark as well: method_check() tells what is
 * missing. */
enum mcp_method method_find(const struct mcp_message *message)
{
    struct slice name = {message->method.data, message->method.length};
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (slice_is(name, methods[i].name))
            return message->is_modern && methods[i].era == LEGACY ? METHOD_UNKNOWN
                                                                  : methods[i].method;
    return METHOD_UNKNOWN;
}

void method_check(struct mcp_exchange *exchange)
{
    const struct mcp_message *message = &exchange->message;
    bool is_modern_only = exchange->method == METHOD_DISCOVER || exchange->method == METHOD_LISTEN;
    if (exchange->code)
        return;
    if (exchange->method == METHOD_UNKNOWN)
        mcp_refuse(exchange, MCP_METHOD_NOT_FOUND, "Method not found: %.*s",
                   message->method.length < 100 ? (int)message->method.length : 100,
                   message->method.data);
    else if (is_modern_only && !message->is_modern)
        mcp_refuse(exchange, MCP_INVALID_PARAMS,
                   "Invalid params: _meta must have \"" MCP_META "protocolVersion\" and \"" MCP_META
                   "clientCapabilities\"");
}

/* ---- initialize ---- */

/* What is not known is answered with the latest revision that has this method. */
void method_initialize(struct mcp_connection *connection, struct mcp_exchange *exchange)
{
    struct text version = TEXT_INIT;
    struct json_piece capabilities = json_walk_member(exchange->message.params, "capabilities");
    enum mcp_revision revision = MCP_2025_11_25;
    json_piece_text(json_walk_member(exchange->message.params, "protocolVersion"), &version);
    if (!mcp_revision_parse((struct slice){text_cstr(&version), version.length}, &revision) ||
        revision == MCP_2026_07_28)
        revision = MCP_2025_11_25;
    text_release(&version);
    exchange->revision = revision;
    if (!connection)
        return;
    connection->revision = revision;
    text_reset(&connection->capabilities);
    text_append(&connection->capabilities, capabilities.data, capabilities.length);
}

static void write_initialize(const struct mcp_exchange *exchange, struct text *out)
{
    json_put_string(out, "protocolVersion", mcp_revision_name(exchange->revision));
    text_puts(out, ",\"capabilities\":{\"tools\":{\"listChanged\":true}},"
                   "\"serverInfo\":{\"name\":\"mortise\",\"version\":\"" MORTISE_VERSION "\"}");
}

/* ---- what there is ---- */

static void write_cache(const struct mcp_exchange *exchange, struct text *out, int ttl_ms)
{
    if (!mcp_is_modern(exchange))
        return;
    json_put_integer(out, "ttlMs", ttl_ms);
    json_put_string(out, "cacheScope", "private");
}

/* Prompts are declared because prompts/list is answered, with an empty list; clients ask for what
 * else there may be regardless of what was declared. */
static void write_discover(const struct mcp_exchange *exchange, struct text *out)
{
    text_puts(out, ",\"supportedVersions\":[\"");
    text_puts(out, mcp_revision_name(MCP_2026_07_28));
    text_puts(out, "\"],\"capabilities\":{\"tools\":{\"listChanged\":true},\"prompts\":{}}");
    write_cache(exchange, out, DISCOVER_TTL_MS);
}

static void write_empty_list(const struct mcp_exchange *exchange, struct text *out,
                             const char *name)
{
    json_put_key(out, name);
    text_puts(out, "[]");
    write_cache(exchange, out, LIST_TTL_MS);
}

static struct json_piece cursor_of(const struct mcp_exchange *exchange)
{
    struct json_piece cursor = json_walk_member(exchange->message.params, "cursor");
    bool is_null = slice_is((struct slice){cursor.data, cursor.length}, "null");
    return is_null ? (struct json_piece){0} : cursor;
}

static struct catalogue *get_catalogue(struct mcp_server *server, enum mcp_revision revision)
{
    const struct catalogue_filter filter = {server->setting.offered, server->setting.offered_data};
    pthread_mutex_lock(&server->telling);
    struct registry *registry = plugin_set_registry(server->setting.plugins);
    struct catalogue *catalogue = catalogues_get(&server->catalogues, registry, revision, &filter);
    registry_unref(registry);
    pthread_mutex_unlock(&server->telling);
    return catalogue;
}

static void write_tools(struct mcp_exchange *exchange, struct text *out)
{
    struct mcp_server *server = exchange->server;
    struct catalogue *catalogue = get_catalogue(server, exchange->revision);
    if (!catalogue)
        out->failed = true;
    else if (!catalogue_write_page(catalogue, cursor_of(exchange), server->setting.page_size, out))
        mcp_refuse(exchange, MCP_INVALID_PARAMS, "Invalid params: unknown cursor");
    write_cache(exchange, out, LIST_TTL_MS);
    catalogue_unref(catalogue);
}

/* ---- serving ---- */

static void write_result(struct mcp_exchange *exchange, struct text *out)
{
    switch (exchange->method) {
    case METHOD_INITIALIZE:
        write_initialize(exchange, out);
        break;
    case METHOD_DISCOVER:
        write_discover(exchange, out);
        break;
    case METHOD_TOOLS_LIST:
        write_tools(exchange, out);
        break;
    case METHOD_RESOURCES:
        write_empty_list(exchange, out, "resources");
        break;
    case METHOD_TEMPLATES:
        write_empty_list(exchange, out, "resourceTemplates");
        break;
    case METHOD_PROMPTS:
        write_empty_list(exchange, out, "prompts");
        break;
    case METHOD_PING:
    case METHOD_TOOLS_CALL:
    case METHOD_LISTEN:
    case METHOD_BATCH:
    case METHOD_UNKNOWN:
        break;
    }
}

void method_serve(struct mcp_exchange *exchange)
{
    struct text out = TEXT_INIT;
    if (exchange->method == METHOD_TOOLS_CALL) {
        tool_call_serve(exchange);
        return;
    }
    if (exchange->method == METHOD_BATCH) {
        batch_serve(exchange);
        return;
    }
    if (exchange->method == METHOD_LISTEN) {
        listen_answer(exchange);
        return;
    }
    answer_begin(exchange, &out);
    write_result(exchange, &out);
    answer_close(exchange, &out);
    if (exchange->code)
        mcp_send_error(exchange);
    else
        mcp_send(exchange, &out, 0, true);
    text_release(&out);
}

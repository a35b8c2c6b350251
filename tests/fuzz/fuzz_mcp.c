/*
 * What clients send to the MCP server: lines of messages, each taken and served with tools of this
 * process.  The first byte says how clients are told apart: its lowest bit that there is no
 * connection (HTTP), the next that all tools do not fit on a page.
 *
 * Each message is answered at most once, each answer is one valid JSON text in one line, and what
 * was cancelled is not answered.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/tool.h>

#include "base/json_check.h"
#include "base/log.h"
#include "mcp/line.h"
#include "mcp/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct registry *__wrap_plugin_set_registry(struct plugin_set *set);

static struct registry *registry;

struct registry *__wrap_plugin_set_registry(struct plugin_set *set)
{
    (void)set;
    return registry_ref(registry);
}

/* ---- tools ---- */

static mortise_status echo(const mortise_tool *self, mortise_call *call, const void *args)
{
    const mortise_attachment part = {.size = sizeof(part),
                                     .mime_type = "text/plain",
                                     .data = args,
                                     .length = strlen(args),
                                     .uri = "a:b"};
    (void)self;
    call->ops->emit(call, "stdout", args, strlen(args));
    call->ops->progress(call, 1, 2, "half");
    call->ops->attach(call, &part);
    return call->ops->reply(call, MORTISE_JSON_RESULT, args, strlen(args));
}

static mortise_status fails(const mortise_tool *self, mortise_call *call, const void *args)
{
    const mortise_error error = {.size = sizeof(error),
                                 .code = "mcp.capability.sampling",
                                 .message = "no",
                                 .message_length = 2};
    (void)self, (void)args;
    return call->ops->fail(call, &error);
}

#define TOOL(tool_name, ...)                                                                       \
    static const mortise_tool_meta tool_name##_meta = {.size = sizeof(mortise_tool_meta),          \
                                                       .name = #tool_name,                         \
                                                       .input_schema = "{\"type\":\"object\"}",    \
                                                       __VA_ARGS__};                               \
    static const mortise_tool tool_name##_tool = {                                                 \
        .size = sizeof(mortise_tool), .meta = &tool_name##_meta, .run = tool_name}
TOOL(echo, .output_schema = "{\"type\":\"object\",\"required\":[\"a\"]}");
TOOL(fails, .title = "F", .flags = MORTISE_READ_ONLY);

static void make_registry(void)
{
    static const mortise_tool *const tools[] = {&echo_tool, &fails_tool};
    static mortise_plugin face = {
        .size = sizeof(face), .name = "fuzz", .tools = tools, .tool_count = 2};
    struct error error;
    registry = registry_new();
    struct plugin *plugin = registry ? plugin_new("/fuzz.so", &face, NULL) : NULL;
    if (!plugin || !registry_add(registry, plugin, &error))
        abort();
}

/* ---- the client ---- */

struct client {
    struct mcp_server *server;
    struct mcp_connection *connection;
    unsigned answers; /* of the message that is served */
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void take(void *self, struct slice message, int code, bool is_last)
{
    struct client *client = self;
    (void)code;
    check(json_is_valid(message.data, message.length));
    check(!memchr(message.data, '\n', message.length));
    check(client->answers == 0 || !is_last);
    client->answers += is_last;
}

static void say(struct client *client, struct slice line)
{
    const struct mcp_sink sink = {take, client};
    client->answers = 0;
    struct mcp_exchange *exchange =
        mcp_take(client->server, client->connection, line.data, line.length, &sink);
    if (!exchange) {
        check(client->answers == 0);
        return;
    }
    mcp_exchange_ref(exchange);
    mcp_exchange_is_quick(exchange);
    mcp_serve(exchange);
    if (!client->connection) { /* a subscription ends with its stream */
        mcp_exchange_cancel(exchange);
        client->answers = 1;
    }
    mcp_exchange_unref(exchange);
}

static void say_all(struct client *client, const uint8_t *data, size_t size)
{
    struct line_reader reader = LINE_READER(4096);
    struct slice line;
    enum line_kind kind;
    reader.data = malloc(size + 1);
    check(reader.data);
    memcpy(reader.data, data, size);
    reader.end = size;
    reader.capacity = size + 1;
    while ((kind = line_last(&reader, &line)) != LINE_NONE)
        if (kind == LINE_WHOLE)
            say(client, line);
    line_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct call_context context;
    if (!registry) {
        log_set_level(LOG_ERROR);
        make_registry();
    }
    if (!size)
        return 0;
    struct client client = {0};
    struct error error;
    const struct mcp_setting setting = {
        .context = &context, .timeout_ms = -1, .page_size = *data & 2 ? 1 : 0};
    const struct mcp_sink sink = {take, &client};
    client.server = mcp_server_new(&setting, &error);
    client.connection = *data & 1 ? NULL : mcp_connection_new(client.server, &sink);
    say_all(&client, data + 1, size - 1);
    client.answers = 0;
    mcp_connection_free(client.connection);
    mcp_server_stop(client.server);
    mcp_server_free(client.server);
    return 0;
}

/* Tools of MCP servers: each is a tool of the host's, called SERVER__TOOL. */
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buffer.h"
#include "config.h"
#include "pause.h"
#include "session.h"
#include "tools.h"

/* One load of the plugin. */
struct bridge {
    const mortise_host *host;
    struct limits limits;
    bool is_lazy, has_status_tool;
    struct server_list servers;
    struct session **sessions; /* of each server */
    size_t session_count;
    struct names names;  /* of its tools */
    size_t *first_names; /* of each server, in `names`, and behind the last */
};

/* ---- settings ---- */

static bool read_number(const mortise_host *host, const char *key, int64_t low, int64_t high,
                        int64_t *out)
{
    int64_t number = *out;
    mortise_status status = mortise_config_integer(host, key, &number);
    if (status == MORTISE_INVALID || number < low || number > high) {
        mortise_refuse(host, "\"%s\" must be a whole number from %" PRId64 " to %" PRId64, key, low,
                       high);
        return false;
    }
    *out = number;
    return true;
}

static bool read_settings(struct bridge *bridge)
{
    const int64_t day_ms = INT64_C(86400000);
    const mortise_host *host = bridge->host;
    struct limits *limits = &bridge->limits;
    int64_t message_bytes = 10 << 20;
    *limits = (struct limits){.connect_ms = 30000,
                              .timeout_ms = 60000,
                              .max_ms = 0,
                              .probe_ms = 3000,
                              .close_ms = 2000,
                              .backoff_ms = 500,
                              .debounce_ms = 500};
    bridge->is_lazy = true;
    if (mortise_config_boolean(host, "lazy", &bridge->is_lazy) == MORTISE_INVALID ||
        mortise_config_boolean(host, "status_tool", &bridge->has_status_tool) == MORTISE_INVALID) {
        mortise_refuse(host, "\"lazy\" and \"status_tool\" must be true or false");
        return false;
    }
    if (!read_number(host, "connect_ms", 1, day_ms, &limits->connect_ms) ||
        !read_number(host, "timeout_ms", 1, day_ms, &limits->timeout_ms) ||
        !read_number(host, "max_ms", 0, day_ms, &limits->max_ms) ||
        !read_number(host, "probe_ms", 1, day_ms, &limits->probe_ms) ||
        !read_number(host, "close_ms", 1, 2000, &limits->close_ms) ||
        !read_number(host, "backoff_ms", 1, 30000, &limits->backoff_ms) ||
        !read_number(host, "debounce_ms", 1, 60000, &limits->debounce_ms) ||
        !read_number(host, "message_bytes", 1024, 1 << 30, &message_bytes))
        return false;
    limits->message_bytes = (size_t)message_bytes;
    if (limits->max_ms < limits->timeout_ms)
        limits->max_ms = limits->timeout_ms;
    return true;
}

/* ---- opening and closing ---- */

static void bridge_close(void *state)
{
    struct bridge *bridge = state;
    sessions_give(bridge->sessions, bridge->session_count, bridge->host);
    free(bridge->sessions);
    free(bridge->first_names);
    names_release(&bridge->names);
    config_release(&bridge->servers);
    free(bridge);
}

static bool is_among(const char *name, char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* "servers": those that are used; without it all are.  False: it was refused. */
static bool choose_servers(struct bridge *bridge)
{
    char **names;
    struct server_list *list = &bridge->servers;
    size_t kept = 0;
    mortise_status status = mortise_config_strings(bridge->host, "servers", &names);
    if (status == MORTISE_NOT_FOUND)
        return true;
    if (status != MORTISE_OK) {
        mortise_refuse(bridge->host, status == MORTISE_NO_MEMORY
                                         ? "out of memory"
                                         : "\"servers\" must be a list of names");
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (is_among(list->servers[i]->name, names))
            list->servers[kept++] = list->servers[i];
        else
            config_unref(list->servers[i]);
    }
    list->count = kept;
    free(names);
    return true;
}

static void report_line(void *self, uint32_t level, const char *text)
{
    const struct bridge *bridge = self;
    mortise_log(bridge->host, level, "%s", text);
}

static bool is_expired(const struct listing *listing)
{
    return listing->expires_ms && listing->expires_ms <= (int64_t)time(NULL) * 1000;
}

static bool take_sessions(struct bridge *bridge)
{
    size_t count = bridge->servers.count;
    bridge->sessions = calloc(count + 1, sizeof(*bridge->sessions));
    bridge->first_names = calloc(count + 1, sizeof(*bridge->first_names));
    if (!bridge->sessions || !bridge->first_names)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct session *session = session_take(bridge->servers.servers[i], bridge->host);
        if (!session)
            return false;
        bridge->sessions[bridge->session_count++] = session;
    }
    return true;
}

/* Servers whose tools are not known are started, all at the same time, and waited for; those whose
 * tools may be others by now are started. */
static void start(struct bridge *bridge)
{
    int64_t began_ms = pause_now_ms();
    for (size_t i = 0; i < bridge->session_count; i++) {
        struct listing *listing = session_peek(bridge->sessions[i]);
        if (!listing || !bridge->is_lazy || is_expired(listing))
            session_start(bridge->sessions[i]);
        listing_unref(listing);
    }
    for (size_t i = 0; i < bridge->session_count; i++) {
        struct listing *listing = session_peek(bridge->sessions[i]);
        if (!listing)
            session_wait(bridge->sessions[i], began_ms, NULL);
        listing_unref(listing);
    }
}

static void *bridge_open(const mortise_host *host)
{
    struct bridge *bridge = calloc(1, sizeof(*bridge));
    if (!bridge)
        return mortise_refuse(host, "out of memory");
    bridge->host = host;
    const struct config_report report = {report_line, bridge};
    if (!read_settings(bridge)) {
        bridge_close(bridge);
        return NULL;
    }
    bool is_read = config_read_all(&bridge->servers, &bridge->limits, &report);
    if (is_read && !choose_servers(bridge)) {
        bridge_close(bridge);
        return NULL;
    }
    if (!is_read || !take_sessions(bridge)) {
        bridge_close(bridge);
        return mortise_refuse(host, "out of memory");
    }
    start(bridge);
    return bridge;
}

/* ---- the tool that tells of the servers ---- */

static void describe(const struct bridge *bridge, size_t index, struct buffer *out)
{
    buffer_puts(out, index ? ",{" : "{");
    session_describe(bridge->sessions[index], out);
    buffer_puts(out, ",\"tools\":[");
    for (size_t i = bridge->first_names[index]; i < bridge->first_names[index + 1]; i++)
        buffer_printf(out, "%s\"%s\"", i > bridge->first_names[index] ? "," : "",
                      bridge->names.items[i].name);
    buffer_puts(out, "]}");
}

static void wake(void *data)
{
    const struct bridge *bridge = data;
    for (size_t i = 0; i < bridge->session_count; i++)
        session_wake(bridge->sessions[i]);
}

static void start_all(struct bridge *bridge, mortise_call *call)
{
    int64_t began_ms = pause_now_ms();
    mortise_on_cancel(call, wake, bridge);
    for (size_t i = 0; i < bridge->session_count; i++)
        session_start(bridge->sessions[i]);
    for (size_t i = 0; i < bridge->session_count; i++)
        session_wait(bridge->sessions[i], began_ms, call);
}

static mortise_status tell_servers(mortise_call *call, const char *json, void *data)
{
    struct bridge *bridge = data;
    struct buffer text = BUFFER_INIT;
    bool is_check = false;
    mortise_json_boolean(json, "check", &is_check);
    if (is_check)
        start_all(bridge, call);
    if (mortise_cancelled(call))
        return MORTISE_CANCELLED;
    buffer_puts(&text, "{\"servers\":[");
    for (size_t i = 0; i < bridge->session_count; i++)
        describe(bridge, i, &text);
    buffer_puts(&text, "]}");
    mortise_status status =
        text.failed ? MORTISE_NO_MEMORY
                    : call->ops->reply(call, MORTISE_JSON_RESULT, text.text, text.length);
    buffer_release(&text);
    return status;
}

static void add_tools(void *state, mortise_tool_list *list)
{
    struct bridge *bridge = state;
    for (size_t i = 0; i < bridge->session_count; i++) {
        tools_add(list, &bridge->names, bridge->sessions[i], bridge->servers.servers[i],
                  bridge->host);
        bridge->first_names[i + 1] = bridge->names.count;
    }
    if (bridge->has_status_tool)
        mortise_add_tool(
            list, &(mortise_new_tool){
                      .name = "mcp_servers",
                      .description =
                          "Tells which MCP servers are configured, how they are, and what tools "
                          "they have.",
                      .flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
                      .input_schema =
                          "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
                          "{\"check\":{\"type\":\"boolean\",\"description\":"
                          "\"Start those that do not run, and wait for them.\"}}}",
                      .run = tell_servers,
                      .data = bridge,
                  });
}

MORTISE_PLUGIN(.name = "mcp_bridge", .version = "1.0.0", .open = bridge_open, .add = add_tools,
               .close = bridge_close);

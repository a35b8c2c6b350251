#include "rpc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>
#include <mortise/tool.h>

enum { ID_MAX = 1024 };

/* It goes back as it came: one that is no id, or a heap of bytes, is none. */
static bool is_id(const char *value)
{
    bool is_kind = *value == '"' || *value == '-' || (*value >= '0' && *value <= '9');
    return is_kind && mortise_json_length(value) <= ID_MAX;
}

void rpc_read(struct rpc *rpc, const char *json)
{
    const char *value = NULL;
    char name[16];
    *rpc = (struct rpc){0};
    while (mortise_json_next_member(json, &value, name, sizeof(name)) == MORTISE_OK) {
        bool is_null = strncmp(value, "null", 4) == 0;
        if (strcmp(name, "id") == 0)
            rpc->id = is_id(value) ? value : NULL;
        else if (strcmp(name, "params") == 0)
            rpc->params = *value == '{' ? value : NULL;
        else if (strcmp(name, "result") == 0)
            rpc->result = value;
        else if (strcmp(name, "error") == 0)
            rpc->error = is_null ? NULL : value;
        else if (strcmp(name, "method") == 0)
            rpc->has_method =
                mortise_json_string(value, NULL, rpc->method, sizeof(rpc->method)) == MORTISE_OK;
    }
    rpc->has_number = rpc->id && *rpc->id != '"' &&
                      mortise_json_integer(rpc->id, NULL, &rpc->number) == MORTISE_OK;
}

bool rpc_is_legacy(const char *version)
{
    static const char *const versions[] = {RPC_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
        if (strcmp(version, versions[i]) == 0)
            return true;
    return false;
}

static void write_meta(struct buffer *out, const struct rpc_request *request)
{
    const char *comma = "";
    buffer_puts(out, "\"_meta\":{");
    if (request->is_modern) {
        buffer_puts(out, "\"io.modelcontextprotocol/protocolVersion\":\"" RPC_MODERN "\","
                         "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"mortise\","
                         "\"version\":\"" RPC_CLIENT_VERSION "\"},"
                         "\"io.modelcontextprotocol/clientCapabilities\":{}");
        comma = ",";
    }
    if (request->has_token)
        buffer_printf(out, "%s\"progressToken\":%" PRId64, comma, request->id);
    buffer_puts(out, "}");
}

void rpc_write(struct buffer *out, const struct rpc_request *request)
{
    bool has_meta = request->is_modern || request->has_token;
    buffer_puts(out, "{\"jsonrpc\":\"2.0\"");
    if (request->id)
        buffer_printf(out, ",\"id\":%" PRId64, request->id);
    buffer_printf(out, ",\"method\":\"%s\"", request->method);
    if (has_meta || *request->members) {
        buffer_puts(out, ",\"params\":{");
        buffer_json(out, request->members, strlen(request->members));
        if (has_meta && *request->members)
            buffer_puts(out, ",");
        if (has_meta)
            write_meta(out, request);
        buffer_puts(out, "}");
    }
    buffer_puts(out, "}");
}

void rpc_answer(struct buffer *out, const struct rpc *request)
{
    buffer_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buffer_json(out, request->id, mortise_json_length(request->id));
    if (strcmp(request->method, "ping") == 0)
        buffer_puts(out, ",\"result\":{}}");
    else
        buffer_puts(out, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
}

void rpc_describe_error(const char *error, char *out, size_t size)
{
    int64_t code = 0;
    char *message = NULL;
    mortise_json_integer(error, "code", &code);
    mortise_json_copy(error, "message", &message);
    int length = snprintf(out, size, "error %" PRId64 "%s%s", code, message ? ": " : "",
                          message ? message : "");
    if (length > 0 && (size_t)length >= size)
        out[mortise_cut(out, size - 1)] = '\0';
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    free(message);
}

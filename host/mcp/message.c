#include "mcp/message.h"

#include <string.h>

#include "base/json_check.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* ---- revisions ---- */

static const char *const revisions[MCP_REVISION_COUNT] = {
    [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
    [MCP_2026_07_28] = "2026-07-28",
};

const char *mcp_revision_name(enum mcp_revision revision)
{
    return revisions[revision];
}

bool mcp_revision_parse(struct slice name, enum mcp_revision *revision)
{
    for (size_t i = 0; i < MCP_REVISION_COUNT; i++)
        if (slice_is(name, revisions[i])) {
            *revision = (enum mcp_revision)i;
            return true;
        }
    return false;
}

/* ---- pieces ---- */

static bool is_number(struct json_piece piece)
{
    return piece.length && (*piece.data == '-' || (*piece.data >= '0' && *piece.data <= '9'));
}

/* A fractional number is none that the protocol allows, but one that can be echoed. */
static bool is_id(struct json_piece piece)
{
    return json_piece_is_string(piece) || is_number(piece);
}

static bool is_integer(struct json_piece piece)
{
    return is_number(piece) && !memchr(piece.data, '.', piece.length) &&
           !memchr(piece.data, 'e', piece.length) && !memchr(piece.data, 'E', piece.length);
}

static bool is_object(struct json_piece piece)
{
    return piece.length && *piece.data == '{';
}

static bool is_word(struct json_piece piece, const char *word)
{
    return slice_is((struct slice){piece.data, piece.length}, word);
}

/* ---- reading ---- */

struct members {
    struct json_piece version, id, method, params, result, error;
};

/* Of members with one name the last one counts. */
static bool look(struct json_piece whole, struct members *members)
{
    struct {
        const char *name;
        struct json_piece *piece;
    } known[] = {
        {"jsonrpc", &members->version}, {"id", &members->id},         {"method", &members->method},
        {"params", &members->params},   {"result", &members->result}, {"error", &members->error},
    };
    struct json_walk walk;
    struct json_piece key, value;
    if (!json_walk_into(&walk, whole, '{'))
        return false;
    while (json_walk_next(&walk, &key, &value))
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
            if (json_piece_is(key, known[i].name))
                *known[i].piece = value;
    return true;
}

static void look_at_meta(struct mcp_message *message)
{
    struct json_walk walk;
    struct json_piece key, value;
    if (!json_walk_into(&walk, json_walk_member(message->params, "_meta"), '{'))
        return;
    while (json_walk_next(&walk, &key, &value)) {
        if (json_piece_is(key, META_VERSION)) {
            message->is_modern = true;
            message->version = value;
        } else if (json_piece_is(key, META_CAPABILITIES)) {
            message->capabilities = value;
        } else if (json_piece_is(key, "progressToken")) {
            bool is_token = json_piece_is_string(value) || is_integer(value);
            message->progress_token = is_token ? value : (struct json_piece){0};
        }
    }
}

static void is_broken(struct mcp_message *message, int code, const char *problem)
{
    message->kind = MCP_BROKEN;
    message->code = code;
    message->problem = problem;
}

static void take_kind(struct mcp_message *message, const struct members *members)
{
    bool has_method = json_piece_is_string(members->method);
    if (!is_word(members->version, "\"2.0\"")) {
        is_broken(message, MCP_INVALID_REQUEST, "Invalid request: \"jsonrpc\" must be \"2.0\"");
    } else if (members->id.length && !is_id(members->id)) {
        is_broken(message, MCP_INVALID_REQUEST,
                  "Invalid request: the id must be a string or a number");
    } else if (!members->method.length && (members->result.length || members->error.length)) {
        message->kind = MCP_RESPONSE;
    } else if (!has_method) {
        is_broken(message, MCP_INVALID_REQUEST, "Invalid request: \"method\" must be a string");
    } else {
        message->kind = members->id.length ? MCP_REQUEST : MCP_NOTIFICATION;
        message->method = (struct json_piece){members->method.data + 1, members->method.length - 2};
    }
}

static void take_params(struct mcp_message *message, struct json_piece params)
{
    if (is_object(params)) {
        message->params = params;
        look_at_meta(message);
    } else if (message->kind == MCP_REQUEST && params.length && !is_word(params, "null")) {
        is_broken(message, MCP_INVALID_PARAMS, "Invalid params: they must be an object");
    }
}

/* Without the space around it. */
static struct json_piece trim(const char *data, size_t length)
{
    while (length && memchr(" \t\r\n", data[length - 1], 4))
        length--;
    while (length && memchr(" \t\r\n", *data, 4)) {
        data++;
        length--;
    }
    return (struct json_piece){data, length};
}

void mcp_message_read(struct mcp_message *message, const char *data, size_t length)
{
    struct json_piece whole = trim(data, length);
    struct members members = {0};
    *message = (struct mcp_message){0};
    if (!json_is_valid(whole.data, whole.length)) {
        is_broken(message, MCP_PARSE_ERROR, "Parse error: this is no valid JSON");
    } else if (!look(whole, &members)) {
        is_broken(message, MCP_INVALID_REQUEST, "Invalid request: a message must be an object");
        if (*whole.data == '[')
            message->batch = whole;
    } else {
        if (is_id(members.id))
            message->id = members.id;
        take_kind(message, &members);
        if (message->kind == MCP_REQUEST || message->kind == MCP_NOTIFICATION)
            take_params(message, members.params);
    }
}

/*
 * message - one JSON-RPC message of a client, read without building its values.
 *
 * ERAS.  A request whose params have "_meta" with the key io.modelcontextprotocol/protocolVersion
 * is of the modern era (2026-07-28): it stands for itself.  Every other one is of the legacy era,
 * which begins with `initialize`.  The mere presence of "_meta" tells nothing: Codex sends legacy
 * requests with a progress token in it.
 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include <stdbool.h>

#include "base/json_walk.h"

enum mcp_kind {
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_RESPONSE, /* to a request, and none is ever sent */
    MCP_BROKEN    /* `code` and `problem` say why */
};

/* Of JSON-RPC and of the protocol. */
enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_HEADER_MISMATCH = -32020,
    MCP_MISSING_CAPABILITY = -32021,
    MCP_UNSUPPORTED_VERSION = -32022
};

/* The revisions of the protocol that are served.  All but the last are of the legacy era. */
enum mcp_revision {
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28,
    MCP_REVISION_COUNT
};
const char *mcp_revision_name(enum mcp_revision revision); /* "2025-11-25" */
/* False: there is no such revision. */
bool mcp_revision_parse(struct slice name, enum mcp_revision *revision);

/* Pieces are borrowed from the text that was read, and empty where there is nothing. */
struct mcp_message {
    enum mcp_kind kind;
    struct json_piece id;     /* as it was written: it is answered to the byte */
    struct json_piece method; /* without its quotes; what has escapes in it is no method of ours */
    struct json_piece params; /* an object; empty also when they are null */
    bool is_modern;
    struct json_piece version;        /* the string with its quotes; modern */
    struct json_piece capabilities;   /* of the client; modern */
    struct json_piece progress_token; /* a string or an integer */
    struct json_piece batch;          /* MCP_BROKEN: it is a list, which one revision knows */
    int code;                         /* MCP_BROKEN */
    const char *problem;              /* MCP_BROKEN: static */
};

/* Never fails: what cannot be read is MCP_BROKEN, with its id when that can be told. */
void mcp_message_read(struct mcp_message *message, const char *data, size_t length);

#endif

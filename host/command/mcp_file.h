/*
 * mcp_file - the user's MCP servers: $XDG_CONFIG_HOME/mortise/mcp.json, in the form that MCP clients
 * share.
 *
 *     {"mcpServers": {"files": {"command": "npx", "args": ["-y", "…"]}}}
 *
 * The plugin mcp_bridge reads it; `mortise mcp` changes it.  What it has beside the entry in question
 * stays.  It is replaced whole, by one writer at a time, and never when it could not be read.
 */
#ifndef COMMAND_MCP_FILE_H
#define COMMAND_MCP_FILE_H

#include <stdbool.h>

#include <jansson.h>

#include "base/error.h"

struct mcp_file {
    char *path;      /* as it is called */
    char *real;      /* what it is: where links lead */
    int lock;        /* -1: it is only read */
    json_t *root;    /* an object */
    json_t *servers; /* in it: an object */
};

/* A file that is not there is empty.  False with *error, kind config.  Closed in any case. */
bool mcp_file_open(struct mcp_file *file, bool to_change, struct error *error);
bool mcp_file_save(const struct mcp_file *file, struct error *error);
void mcp_file_close(struct mcp_file *file);

/* The document of such a file, also of another program, and in it the member that has the servers:
 * "mcpServers" or "servers".  NULL with *error, kind config. */
json_t *mcp_file_read(const char *path, json_t **servers, struct error *error);

/* Where the bridge is told to look elsewhere, that is worth a warning. */
void mcp_file_warn_unused(const struct mcp_file *file);

#endif

/* mcp - the verbs of `mortise mcp`, one file each. */
#ifndef COMMAND_MCP_H
#define COMMAND_MCP_H

#include "command/app.h"

/* Operands are those behind the verb.  Returns the exit code. */
int mcp_serve_command(struct app *app, int count, char **operands);
int mcp_add_command(struct app *app, int count, char **operands);
int mcp_remove_command(struct app *app, int count, char **operands);
int mcp_list_command(struct app *app, int count, char **operands);
int mcp_check_command(struct app *app, int count, char **operands);

/* `mcp add --from FILE`: all of its servers, or those that are named. */
int mcp_import(struct app *app, const char *path, int count, char **names);

/* "no server 'x'; did you mean 'y'?", or the hint. */
bool mcp_unknown_server(const json_t *servers, const char *name, const char *hint,
                        struct error *error);
#define MCP_LIST_HINT "`mortise mcp list` has them all"

#endif

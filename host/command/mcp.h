/* mcp - the verbs of `mortise mcp`, one file each. */
#ifndef COMMAND_MCP_H
#define COMMAND_MCP_H

#include "command/app.h"

/* Operands are those behind the verb.  Returns the exit code. */
int mcp_serve_command(struct app *app, int count, char **operands);

#endif

/* mcp_listen - `mcp serve --http`: its settings, its token, and its end. */
#ifndef COMMAND_MCP_LISTEN_H
#define COMMAND_MCP_LISTEN_H

#include "base/text.h"
#include "command/app.h"
#include "mcp/http.h"

struct mcp_listen {
    struct text token; /* empty: none */
    struct mcp_http *http;
};

/* Reads the token and takes it out of the environment: before plugins are loaded, and before there
 * are threads.  Without --http nothing. */
bool mcp_listen_prepare(struct mcp_listen *listen, struct app *app, struct error *error);
/* Begins to listen, and says where. */
bool mcp_listen_start(struct mcp_listen *listen, struct app *app, struct mcp_server *server,
                      struct error *error);
/* Ends it, and the server with it (NULL: there is none).  False: calls go on, with all that they
 * use. */
bool mcp_listen_end(struct mcp_listen *listen, struct mcp_server *server);
void mcp_listen_release(struct mcp_listen *listen);

#endif

/*
 * http - the server's tools over Streamable HTTP.
 *
 *     struct mcp_http *http = mcp_http_start(&setting, &error);
 *     log_note("listening on %s", mcp_http_url(http));
 *     …
 *     mcp_http_close(http, 500);     // nobody new; calls have half a second more
 *     mcp_server_stop(server);       // the others get their last message
 *     mcp_http_free(http, 500);      // that is sent
 *
 * THREADS.  One thread moves all bytes and serves what takes no time (http_connection.c); calls
 * run on threads of a pool and hand it what they say through a queue (http_exchange.c).  These
 * functions are for one thread, which is neither of them.
 */
#ifndef MCP_HTTP_H
#define MCP_HTTP_H

#include "mcp/server.h"

struct mcp_http_setting {
    struct mcp_server *server; /* outlives it */
    /* PORT, HOST:PORT or [HOST]:PORT, with the number of a host or "localhost"; without a host it
     * is 127.0.0.1, and port 0 is any that is free. */
    const char *address;
    const char *token; /* what each request must bring, or NULL; borrowed */
    bool is_public;    /* an address that other machines reach is allowed, with a token */
    size_t body_max;
    /* How long a client may take to send a request, or to accept what it gets. */
    int64_t patience_ms;
    unsigned thread_max; /* calls at once */
};

/* Listens, and serves from now on.  NULL with *error (kind config or network). */
struct mcp_http *mcp_http_start(const struct mcp_http_setting *setting, struct error *error);
/* "http://127.0.0.1:PORT/mcp", with the real port. */
const char *mcp_http_url(const struct mcp_http *http);
/* Ends listening, and waits for the calls that run, up to grace_ms. */
void mcp_http_close(struct mcp_http *http, int grace_ms);
/* Sends what there is to send and ends all connections and threads, each within grace_ms.  How many
 * calls still run: they are left behind with what they use, and the server must stay too.  NULL is
 * fine. */
unsigned mcp_http_free(struct mcp_http *http, int grace_ms);

#endif

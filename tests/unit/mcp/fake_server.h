/*
 * fake_server - the server's core with tools of the test process, and all that it sends.
 *
 * Linked with --wrap=plugin_set_registry.
 */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include "../tool/fake.h"
#include "mcp/server.h"

struct fake_server {
    struct mcp_server *server;
    struct mcp_connection *connection;
    struct call_context context;
    struct text sent; /* each message in a line */
    unsigned last;    /* those that were the last of their exchange */
};

/* What the server has from now on. */
void fake_load(struct registry *registry);
void fake_begin(struct fake_server *fake, size_t page_size);
void fake_end(struct fake_server *fake);
/* Takes a message of the connection and serves it; what was sent for it, until the next one. */
const char *fake_say(struct fake_server *fake, const char *message);

#endif

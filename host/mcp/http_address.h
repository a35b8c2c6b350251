/* http_address - where to listen, as it is written on a command line. */
#ifndef MCP_HTTP_ADDRESS_H
#define MCP_HTTP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

struct http_address {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } socket;
    socklen_t length;
    bool is_loopback;                /* only this machine gets there */
    char host[INET6_ADDRSTRLEN + 2]; /* as in a URL */
};

/* PORT, HOST:PORT or [HOST]:PORT.  False with *error, kind config. */
bool http_address_read(struct http_address *address, const char *text, struct error *error);

#endif

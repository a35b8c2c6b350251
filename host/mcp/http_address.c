#include "mcp/http_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_port(const char *text, in_port_t *port)
{
    size_t length = strlen(text);
    if (!length || length > 5 || strspn(text, "0123456789") != length)
        return false;
    unsigned long number = strtoul(text, NULL, 10);
    *port = htons((in_port_t)number);
    return number <= UINT16_MAX;
}

static bool set_four(struct http_address *address, const char *host, in_port_t port)
{
    struct sockaddr_in *four = &address->socket.four;
    four->sin_family = AF_INET;
    four->sin_port = port;
    if (inet_pton(AF_INET, host, &four->sin_addr) != 1)
        return false;
    address->length = sizeof(*four);
    address->is_loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
    snprintf(address->host, sizeof(address->host), "%s", host);
    return true;
}

static bool set_six(struct http_address *address, const char *host, in_port_t port)
{
    struct sockaddr_in6 *six = &address->socket.six;
    char written[INET6_ADDRSTRLEN];
    six->sin6_family = AF_INET6;
    six->sin6_port = port;
    if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1 ||
        !inet_ntop(AF_INET6, &six->sin6_addr, written, sizeof(written)))
        return false;
    address->length = sizeof(*six);
    address->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    snprintf(address->host, sizeof(address->host), "[%s]", written);
    return true;
}

/* `host` without its brackets: a name would stand for whatever a name server says. */
static bool set_host(struct http_address *address, const char *host, bool has_brackets,
                     in_port_t port)
{
    if (has_brackets)
        return set_six(address, host, port);
    return set_four(address, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port);
}

bool http_address_read(struct http_address *address, const char *text, struct error *error)
{
    *address = (struct http_address){0};
    const char *colon = strrchr(text, ':');
    bool has_brackets = *text == '[' && colon && colon > text && colon[-1] == ']';
    const char *host = colon ? text + has_brackets : "127.0.0.1";
    size_t length = colon ? (size_t)(colon - host) - has_brackets : strlen(host);
    char copy[INET6_ADDRSTRLEN];
    in_port_t port;
    if (length < sizeof(copy)) {
        memcpy(copy, host, length);
        copy[length] = '\0';
        if (read_port(colon ? colon + 1 : text, &port) &&
            set_host(address, copy, has_brackets, port))
            return true;
    }
    return error_set(error, ERROR_CONFIG,
                     "'%s' is no address to listen on; write PORT, 127.0.0.1:PORT or [::1]:PORT",
                     text);
}

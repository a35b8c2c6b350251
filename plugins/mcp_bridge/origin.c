#include "origin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Scheme and authority of a URL; all of length 0 when it has none. */
struct origin {
    const char *scheme, *host, *port, *end; /* `end` is where the path begins */
    size_t scheme_length, host_length, port_length;
};

static struct origin read_origin(const char *url)
{
    struct origin origin = {.end = url};
    const char *colon = strstr(url, "://");
    if (!colon)
        return origin;
    origin.scheme = url;
    origin.scheme_length = (size_t)(colon - url);
    const char *host = colon + 3;
    const char *end = host + strcspn(host, "/?#\\");
    for (const char *at = host; at < end; at++)
        if (*at == '@')
            host = at + 1;
    const char *port = NULL;
    for (const char *at = end; at > host && !port && at[-1] != ']'; at--)
        if (at[-1] == ':')
            port = at;
    origin.host = host;
    origin.host_length = (size_t)((port ? port - 1 : end) - host);
    origin.port = port ? port : "";
    origin.port_length = port ? (size_t)(end - port) : 0;
    origin.end = end;
    return origin;
}

void origin_host(const char *url, char *out, size_t size)
{
    struct origin origin = read_origin(url);
    int length = (int)(origin.host_length < 256 ? origin.host_length : 256);
    snprintf(out, size, "%.*s%s%.*s", length, origin.host ? origin.host : "",
             origin.port_length ? ":" : "", (int)(origin.port_length < 8 ? origin.port_length : 8),
             origin.port ? origin.port : "");
}

static bool is_text(const char *text, size_t length, const char *expected)
{
    return length == strlen(expected) && strncasecmp(text, expected, length) == 0;
}

bool origin_is_https(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

static bool is_address_127(const char *host, size_t length)
{
    size_t dots = 0;
    for (size_t i = 0; i < length; i++)
        if (host[i] == '.')
            dots++;
        else if (host[i] < '0' || host[i] > '9')
            return false;
    return dots == 3 && strncmp(host, "127.", 4) == 0;
}

bool origin_is_loopback(const char *url)
{
    static const char local[] = ".localhost";
    struct origin origin = read_origin(url);
    const char *host = origin.host;
    size_t length = origin.host_length, tail = sizeof(local) - 1;
    if (!host)
        return false;
    return is_text(host, length, "localhost") || is_text(host, length, "[::1]") ||
           (length > tail && is_text(host + length - tail, tail, local)) ||
           is_address_127(host, length);
}

static bool is_same_port(const struct origin *a, const struct origin *b)
{
    const char *usual = is_text(a->scheme, a->scheme_length, "https") ? "443" : "80";
    const char *first = a->port_length ? a->port : usual;
    const char *second = b->port_length ? b->port : usual;
    size_t first_length = a->port_length ? a->port_length : strlen(usual);
    size_t second_length = b->port_length ? b->port_length : strlen(usual);
    return first_length == second_length && strncmp(first, second, first_length) == 0;
}

bool origin_is_same(const char *a, const char *b)
{
    struct origin first = read_origin(a), second = read_origin(b);
    return first.scheme && second.scheme && first.scheme_length == second.scheme_length &&
           strncasecmp(first.scheme, second.scheme, first.scheme_length) == 0 &&
           first.host_length == second.host_length &&
           strncasecmp(first.host, second.host, first.host_length) == 0 &&
           is_same_port(&first, &second);
}

bool origin_resolve(const char *base, const char *location, char *out, size_t size)
{
    struct origin origin = read_origin(base);
    size_t kept = (size_t)(origin.end - base); /* of the base, in front */
    size_t scheme =
        strspn(location, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    const char *slash = NULL;
    if (!*location || !origin.scheme)
        return false;
    if (scheme > 0 && location[scheme] == ':')
        kept = 0;
    else if (strncmp(location, "//", 2) == 0)
        kept = origin.scheme_length + 1;
    else if (*location != '/') {
        size_t path = strcspn(origin.end, "?#");
        for (size_t i = 0; i < path; i++)
            if (origin.end[i] == '/')
                slash = origin.end + i;
        if (*location == '?')
            kept += path;
        else if (slash)
            kept = (size_t)(slash + 1 - base);
        else
            return false;
    }
    int length = snprintf(out, size, "%.*s%s", (int)kept, base, location);
    return length > 0 && (size_t)length < size;
}

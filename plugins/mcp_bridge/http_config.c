#include "http_config.h"

#include <stdio.h>
#include <string.h>

#include "head.h"
#include "origin.h"

/* Of headers that are worth stealing. */
static bool is_secret(const char *name)
{
    static const char *const words[] = {"auth", "cookie", "key", "token", "secret", "password"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

/* Without TLS everybody on the way reads and writes along. */
static bool check_way(const struct server_config *config, const struct link_listener *listener,
                      char *problem, size_t size)
{
    char host[300], line[500];
    if (origin_is_https(config->url) || origin_is_loopback(config->url))
        return true;
    origin_host(config->url, host, sizeof(host));
    for (size_t i = 0; i < config->header_count; i++)
        if (is_secret(config->headers[i].name)) {
            snprintf(problem, size,
                     "the header '%s' is not sent to '%s' over http, where everybody on the way "
                     "could read it; use https",
                     config->headers[i].name, host);
            return false;
        }
    snprintf(line, sizeof(line),
             "'%s' is reached over http: everybody on the way can read and change what it says; "
             "use https",
             host);
    listener->note(listener->self, MORTISE_LOG_WARNING, line);
    return true;
}

static void note_reserved(const struct server_config *config, const struct link_listener *listener)
{
    char line[200];
    for (size_t i = 0; i < config->header_count; i++) {
        if (!head_is_reserved(config->headers[i].name))
            continue;
        snprintf(line, sizeof(line), "the header '%.100s' is left out: it is the protocol's own",
                 config->headers[i].name);
        listener->note(listener->self, MORTISE_LOG_WARNING, line);
    }
}

bool http_config_check(const struct server_config *config, const struct link_listener *listener,
                       char *problem, size_t size)
{
    if (strlen(config->url) >= ORIGIN_URL_BYTES) {
        snprintf(problem, size, "its URL is too long");
        return false;
    }
    if (!check_way(config, listener, problem, size))
        return false;
    note_reserved(config, listener);
    return true;
}

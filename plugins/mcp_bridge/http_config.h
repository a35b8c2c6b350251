/*
 * http_config - whether what is configured of a server can be used over HTTP.
 */
#ifndef HTTP_CONFIG_H
#define HTTP_CONFIG_H

#include "link.h"

/* Tells the listener of what is left out, or would better be otherwise.  False: a reason not to
 * connect, in `problem`. */
bool http_config_check(const struct server_config *config, const struct link_listener *listener,
                       char *problem, size_t size);

#endif

/*
 * cache - the lists of tools that servers last told, in $XDG_CACHE_HOME/mortise/mcp, so that a
 * server need not be started to know them.  What is damaged there counts as absent.
 */
#ifndef CACHE_H
#define CACHE_H

#include "listing.h"

enum { LIST_BYTES_MAX = 32 << 20, LIST_TOOLS_MAX = 5000 };

/* `key` is that of the server's configuration.  NULL: there is none. */
struct listing *cache_read(const char *key);
/* Puts it in the place of an earlier one, as a whole or not at all. */
void cache_write(const char *key, const struct listing *listing);

#endif

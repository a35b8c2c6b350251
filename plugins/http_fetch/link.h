/* link - the address of a link as browsers read it: what cannot stand in one is written as %XX. */
#ifndef FETCH_LINK_H
#define FETCH_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* White space at the ends, and line ends within, are none of it.  False: it has no room. */
bool link_clean(const char *href, char *out, size_t size);

#endif

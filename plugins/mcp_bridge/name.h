/*
 * name - what a server's tool is called here: SERVER__TOOL, of [A-Za-z0-9_-] and at most 64
 * bytes, the same whenever the same tools are there.
 */
#ifndef NAME_H
#define NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_SIZE = 65 };

/* What cannot be in a name becomes '_'; what is too long is cut, and ends with a hash of the
 * whole. */
void name_make(char out[NAME_SIZE], const char *server, const char *tool);
/* The same, with the hash in any case: for the second one of two that came out the same. */
void name_make_other(char out[NAME_SIZE], const char *server, const char *tool);
/* How often the server's own name stands in front of the tool's already: so often it came through
 * here before. */
unsigned name_rounds(const char *server, const char *tool);

#endif

/* environment - what a command sees of the host's variables: an allow-list, and never a key. */
#ifndef SHELL_ENVIRONMENT_H
#define SHELL_ENVIRONMENT_H

#include <stdbool.h>

/* A name that a provider's key has, or could have: it is never passed on. */
bool environment_is_key(const char *name);

/* The allowed variables that are set, and those of `more` (ends with NULL, or is NULL); in one
 * block for free().  NULL: no memory. */
char **environment_make(char *const *more);

#endif

/* id - unguessable, unique identifiers in [A-Za-z0-9_-].  Thread-safe. */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stddef.h>

#define ID_SIZE 40

/* "PREFIX_" and 24 random characters, NUL-terminated; the prefix has at most 12 bytes.
 * One system call per several ids. */
void id_make(char out[ID_SIZE], const char *prefix);

#endif

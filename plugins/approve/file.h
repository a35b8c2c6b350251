/* file - reads a file that nobody but its owner and root can have written. */
#ifndef APPROVE_FILE_H
#define APPROVE_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { FILE_MAX_BYTES = 1 << 20 };

/* The text of the file `path`, for free(), with its *length.  NULL: errno, and `why` says what
 * is wrong; ENOENT when there is no such file.  The file and all folders above it must belong
 * to this user or root, and nobody else may be able to write to them. */
char *file_read_trusted(const char *path, size_t *length, char *why, size_t why_size);

#endif

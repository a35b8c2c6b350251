/*
 * newline - ends of lines: whether they are CRLF, and making them so.  Any thread.
 */
#ifndef FILES_NEWLINE_H
#define FILES_NEWLINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether every line ends with CRLF, and there is one. */
bool newline_is_crlf(const char *data, size_t length);

/* Every LF that has no CR before it gets one; for free(), with a NUL behind it.  NULL: no memory.
 */
char *newline_to_crlf(const char *data, size_t length, size_t *out_length);

#endif

/* charset - bytes of a page as UTF-8, by what the server, the page or its bytes say. */
#ifndef FETCH_CHARSET_H
#define FETCH_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

enum { CHARSET_NAME = 40 };

/* What the bytes are in: by their first ones, "…; charset=NAME" of the type (may be NULL), or
 * within HTML <meta charset="NAME">; "" when none of them says it. */
void charset_find(const char *type, const char *bytes, size_t length, bool is_html,
                  char name[CHARSET_NAME]);
/* As valid UTF-8 with a NUL behind it, malloc'ed, no NUL in it; what cannot be read becomes U+FFFD.
 * Without a name, or with one that nobody knows: UTF-8 if that fits, else Windows-1252.  NULL: no
 * memory. */
char *charset_convert(const char *name, const char *bytes, size_t length, size_t *out_length);

#endif

/* base64 - bytes in JSON (RFC 4648, in one line). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* In the standard alphabet, with padding. */
void base64_append(struct text *out, const void *data, size_t length);
/* Appends the bytes of text in the standard or the URL alphabet, with its padding or with none.
 * False, and nothing appended, when it is not base64 or there is no memory (out->failed). */
bool base64_read(struct text *out, const char *data, size_t length);

#endif

/* base64 - bytes in JSON (RFC 4648, with padding, in one line). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

void base64_append(struct text *out, const void *data, size_t length);
/* Appends the bytes.  False, and nothing appended, when it is not base64 or there is no memory
 * (out->failed). */
bool base64_read(struct text *out, const char *data, size_t length);

#endif

/* uri - references, resolved against a base (RFC 3986, section 5.2). */
#ifndef SCHEMA_URI_H
#define SCHEMA_URI_H

#include <stddef.h>

#include "base/text.h"

/* Appends what `reference` names when it stands in `base`, both without a fragment; `base` may
 * be "" or itself relative. */
void uri_resolve(const char *base, const char *reference, size_t length, struct text *out);

#endif

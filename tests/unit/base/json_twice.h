/* json_twice - a text read by the host's reader of JSON and by jansson's. */
#ifndef TEST_JSON_TWICE_H
#define TEST_JSON_TWICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Whether both come to the same: a value, in the same order and to the last bit of a real, that
 * ends at the same place, or the same error there.  Else `difference` says what differs.  jansson
 * loses a NUL between tokens, so texts that have one are not compared: true. */
bool json_twice(const char *data, size_t length, size_t flags, struct text *difference);

#endif

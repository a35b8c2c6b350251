/* raw_schema - the JSON Schema that an author wrote, for the arguments of a tool or its result. */
#ifndef PLUGIN_RAW_SCHEMA_H
#define PLUGIN_RAW_SCHEMA_H

#include "base/error.h"
#include "base/text.h"
#include "schema/schema.h"

/* Whether it is a JSON object that describes an object, and can be checked with: compiled, and
 * its text with insignificant space removed appended to `out`.  NULL with *error: what is wrong
 * and where (kind plugin), or why it cannot be known. */
struct schema *raw_schema_read(const char *json, struct text *out, struct error *error);

#endif

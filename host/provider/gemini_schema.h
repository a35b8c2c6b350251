/*
 * gemini_schema - the schema of a tool's arguments as Gemini takes it (FAULTS 115).
 *
 * The server refuses a request with all its tools for one schema that it cannot read, so what is
 * sent is what its documentation names: references are put in, `const` becomes `enum`, `allOf` is
 * merged, and the rest is left out.  The model may then be told less than the schema says; the
 * host checks the arguments by all of it.  Any thread.
 */
#ifndef PROVIDER_GEMINI_SCHEMA_H
#define PROVIDER_GEMINI_SCHEMA_H

#include "base/text.h"

/* Appends the schema of an object; `schema` is its JSON text, or NULL or empty for no arguments.
 * out->failed: no memory. */
void gemini_put_schema(const char *schema, struct text *out);

#endif

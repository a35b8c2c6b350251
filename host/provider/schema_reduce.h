/*
 * schema_reduce - the schema of a tool's arguments in the few words that Gemini takes, and any
 * server whose profile says so (FAULTS 115).
 *
 * The server refuses a request with all its tools for one schema that it cannot read, so what is
 * sent is what its documentation names: references are put in, `const` becomes `enum`, `allOf` is
 * merged, and the rest is left out.  The model may then be told less than the schema says; the
 * host checks the arguments by all of it.  Any thread.
 */
#ifndef PROVIDER_SCHEMA_REDUCE_H
#define PROVIDER_SCHEMA_REDUCE_H

#include "base/text.h"

/* Appends the schema of an object; `schema` is its JSON text, or NULL or empty for no arguments.
 * out->failed: no memory. */
void schema_put_reduced(const char *schema, struct text *out);

#endif

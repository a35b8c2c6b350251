/*
 * schema_repair - what generators of schemas write that no validator takes: "required": null, the
 * "exclusiveMinimum": true of an earlier draft, and other keywords that are null.  Providers
 * refuse a whole request for it.
 */
#ifndef SCHEMA_REPAIR_H
#define SCHEMA_REPAIR_H

#include "buffer.h"

/* Puts the schema to `out`: to the byte as it is, if nothing is to be repaired. */
void schema_repair(const char *schema, struct buffer *out);

#endif

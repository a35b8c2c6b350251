/* schema_pointer - what a reference within a schema leads to. */
#ifndef PROVIDER_SCHEMA_POINTER_H
#define PROVIDER_SCHEMA_POINTER_H

#include <stdbool.h>

#include <jansson.h>

/* What "#/$defs/name" leads to; NULL: nothing, or `reference` is NULL.  *failed: no memory. */
const json_t *schema_pointed_at(const json_t *root, const char *reference, bool *failed);

#endif

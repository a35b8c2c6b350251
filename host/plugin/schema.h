/*
 * schema - a plugin's field table: checked once at load, and written as JSON Schema.
 */
#ifndef PLUGIN_SCHEMA_H
#define PLUGIN_SCHEMA_H

#include <mortise/plugin.h>

#include "base/error.h"
#include "base/text.h"

#define SHAPE_MAX_FIELDS 1024
#define SHAPE_MAX_DEPTH  16

/* Field `index`, by the stride of its author. */
const mortise_field *shape_field(const mortise_shape *shape, uint32_t index);

/* Whether the table can be worked with: sizes, known kinds, names given and unique,
 * offsets inside the struct, fallbacks that are JSON of their kind and pass their own
 * range and choices, records present, no cycle.  False names the field. */
bool shape_check(const mortise_shape *shape, struct error *error);

/* The JSON Schema of a checked shape: type, description, ranges, enum, default, items,
 * properties, required, additionalProperties false; inlined, no $schema, no title. */
void shape_write_schema(const mortise_shape *shape, struct text *out);

#endif

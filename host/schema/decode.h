/*
 * decode - JSON into the struct that a shape describes, or an error for the model.
 *
 * The error names the argument by path ("edits[2].old_text"), what was expected and what
 * came, and, for an unknown argument, the names that exist: the model must be able to
 * repair its call from the text alone.  Lossless coercions only: 3.0 for an integer, "5"
 * for an integer or number, "true"/"false" for a boolean; a single value where a list is
 * wanted is NOT taken.
 */
#ifndef SCHEMA_DECODE_H
#define SCHEMA_DECODE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "schema/shape.h"

/* A struct of shape->struct_size in `memory`, filled, with defaults where nothing came;
 * null counts as absent, but for MORTISE_JSON.  NULL with *error (kind bad_request, the
 * text starts with "Invalid argument: "), or kind internal without memory. */
void *decode_arguments(const struct shape *shape, const json_t *object, struct arena *memory,
                       struct error *error);

/* Whether what an author wrote fits as it stands, without coercions: a value of one field, and
 * arguments as an example of all.  False with *error: kind bad_request, the first few problems
 * ("'whole' must be at most 5, got 6"); internal, no memory. */
bool decode_fits_field(const struct shape *shape, const struct shape_field *field,
                       const json_t *value, struct error *error);
bool decode_fits(const struct shape *shape, const json_t *object, struct error *error);

#endif

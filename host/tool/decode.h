/*
 * decode - JSON into the struct of a plugin's field table, or an error for the model.
 *
 * The error names the argument by path ("edits[2].old_text"), what was expected and what
 * came, and, for an unknown argument, the names that exist: the model must be able to
 * repair its call from the text alone.  Lossless coercions only: 3.0 for an integer, "5"
 * for an integer or number, "true"/"false" for a boolean, a single value where a list is
 * wanted is NOT taken.
 */
#ifndef TOOL_DECODE_H
#define TOOL_DECODE_H

#include <jansson.h>

#include <mortise/plugin.h>

#include "base/arena.h"
#include "base/error.h"

/* A struct of shape->struct_size in `memory`, filled, with defaults where nothing came;
 * null counts as absent, but for MORTISE_JSON.  NULL with *error (kind bad_request, the
 * text starts with "Invalid argument: "), or kind internal without memory. */
void *decode_arguments(const mortise_shape *shape, const json_t *object, struct arena *memory,
                       struct error *error);

#endif

/*
 * validate - arguments against the JSON Schema of a tool that brings its own.
 *
 * Checks what such schemas are made of: type, enum, const, required, properties,
 * additionalProperties, items, the ranges of numbers, strings and lists, and allOf.  Other
 * keywords ($ref, anyOf, pattern, …) pass: the tool gets the text and judges for itself.
 */
#ifndef TOOL_VALIDATE_H
#define TOOL_VALIDATE_H

#include <jansson.h>

#include "base/error.h"

/* False with *error as decode_arguments() writes it. */
bool validate_arguments(const char *schema, const json_t *object, struct error *error);

#endif

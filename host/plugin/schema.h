/*
 * schema - a JSON Schema that a plugin brings: checked once at load.
 */
#ifndef PLUGIN_SCHEMA_H
#define PLUGIN_SCHEMA_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Whether a raw schema is a JSON object that describes an object; appends its text with
 * insignificant space removed. */
bool schema_check_raw(const char *json, struct text *out, struct error *error);

#endif

/* output - a JSON result against the output schema of its tool. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plugin/registry.h"

/* `json` is valid JSON.  True for a tool without an output schema, whose results are not read.
 * False with *error: what is wrong with it; or kind internal, no memory. */
bool output_fits(const struct tool *tool, const char *json, size_t length, struct error *error);

#endif

/*
 * schema - a JSON Schema (2020-12), compiled once and then checked against any number of values.
 *
 * All of the standard's keywords; "format" and the like are annotations.  Nothing is fetched: a
 * "$ref" leads to a place in the same document.  What older drafts write otherwise ("definitions",
 * a list in "items" with "additionalItems", "dependencies") is understood.
 *
 * Schemas come from authors of plugins and values from models, so neither may make a check hang
 * or run out of stack: values and references may lead 200 deep, and a check does a bounded
 * amount of work.
 *
 * Immutable once compiled: any number of threads may check with one schema, each its own values.
 */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include <stdbool.h>

#include <jansson.h>

#include "base/error.h"
#include "schema/problem.h"

struct schema;

/* Takes a reference on the document, which must not be changed any more, nor its count touched
 * while other threads may check: schema_free() gives it back.  NULL with *error: kind plugin,
 * what is wrong and where ("'/properties/age/minimum' must be a number, got \"5\""); config, a
 * pattern needs PCRE2 and it is not installed; internal, no memory. */
struct schema *schema_compile(json_t *document, struct error *error);
void schema_free(struct schema *schema); /* NULL is fine */

/* Whether the value fits.  False with *error: kind bad_request, the first few problems as
 * problem.h words them; internal, no memory.  Reads the value, and never its counts. */
bool schema_check(const struct schema *schema, const json_t *value, enum problem_subject subject,
                  struct error *error);

#endif

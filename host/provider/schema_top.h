/*
 * schema_top - the schema of a tool's arguments as OpenAI and Anthropic take it (FAULTS 115).
 *
 * They take any JSON Schema below an object, but want the uppermost to be one by itself: with
 * "type" and "properties", and without "anyOf" and the like beside them.  A schema that is so, as
 * nearly all are, goes to the letter.  Another is told with the properties of all its
 * alternatives; the host checks the arguments by what it really says.  Any thread.
 */
#ifndef PROVIDER_SCHEMA_TOP_H
#define PROVIDER_SCHEMA_TOP_H

#include "base/text.h"

/* As schema_put_reduced(). */
void schema_put_top(const char *schema, struct text *out);

#endif

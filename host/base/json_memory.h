/*
 * json_memory - a parse that runs out of memory fails, instead of reading something else.
 *
 * jansson's reader does not look at every allocation: when its buffer for a word cannot grow
 * it goes on without the byte, and a number that lost one ends the process in an assertion.
 * Between begin and end, allocations of this thread that fail are served from a small reserve
 * and remembered, so that the reader ends in good order and the caller can throw away what it
 * read.
 */
#ifndef BASE_JSON_MEMORY_H
#define BASE_JSON_MEMORY_H

#include <stdbool.h>

#include <jansson.h>

void json_memory_begin(void);
/* Ends it.  Returns `value`, or NULL when memory had run out: the value is released then. */
json_t *json_memory_end(json_t *value, bool *no_memory);

#endif

/*
 * json_read - reads JSON text as jansson does: builds its value, or only looks whether it is one.
 *
 * jansson's own reader takes its input byte by byte, ten nanoseconds each, goes on without the
 * bytes for which there was no memory, and drops NULs between tokens.  The values are jansson's,
 * and so are the limits (2048 deep) and what is said of an error.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* `flags` are jansson's: JSON_DECODE_ANY, JSON_REJECT_DUPLICATES, JSON_DISABLE_EOF_CHECK and
 * JSON_DECODE_INT_AS_REAL (NULs in strings are always allowed).  False: *problem says why, or,
 * with *no_memory, there was no memory.  `value` NULL: nothing is built, and numbers of any size
 * and NULs in keys are fine.  `problem` may be NULL.  problem->position is always set: where the
 * value ended. */
bool json_read_text(const char *data, size_t length, size_t flags, json_t **value,
                    json_error_t *problem, bool *no_memory);

#endif

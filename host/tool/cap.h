/* cap - the one limit on what a tool's result may add to a conversation (D12). */
#ifndef TOOL_CAP_H
#define TOOL_CAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Cuts a text above `limit` bytes to its head and its tail, on character borders, with a
 * line between them that says how many bytes were left out and, unless `whole` is NULL, where
 * the whole text is.  All is within the limit, but for the line itself where the limit is
 * smaller than that.  False: no memory. */
bool result_cap(struct text *text, size_t limit, const char *whole);

/* Whether `cut` is what result_cap() made of `whole` once. */
bool result_is_cut_of(const char *cut, size_t length, const char *whole, size_t whole_length);

#endif

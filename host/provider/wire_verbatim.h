/*
 * wire_verbatim - whether what a provider sent still goes with the items that were made of it.
 *
 * A stored response may have been damaged so that it has as many items as before, but other ones.
 * Sent to the letter it would show a call that has no result (FAULTS 120).  Or a user's provider
 * speaks another format by now than when the response came from it.
 */
#ifndef PROVIDER_WIRE_VERBATIM_H
#define PROVIDER_WIRE_VERBATIM_H

#include "conversation/item.h"

/* Whether the list `array` is of this format, and its calls are those among the items, in their
 * order. */
bool wire_verbatim_matches(const struct bytes *array, enum wire_format format,
                           struct item *const *items, size_t count);

#endif

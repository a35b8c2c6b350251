/*
 * take - what a message holds, copied into memory that outlives it; and what is known of a tool,
 * which goes both ways.
 *
 * Where there is no memory, or too much, the message is bad from there on.
 */
#ifndef REMOTE_TAKE_H
#define REMOTE_TAKE_H

#include <mortise/plugin.h>

#include "base/arena.h"
#include "remote/parcel.h"

/* With a NUL behind them; NULL: there are none, or the message is bad. */
const char *take_bytes(struct parcel *message, struct arena *memory, size_t *length);
/* Without a NUL inside. */
const char *take_string(struct parcel *message, struct arena *memory);
/* NULL-terminated, at most `most`; NULL: there is no list, or the message is bad. */
const char *const *take_strings(struct parcel *message, struct arena *memory, uint32_t most);

/* Every member is there: the host's copy, or one as the host would make it. */
void put_meta(struct text *out, const mortise_tool_meta *meta);
/* Its lists hold at most `most`. */
const mortise_tool_meta *take_meta(struct parcel *message, struct arena *memory, uint32_t most);

#endif

/*
 * chat_calls - which tool call a fragment of a Chat Completions stream belongs to.
 *
 * In theory by its index.  In practice indices are missing, all zero, reused or drifting, ids
 * are missing, late, repeated or new in every chunk, and names come in pieces (FAULTS 49 to
 * 67).  The rules are in chat_calls.c, in one place.
 *
 * One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_CHAT_CALLS_H
#define PROVIDER_CHAT_CALLS_H

#include "base/json.h"
#include "provider/stream.h"

struct chat_call {
    bool has_index;
    json_int_t index;
    struct text id; /* as the provider gave it, or empty */
    struct text name;
    struct text early; /* arguments that came before the name */
    bool early_lone;   /* what json_parse() said of them */
    int block;         /* of the stream; -1 = not opened yet */
};

struct chat_calls {
    struct stream *stream;
    struct chat_call *items;
    size_t count;
    size_t capacity;
    struct text scratch;
};

void chat_calls_init(struct chat_calls *calls, struct stream *stream);
void chat_calls_release(struct chat_calls *calls);

/* One entry of `tool_calls`. */
void chat_calls_take(struct chat_calls *calls, const json_t *entry, bool lone);
/* A piece of the old `function_call`, which has neither index nor id. */
void chat_calls_take_legacy(struct chat_calls *calls, const json_t *function, bool lone);
/* Opens what has not been opened. */
void chat_calls_open(struct chat_calls *calls);

#endif

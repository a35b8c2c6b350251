/*
 * isolation - how a plugin is kept apart from the host: not at all, in a process of its own, or in
 * one that is shut in a sandbox; and what the calls get that need a sandbox each, wherever it is.
 */
#ifndef PLUGIN_ISOLATION_H
#define PLUGIN_ISOLATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct isolation {
    bool is_process;
    bool is_sandbox;      /* which is in a sandbox */
    int64_t memory_bytes; /* what its process may have; 0: any amount */
    int64_t timeout_ms;   /* what a call or a hook may take; 0: any time */
    int64_t call_memory_bytes, call_timeout_ms; /* the same for calls in a sandbox of their own */
    char *grants; /* what the operator lets sandboxes have, as JSON (config/sandbox_grant.h);
                   * malloc'ed, or NULL: nothing */
};

static inline void isolation_release(struct isolation *isolation)
{
    free(isolation->grants);
    isolation->grants = NULL;
}

static inline bool isolation_equal(const struct isolation *a, const struct isolation *b)
{
    bool same_grants = a->grants && b->grants ? strcmp(a->grants, b->grants) == 0
                                              : a->grants == b->grants;
    return a->is_process == b->is_process && a->is_sandbox == b->is_sandbox &&
           (!a->is_process ||
            (a->memory_bytes == b->memory_bytes && a->timeout_ms == b->timeout_ms)) &&
           a->call_memory_bytes == b->call_memory_bytes &&
           a->call_timeout_ms == b->call_timeout_ms && same_grants;
}

#endif

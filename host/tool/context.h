/*
 * context - who calls, and for whom: what tools and hooks may ask for by key.
 *
 * Made once for a conversation and read by all its calls, from any thread.
 */
#ifndef TOOL_CONTEXT_H
#define TOOL_CONTEXT_H

#include "base/arena.h"

struct metadata {
    const char *key; /* NULL: the end of the list */
    const char *value;
};

/* All may be NULL.  Strings outlive the calls. */
struct call_context {
    const char *user; /* NULL: "anonymous" */
    const char *session;
    const char *tenant;
    const char *agent; /* NULL: the application's name */
    const char *app;   /* NULL: the agent's name (F59) */
    const char *workspace;
    const char *invocation;    /* of the run; NULL: made for each call that asks */
    const char *const *scopes; /* what the caller holds, NULL-terminated */
    const struct metadata *metadata;
};

/* The answer for a key of mortise_call_ops.context that is about the caller, copied into
 * `memory`; NULL: not known, or no memory. */
const char *context_get(const struct call_context *context, const char *key, struct arena *memory);

#endif

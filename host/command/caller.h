/*
 * caller - who calls, and from where, by the settings: what tools and hooks may ask for.
 */
#ifndef COMMAND_CALLER_H
#define COMMAND_CALLER_H

#include "command/app.h"
#include "tool/context.h"

/* An empty one is fine to release.  The settings outlive it. */
struct caller {
    struct call_context context; /* without session and invocation */
    struct arena memory;
};

bool caller_init(struct caller *caller, const struct app *app, struct error *error);
void caller_release(struct caller *caller);

#endif

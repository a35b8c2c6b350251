/*
 * app_context - who calls, and from where, by the settings: what tools and hooks may ask for.
 */
#ifndef COMMAND_APP_CONTEXT_H
#define COMMAND_APP_CONTEXT_H

#include "command/app.h"
#include "tool/context.h"

/* An empty one is fine to release.  The settings outlive it. */
struct app_context {
    struct call_context context; /* without session and invocation */
    struct arena memory;
};

bool app_context_init(struct app_context *own, const struct app *app, struct error *error);
void app_context_release(struct app_context *own);

#endif

/*
 * caller - who calls a service, whose data are meant, and how a failure is told.
 *
 *     struct caller caller;
 *     if (!caller_begin(&caller, call, "state"))
 *         return MORTISE_INVALID;
 *     mortise_status status = …;
 *     caller_end(&caller);
 *
 * One thread per caller; any number of callers at once, also of one call.
 */
#ifndef SERVICE_CALLER_H
#define SERVICE_CALLER_H

#include <mortise/plugin.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "service/services_private.h"

struct caller {
    mortise_call *call;    /* NULL: outside of one */
    struct arena memory;   /* outside of a call: what the service returns */
    struct text reason;    /* of the latest failure */
    const char *component; /* of its errors: the service */
    struct services *services;
    char plugin[65];
};

/* False: the call is none of this host's, or it is over.  Then there is nothing to end. */
bool caller_begin(struct caller *caller, mortise_call *call, const char *component);
/* A plugin that is in no call: without an owner, and failures are told by ->reason alone.  False:
 * its host has no services. */
bool caller_begin_outside(struct caller *caller, const mortise_host *host, const char *component);
void caller_end(struct caller *caller);

/* Appends whose data are meant.  *lasts: they outlive the run.  `kind` is as the tool gave it. */
mortise_status caller_owner(struct caller *caller, mortise_owner kind, struct text *owner,
                            bool *lasts);

/* Keeps the reason, also with the call, and returns `status`.  The code is "COMPONENT.CODE". */
mortise_status caller_fail(struct caller *caller, mortise_status status, mortise_category category,
                           const char *code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* What the tool passed in cannot be used: MORTISE_INVALID. */
mortise_status caller_invalid(struct caller *caller, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An error of the host's: MORTISE_FAILED. */
mortise_status caller_error(struct caller *caller, const struct error *error);
mortise_status caller_no_memory(struct caller *caller);

/* Memory of the call, or of the caller outside of one; NULL: none left. */
void *caller_alloc(struct caller *caller, size_t bytes);
/* With a NUL behind it. */
char *caller_copy(struct caller *caller, const char *data, size_t length);

#endif

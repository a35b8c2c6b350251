/*
 * doctor - what `mortise doctor` looks at: each part tells its findings, in order.
 *
 * Nothing is made or changed, and no part needs another one to be well.
 */
#ifndef COMMAND_DOCTOR_H
#define COMMAND_DOCTOR_H

#include "command/app.h"

enum finding {
    FINDING_OK,
    FINDING_WARNING, /* it works, but not all of it or not for long */
    FINDING_PROBLEM  /* a run would fail, or do without something that was asked for */
};

struct doctor {
    struct app *app;
    unsigned warnings, problems;
    int code; /* of the first problem */
};

/* One finding.  `check` is a word ("key"); `advice`, or NULL, says what to do next. */
void doctor_tell(struct doctor *doctor, enum finding finding, const char *check, const char *advice,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A problem in the words of an error, with what they say is to be done (behind the last "; "), or
 * else with `advice`. */
void doctor_fail(struct doctor *doctor, const char *check, const struct error *error,
                 const char *advice);

/* It could not be looked at: there is no memory. */
void doctor_no_memory(struct doctor *doctor, const char *check);

void doctor_settings(struct doctor *doctor); /* files, variables, keys */
void doctor_server(struct doctor *doctor);   /* the model and the way to it */
void doctor_places(struct doctor *doctor);   /* folders, the session store */
void doctor_trust(struct doctor *doctor);    /* which plugins may be loaded */
void doctor_sandbox(struct doctor *doctor);  /* what this kernel offers to lock code in */
void doctor_machine(struct doctor *doctor);  /* the terminal */

#endif

/*
 * run - one piece of code that is run, in a process that was made for it.
 *
 * Everything lives as long as the call.  A back end runs the code on a thread of its own, whose
 * stack it knows; the thread of the call waits for it.
 */
#ifndef RUN_H
#define RUN_H

#include <mortise/tool.h>

#include "output.h"

struct run {
    mortise_call *call;
    const char *code; /* UTF-8, or nearly */
    size_t value_limit; /* characters of a value */
    struct output output;

    /* What became of it: members of a JSON object, without its braces.  "value", and "value_type"
     * when it is a text that stands for no JSON; or "error", an object with "type", "message", and
     * "line", "column" and "stack" where they are known.  NULL: it is not known. */
    char *outcome;
};

/* Calls `body` with `data` on a thread with a stack of so many bytes, and waits for it.  False after
 * mortise_fail(). */
bool run_on_thread(struct run *run, size_t stack_bytes, void *(*body)(void *data), void *data);

/* Keeps a copy as the outcome. */
void run_tell(struct run *run, const char *members, size_t length);

#endif

/*
 * watch - a parent's eye on a child in a sandbox: its time, its memory, how much it makes.
 *
 * One descriptor becomes readable when there is something to do; sandbox_watch_step() does it.
 * When a limit is reached all processes of the sandbox are killed, and the watch knows which limit
 * it was.  The child must be one that calls sandbox_enter(), a child of this process, and not yet
 * waited for: until then its number is nobody else's.  To be used by one thread at a time.
 */
#ifndef SANDBOX_WATCH_H
#define SANDBOX_WATCH_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "sandbox/sandbox.h"

enum sandbox_limit {
    SANDBOX_LIMIT_NONE,
    SANDBOX_LIMIT_WALL,
    SANDBOX_LIMIT_CPU,
    SANDBOX_LIMIT_MEMORY,
    SANDBOX_LIMIT_PROCESSES,
    SANDBOX_LIMIT_OUTPUT,
    SANDBOX_LIMIT_FILE,
    SANDBOX_LIMIT_DISK,
    SANDBOX_LIMIT_FILES
};

struct sandbox_watch;

/* NULL with *error; the child is then killed, and still to be waited for. */
struct sandbox_watch *sandbox_watch_new(const struct sandbox_rules *rules, pid_t child,
                                        struct error *error);
void sandbox_watch_free(struct sandbox_watch *watch); /* NULL is fine; kills nobody */

int sandbox_watch_fd(const struct sandbox_watch *watch); /* to poll only */
/* Never blocks.  False: the child has ended, whatever it left is killed, and it can be waited
 * for. */
bool sandbox_watch_step(struct sandbox_watch *watch);
/* So many more bytes came out.  False: that was too much, and all are killed. */
bool sandbox_watch_output(struct sandbox_watch *watch, size_t bytes);
void sandbox_watch_kill(struct sandbox_watch *watch);

struct sandbox_end {
    int status; /* of waitpid() */
    enum sandbox_limit limit;
};

/* Waits for the child, which has ended, and for what is left of it if this process has that
 * (PR_SET_CHILD_SUBREAPER).  False with errno. */
bool sandbox_watch_reap(struct sandbox_watch *watch, struct sandbox_end *end);

/* Appends "the time limit of 5 s"; nothing for none. */
void sandbox_limit_describe(enum sandbox_limit limit, const struct sandbox_limits *limits,
                            struct text *out);

#endif

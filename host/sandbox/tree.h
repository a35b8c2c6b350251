/*
 * tree - a process namespace of its own for a sandbox that may fork.
 *
 * Three processes: the one that was there outside, the first one inside, whose end ends all others
 * in there, and the one that goes on.  So nothing is left over when the parent of all is killed.
 */
#ifndef SANDBOX_TREE_H
#define SANDBOX_TREE_H

#include <stdbool.h>

enum { TREE_PROCESSES = 2 }; /* those that are there beside the one that goes on */

/* After unshare(CLONE_NEWPID).  Returns in the process that goes on; false with errno when there
 * can be none.  The others end as that one ends, and never return.  Async-signal-safe. */
bool tree_enter(void);

/* Ends as another process did, by the status that wait() has of it.  Async-signal-safe. */
void tree_end_as(int status) __attribute__((noreturn));

#endif

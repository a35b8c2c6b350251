/*
 * cancel - one token per run: set once, seen everywhere.
 *
 * cancel_trigger() only sets a flag and makes a file descriptor readable, so it may be
 * called from any thread and from a signal handler, never blocks, and repeats are
 * harmless.  Whoever waits, waits on cancel_fd() beside its own descriptors.
 * Reference counted: cancel_ref()/cancel_unref() are thread-safe.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <stdbool.h>

struct cancel;

struct cancel *cancel_new(void); /* NULL when there is no memory or no descriptor */
struct cancel *cancel_ref(struct cancel *cancel);
void cancel_unref(struct cancel *cancel); /* NULL is fine */

void cancel_trigger(struct cancel *cancel);         /* NULL is fine */
bool cancel_requested(const struct cancel *cancel); /* NULL: false */
/* Readable for ever once triggered.  To poll only; never read or close it.  NULL: -1, which
 * poll() ignores. */
int cancel_fd(const struct cancel *cancel);

#endif

/*
 * keeper - the one thread that starts the processes of plugins and watches them (child.h).
 *
 * Made with the first of them; ends with the host.
 */
#ifndef REMOTE_KEEPER_H
#define REMOTE_KEEPER_H

#include "remote/child.h"

/* Has the process made, and fills in its pid and descriptors. */
bool keeper_start(struct child *child, const char *path, struct error *error);
void keeper_watch(struct child *child);
/* Until all that a process said was heard, which is over. */
void keeper_finish(const struct child *child, int timeout_ms);

#endif

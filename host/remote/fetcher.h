/*
 * fetcher - requests over HTTP that a plugin in its own process makes outside of a call.
 *
 * The process asks for a lane on its control socket, and gets one with a thread of the host's behind
 * it, which makes one request after the other until the process closes it or is over.  There are
 * at most FETCHERS_MAX of a process.
 */
#ifndef REMOTE_FETCHER_H
#define REMOTE_FETCHER_H

#include "remote/child.h"

#define FETCHERS_MAX 64

/* Answers a PARCEL_LANE_WANTED.  False: the process cannot be reached. */
bool fetcher_start(struct child *child);
/* Until none is left, of a process that is over. */
void fetchers_end(struct child *child);

#endif

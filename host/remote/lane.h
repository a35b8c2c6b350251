/*
 * lane - one connection to the process of a plugin: for one call, or one hook, at a time.
 *
 * The thread that calls writes the call, and then reads what the tool asks for and how it ended: no
 * other thread stands between.  A lane whose call went by the rules is used again; any other is
 * closed with it.  The eventfd is readable for both ends once the call shall stop.
 *
 * The sockets carry packets.  Who waits in recv() on a stream is also woken when the other end has
 * read what it sent, for nothing: that was a third of the time of a call.
 */
#ifndef REMOTE_LANE_H
#define REMOTE_LANE_H

#include "remote/child.h"

/* The host's end waits for so long in recv(), and then looks whether the call shall stop. */
#define LANE_SLICE_MS 50

struct lane {
    struct lane *next; /* idle */
    int fd;
    int cancel_fd;
    int end_fd; /* of a call in a sandbox of its own (confined.h); else -1 */
    struct parcel_in in;
    struct text out;
};

/* An idle one, or a new one; NULL with *error. */
struct lane *lane_take(struct child *child, struct error *error);
void lane_give_back(struct child *child, struct lane *lane);
void lanes_free(struct lane *lane); /* and all behind it; NULL is fine */

#endif

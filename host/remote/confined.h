/*
 * confined - the host's side of a call in a sandbox of its own.
 *
 * Such a call has a lane for itself, which its process holds, and a second socket, which the
 * process that it was forked from holds (zygote.h) and which stands for the call's life: when the
 * host closes its end the call is killed, and what comes over it last is how it ended, of a call
 * that did not finish.  By then nothing is left of it, neither a process nor its folder.
 */
#ifndef REMOTE_CONFINED_H
#define REMOTE_CONFINED_H

#include "remote/exchange.h"

/* What is told of a call when it is over; both ends are the same binary. */
enum confined_end {
    CONFINED_ENDED,   /* by itself, or by a signal */
    CONFINED_KILLED,  /* because the host wanted it */
    CONFINED_TIME,    /* the limit of time or processor time was reached */
    CONFINED_LIMIT,   /* another limit */
    CONFINED_REFUSED, /* there is no sandbox */
    CONFINED_FAILED   /* it was not begun, for another reason */
};
struct confined_report {
    uint32_t end; /* enum confined_end */
    char words[400]; /* "was killed by signal 11 (…)", "reached the time limit of 5 s", "…: …" */
};

/* What the process that calls are forked from may take for a tool's prepare(), and answers nothing
 * meanwhile. */
#define CONFINED_PREPARE_MS 30000

/* What the host says over that socket, beside closing it: more came over the lane than may. */
#define CONFINED_TOO_MUCH 'o'

/* Has a process forked for a call, and makes its lane; NULL with *error. */
struct lane *confined_lane(struct exchange *exchange, struct error *error);
/* As read_more() and lost() of exchange.c. */
bool confined_read(struct exchange *exchange);
bool confined_lost(struct exchange *exchange);
/* Ends it, without waiting; `why` is kept of the first time. */
void confined_stop(struct exchange *exchange, const char *why);
/* A message that only such a call sends; false: it is none. */
bool confined_hear(struct exchange *exchange, struct parcel *message);
/* The call has finished: what is left of it is ended, and nobody waits for that. */
void confined_close(struct exchange *exchange);

#endif

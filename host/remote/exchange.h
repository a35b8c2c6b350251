/*
 * exchange - one call or one hook, put to the process of its plugin and followed to its end.
 *
 *     struct exchange exchange = {.remote = …, .call = …, .subject = "tool 'x'"};
 *     if (exchange_open(&exchange, PARCEL_CALL)) {
 *         parcel_put_…(exchange_out(&exchange), …);
 *         if (exchange_run(&exchange, PARCEL_FINISH)) …read exchange.end…
 *     }
 *     exchange_close(&exchange);
 *
 * Everything happens on the calling thread: what the tool or the hook asks for meanwhile is answered
 * here (request.h).  A process that is over, breaks the rules, takes too long or does not stop when
 * it shall is ended, and exchange.failure says what happened.
 */
#ifndef REMOTE_EXCHANGE_H
#define REMOTE_EXCHANGE_H

#include "remote/remote.h"

struct exchange {
    struct remote *remote;
    mortise_call *call; /* or */
    mortise_hook *hook;
    const char *subject; /* "tool 'x'", "PreToolCall": for failures */
    uint32_t tool;       /* of a call */

    struct child *child;
    struct lane *lane;
    struct text out; /* answers */
    uint64_t number;
    int64_t until_ms; /* -1: no limit */
    int64_t kill_ms;  /* once it shall stop: when it is ended; 0: it need not stop */
    int64_t ended_ms; /* when it was ended for that, or for its time; 0: it was not */
    unsigned http_depth; /* requests that are under way, one within the other */
    bool is_clean;    /* the lane can be used again */
    /* Of a call in a sandbox of its own. */
    uint64_t received; /* bytes */
    const char *why;   /* the host ended it; or NULL */
    char refusal[208]; /* why there is no sandbox */
    struct parcel end;

    mortise_category category; /* of the failure */
    const char *code;
    char failure[400];
};

bool exchange_open(struct exchange *exchange, enum parcel_type type);
struct text *exchange_out(struct exchange *exchange);
bool exchange_run(struct exchange *exchange, enum parcel_type end);
/* What has to be true of `end` is not. */
bool exchange_wrong(struct exchange *exchange);
/* Both are false.  The failure has these, and the lane is not used again; and: the process is over,
 * or about to be, which says how it came to that. */
bool exchange_fail(struct exchange *exchange, mortise_category category, const char *code);
bool exchange_lost(struct exchange *exchange);
void exchange_close(struct exchange *exchange);

#endif

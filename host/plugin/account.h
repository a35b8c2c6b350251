/*
 * account - what the calls of one tool came to: how many, how long, how much.
 *
 * Counted by whoever ends a call, from any thread, without a lock: a few atomic additions.
 * Times fall into buckets that grow with the time, 16 for each doubling, so a quantile is at
 * most 4 % off; only a tool that was called has them.
 *
 * Reference counted: a reload gives it to the tool that takes the place of the one before, and
 * keeps it when there is none, so that no call is lost (registry.h).
 */
#ifndef PLUGIN_ACCOUNT_H
#define PLUGIN_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCOUNT_BUCKETS 624 /* up to 73 minutes; what takes longer is in the last one */

/* Numbers that stand still. */
struct account_sum {
    int64_t calls;            /* also those that were refused before the tool was entered */
    int64_t errors;           /* of them */
    int64_t total_ns, max_ns; /* inside the tool */
    int64_t bytes_in;         /* of arguments */
    int64_t bytes_out;        /* of results and what is attached to them */
    int64_t progress_dropped; /* bytes that nobody was shown */
    int64_t times[ACCOUNT_BUCKETS];
};

struct account {
    atomic_uint refs;
    atomic_int_least64_t calls, errors, total_ns, max_ns, bytes_in, bytes_out, progress_dropped;
    _Atomic(atomic_int_least64_t *) times; /* NULL until a call took time */
    struct account_sum *taken;             /* by account_take(); NULL: nothing */
};
struct account *account_new(void); /* NULL: no memory */
struct account *account_ref(struct account *account);
void account_unref(struct account *account); /* NULL is fine */

struct account_call {
    bool success;
    int64_t duration_ns; /* 0: the tool was not entered */
    size_t bytes_in, bytes_out;
};
void account_count(struct account *account, const struct account_call *call);
void account_drop_progress(struct account *account, size_t bytes);

/* ---- on one thread ---- */

/* Whether anything came since the last account_take(). */
bool account_is_due(const struct account *account);
/* What came since the last time.  False: nothing, or there is no memory and it stays. */
bool account_take(struct account *account, struct account_sum *sum);
/* All that was ever counted. */
void account_read(const struct account *account, struct account_sum *sum);

void account_sum_add(struct account_sum *sum, const struct account_sum *more);
/* The time that `part` (0 to 1) of the calls did not exceed; 0 when none took any. */
int64_t account_quantile_ns(const struct account_sum *sum, double part);

#endif

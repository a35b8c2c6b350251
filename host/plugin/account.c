#include "plugin/account.h"

#include <stdlib.h>
#include <string.h>

/* Times below FINE ns have a bucket for each; above, each doubling has FINE of them. */
enum { FINE_BITS = 4, FINE = 1 << FINE_BITS };

#define ADD(member, value) atomic_fetch_add_explicit(&(member), (value), memory_order_relaxed)
#define READ(member)       atomic_load_explicit(&(member), memory_order_relaxed)
#define TAKE(member)       atomic_exchange_explicit(&(member), 0, memory_order_relaxed)

/* ---- life ---- */

struct account *account_new(void)
{
    struct account *account = calloc(1, sizeof(*account));
    if (account)
        atomic_init(&account->refs, 1);
    return account;
}

struct account *account_ref(struct account *account)
{
    atomic_fetch_add_explicit(&account->refs, 1, memory_order_relaxed);
    return account;
}

void account_unref(struct account *account)
{
    if (!account || atomic_fetch_sub_explicit(&account->refs, 1, memory_order_acq_rel) > 1)
        return;
    free(atomic_load(&account->times));
    free(account->taken);
    free(account);
}

/* ---- buckets ---- */

static size_t bucket_of(int64_t ns)
{
    uint64_t value = (uint64_t)ns;
    if (value < FINE)
        return (size_t)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value); /* the highest bit */
    size_t bucket = (top - FINE_BITS + 1) * FINE + ((value >> (top - FINE_BITS)) & (FINE - 1));
    return bucket < ACCOUNT_BUCKETS ? bucket : ACCOUNT_BUCKETS - 1;
}

/* The middle of a bucket. */
static int64_t time_of(size_t bucket)
{
    if (bucket < FINE)
        return (int64_t)bucket;
    unsigned shift = (unsigned)(bucket / FINE) - 1;
    int64_t low = (int64_t)(FINE + bucket % FINE) << shift;
    return low + (((int64_t)1 << shift) >> 1);
}

/* NULL: no memory; then the call's time is in the total only. */
static atomic_int_least64_t *times_of(struct account *account)
{
    atomic_int_least64_t *times = atomic_load_explicit(&account->times, memory_order_acquire);
    if (times)
        return times;
    atomic_int_least64_t *fresh = calloc(ACCOUNT_BUCKETS, sizeof(*fresh));
    if (fresh && !atomic_compare_exchange_strong(&account->times, &times, fresh)) {
        free(fresh); /* another thread was faster */
        return times;
    }
    return fresh;
}

/* ---- counting ---- */

static void count_time(struct account *account, int64_t ns)
{
    atomic_int_least64_t *times = times_of(account);
    int_least64_t most = READ(account->max_ns);
    ADD(account->total_ns, ns);
    while (ns > most &&
           !atomic_compare_exchange_weak_explicit(&account->max_ns, &most, ns, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    if (times)
        ADD(times[bucket_of(ns)], 1);
}

void account_count(struct account *account, const struct account_call *call)
{
    ADD(account->calls, 1);
    if (!call->success)
        ADD(account->errors, 1);
    ADD(account->bytes_in, (int64_t)call->bytes_in);
    ADD(account->bytes_out, (int64_t)call->bytes_out);
    if (call->duration_ns > 0)
        count_time(account, call->duration_ns);
}

void account_drop_progress(struct account *account, size_t bytes)
{
    ADD(account->progress_dropped, (int64_t)bytes);
}

/* ---- reading ---- */

bool account_is_due(const struct account *account)
{
    return READ(account->calls) || READ(account->progress_dropped);
}

bool account_take(struct account *account, struct account_sum *sum)
{
    if (!account_is_due(account) ||
        (!account->taken && !(account->taken = calloc(1, sizeof(*account->taken)))))
        return false;
    *sum = (struct account_sum){
        .calls = TAKE(account->calls),
        .errors = TAKE(account->errors),
        .total_ns = TAKE(account->total_ns),
        .max_ns = TAKE(account->max_ns),
        .bytes_in = TAKE(account->bytes_in),
        .bytes_out = TAKE(account->bytes_out),
        .progress_dropped = TAKE(account->progress_dropped),
    };
    atomic_int_least64_t *times = atomic_load_explicit(&account->times, memory_order_acquire);
    for (size_t i = 0; times && i < ACCOUNT_BUCKETS; i++)
        sum->times[i] = READ(times[i]) ? TAKE(times[i]) : 0;
    account_sum_add(account->taken, sum);
    return true;
}

void account_read(const struct account *account, struct account_sum *sum)
{
    *sum = (struct account_sum){
        .calls = READ(account->calls),
        .errors = READ(account->errors),
        .total_ns = READ(account->total_ns),
        .max_ns = READ(account->max_ns),
        .bytes_in = READ(account->bytes_in),
        .bytes_out = READ(account->bytes_out),
        .progress_dropped = READ(account->progress_dropped),
    };
    atomic_int_least64_t *times = atomic_load_explicit(&account->times, memory_order_acquire);
    for (size_t i = 0; times && i < ACCOUNT_BUCKETS; i++)
        sum->times[i] = READ(times[i]);
    if (account->taken)
        account_sum_add(sum, account->taken);
}

/* Numbers come from files too: no sum is too large, and none is negative. */
static void add(int64_t *sum, int64_t more)
{
    if (more > 0 && __builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

void account_sum_add(struct account_sum *sum, const struct account_sum *more)
{
    add(&sum->calls, more->calls);
    add(&sum->errors, more->errors);
    add(&sum->total_ns, more->total_ns);
    add(&sum->bytes_in, more->bytes_in);
    add(&sum->bytes_out, more->bytes_out);
    add(&sum->progress_dropped, more->progress_dropped);
    if (more->max_ns > sum->max_ns)
        sum->max_ns = more->max_ns;
    for (size_t i = 0; i < ACCOUNT_BUCKETS; i++)
        add(&sum->times[i], more->times[i]);
}

int64_t account_quantile_ns(const struct account_sum *sum, double part)
{
    double count = 0, below = 0;
    for (size_t i = 0; i < ACCOUNT_BUCKETS; i++)
        count += (double)sum->times[i];
    for (size_t i = 0; i < ACCOUNT_BUCKETS; i++) {
        below += (double)sum->times[i];
        if (sum->times[i] && below >= part * count)
            return time_of(i) < sum->max_ns ? time_of(i) : sum->max_ns;
    }
    return 0;
}

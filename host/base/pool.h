/*
 * pool - threads for tools.
 *
 * Threads are made when work comes and none is idle, up to `limit`; beyond it work waits
 * in order.  They are kept until pool_free().  All functions are thread-safe.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>

struct pool;

struct pool *pool_new(unsigned limit); /* makes no thread yet; NULL: no memory */
/* Runs work(argument) on a thread of the pool.  False when that cannot be promised. */
bool pool_submit(struct pool *pool, void (*work)(void *argument), void *argument);
/* Ends idle threads and waits up to grace_ms for the others and for what they have not yet
 * begun; what has not begun by then is dropped.  Returns how many are still at work: those
 * are left behind, with the memory they use.  NULL is fine. */
unsigned pool_free(struct pool *pool, int grace_ms);

#endif

/*
 * store_lock - who may run which session: one byte of a lock file for each.
 *
 * The kernel gives the lock back when its process ends, however that ends, so nothing is ever
 * stale.  Two stores of one process exclude each other as well.  A child that is forked holds
 * none.  Thread-safe.
 */
#ifndef CONVERSATION_STORE_LOCK_H
#define CONVERSATION_STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct store_lock {
    int fd; /* -1: none is held */
    struct store_lock *next;
};
#define STORE_LOCK_INIT {-1, NULL}

/* *held: somebody else has it (true is returned then, without the lock). */
bool store_lock_take(struct store_lock *lock, const char *path, int64_t number, bool *held,
                     struct error *error);
/* Waits for it. */
bool store_lock_wait(struct store_lock *lock, const char *path, int64_t number,
                     struct error *error);
void store_lock_drop(struct store_lock *lock);
/* Whether anybody holds it. */
bool store_lock_is_held(const char *path, int64_t number);

#endif

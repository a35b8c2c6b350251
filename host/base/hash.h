/*
 * hash - uthash, wrapped once: a seeded SipHash-1-3, and out of memory is no exit().
 *
 * Include this, never <uthash.h>.  When there is no memory the item is left out of the
 * table: test hash_added(item) after each HASH_ADD.  No locking inside: one owner thread, or
 * a lock of the owner's.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3 of the bytes under a key drawn once per process.  Thread-safe. */
uint64_t hash_bytes(const void *data, size_t length);

#define HASH_FUNCTION(key, length, value) ((value) = (unsigned)hash_bytes((key), (length)))
#define HASH_NONFATAL_OOM                 1

#include <uthash.h>

/* Whether the last HASH_ADD of this item (with its handle in `hh`) succeeded: uthash clears
 * the table pointer of an item that it could not add. */
#define hash_added(item) ((item)->hh.tbl != NULL)

#endif

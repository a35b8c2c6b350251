/*
 * arena - memory that dies together, with its turn or its call.
 *
 * Blocks are zeroed.  The first block may be storage of the caller's, so that a small
 * call allocates nothing.  Not thread-safe: whoever shares one locks around it.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    char *next; /* first free byte of the current block */
    char *end;
    struct arena_block *blocks;
};

/* `storage` may be NULL; otherwise it must outlive the arena. */
void arena_init(struct arena *arena, void *storage, size_t bytes);
void arena_release(struct arena *arena);

/* Zeroed, aligned for any type; NULL when there is no memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* A NUL-terminated copy of `length` bytes; NULL when there is no memory. */
char *arena_copy(struct arena *arena, const char *data, size_t length);

#endif

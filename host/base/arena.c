#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT   alignof(max_align_t)
#define FIRST_BLOCK ((size_t)1024)
#define LAST_BLOCK  ((size_t)1 << 20)

struct arena_block {
    alignas(max_align_t) struct arena_block *older;
    size_t bytes; /* usable, behind this header */
};

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void arena_init(struct arena *arena, void *storage, size_t bytes)
{
    *arena = (struct arena){0};
    size_t gap = (size_t)(-(uintptr_t)storage & (ALIGNMENT - 1));
    if (storage && bytes > gap) {
        arena->next = (char *)storage + gap;
        arena->end = (char *)storage + bytes;
    }
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    *arena = (struct arena){0};
}

static char *add_block(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = malloc(sizeof(*block) + bytes);
    if (!block)
        return NULL;
    *block = (struct arena_block){.older = arena->blocks, .bytes = bytes};
    arena->blocks = block;
    return (char *)(block + 1);
}

/* Blocks double, so that a large arena is a few blocks.  What would fill a block by
 * itself gets one by itself, and the rest of the current block stays in use. */
static char *take_slowly(struct arena *arena, size_t size)
{
    size_t bytes = arena->blocks ? arena->blocks->bytes * 2 : FIRST_BLOCK;
    if (bytes > LAST_BLOCK)
        bytes = LAST_BLOCK;
    if (size > bytes / 2)
        return add_block(arena, size);

    char *start = add_block(arena, bytes);
    if (!start)
        return NULL;
    arena->next = start + size;
    arena->end = start + bytes;
    return start;
}

static inline char *take(struct arena *arena, size_t bytes)
{
    size_t size = round_up(bytes ? bytes : 1);
    if (size < bytes)
        return NULL;
    if (size > (size_t)(arena->end - arena->next))
        return take_slowly(arena, size);
    char *start = arena->next;
    arena->next += size;
    return start;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    char *start = take(arena, bytes);
    return start ? memset(start, 0, bytes) : NULL;
}

char *arena_copy(struct arena *arena, const char *data, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = take(arena, length + 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, data, length);
    copy[length] = '\0';
    return copy;
}

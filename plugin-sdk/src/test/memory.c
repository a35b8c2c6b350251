/* Memory of a test.  One that has none left says so and ends: it could prove nothing. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool_piece {
    struct pool_piece *next;
    max_align_t bytes[];
};

static void *need(void *memory)
{
    if (!memory) {
        fputs("mortise_test: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *mortise__pool_take(struct pool *pool, size_t bytes)
{
    struct pool_piece *piece = need(calloc(1, sizeof(*piece) + bytes));
    piece->next = pool->newest;
    pool->newest = piece;
    return piece->bytes;
}

char *mortise__pool_copy(struct pool *pool, const void *bytes, size_t length)
{
    char *copy = mortise__pool_take(pool, length + 1);
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *mortise__pool_text(struct pool *pool, const char *text)
{
    return text ? mortise__pool_copy(pool, text, strlen(text)) : NULL;
}

void mortise__pool_release(struct pool *pool)
{
    struct pool_piece *piece = pool->newest;
    pool->newest = NULL;
    while (piece) {
        struct pool_piece *next = piece->next;
        free(piece);
        piece = next;
    }
}

void *mortise__list_add(struct list *list, size_t item_bytes)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = need(realloc(list->items, list->capacity * item_bytes));
    }
    char *item = (char *)list->items + list->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

void mortise__list_release(struct list *list)
{
    free(list->items);
    *list = (struct list){0};
}

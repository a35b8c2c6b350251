/*
 * array - a growable array of any element type, with typed access kept by macros.
 *
 *     struct { struct item **items; size_t count, capacity; } list = {0};
 *     if (!array_reserve(&list, 1)) …no memory…
 *     list.items[list.count++] = item;
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Grows the array whose pointer lies at `items` (element size `size`) so that `more` further
 * elements fit behind `count`.  False, and nothing changed, when there is no memory. */
bool array_grow(void *items, size_t *capacity, size_t count, size_t more, size_t size);

#define array_reserve(array, more)                                                                 \
    array_grow(&(array)->items, &(array)->capacity, (array)->count, (more), sizeof(*(array)->items))

#endif

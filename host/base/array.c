#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)8)

bool array_grow(void *items, size_t *capacity, size_t count, size_t more, size_t size)
{
    if (more > SIZE_MAX - count)
        return false;
    size_t needed = count + more;
    if (needed <= *capacity)
        return true;

    size_t wanted = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : needed;
    if (wanted < needed)
        wanted = needed;
    if (wanted < FIRST_CAPACITY)
        wanted = FIRST_CAPACITY;
    if (wanted > SIZE_MAX / size)
        return false;

    /* The pointer's own type is the caller's: memcpy reads and writes it whatever it is. */
    void *old;
    memcpy(&old, items, sizeof(old));
    void *grown = realloc(old, wanted * size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof(grown));
    *capacity = wanted;
    return true;
}

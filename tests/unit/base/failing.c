#include "failing.h"

#include <stddef.h>
#include <stdlib.h>

#include <jansson.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static _Thread_local int armed, left, failed;

/* jansson is a library of its own, whose allocations are not those of the code under test. */
void fail_after(int count)
{
    json_set_alloc_funcs(__wrap_malloc, free);
    armed = 1;
    left = count;
    failed = 0;
}

int fail_never(void)
{
    armed = 0;
    return failed;
}

static int fails(void)
{
    if (!armed || left-- > 0)
        return 0;
    left = 0;
    failed = 1;
    return 1;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

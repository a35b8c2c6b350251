#include "failing.h"

#include <stddef.h>
#include <stdlib.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static _Thread_local int armed, left, failed;

/* jansson, where a test has it, is a library of its own: what it allocates is not wrapped. */
void json_set_alloc_funcs(void *(*allocate)(size_t bytes), void (*release)(void *memory))
    __attribute__((weak));

void fail_after(int count)
{
    if (json_set_alloc_funcs)
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

#include "base/json_memory.h"

#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum { RESERVE_BYTES = 4096 };

static _Thread_local struct {
    bool reading;
    bool failed;
    size_t used;
    alignas(max_align_t) char bytes[RESERVE_BYTES];
} reserve;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory || !reserve.reading)
        return memory;
    reserve.failed = true;
    size_t rounded = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (rounded < bytes || rounded > sizeof(reserve.bytes) - reserve.used)
        return NULL;
    memory = reserve.bytes + reserve.used;
    reserve.used += rounded;
    return memory;
}

static void release(void *memory)
{
    uintptr_t place = (uintptr_t)memory;
    uintptr_t first = (uintptr_t)reserve.bytes;
    if (place < first || place >= first + sizeof(reserve.bytes))
        free(memory);
}

static void install(void)
{
    json_set_alloc_funcs(allocate, release);
}

void json_memory_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    reserve.reading = true;
    reserve.failed = false;
    reserve.used = 0;
}

json_t *json_memory_end(json_t *value, bool *no_memory)
{
    *no_memory = reserve.failed;
    if (reserve.failed) {
        json_decref(value);
        value = NULL;
    }
    reserve.reading = false;
    return value;
}

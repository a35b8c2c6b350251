/*
 * For LD_PRELOAD: makes an allocation fail.
 *
 *     FAIL_MALLOC=n          the n-th one, from 1, and no other
 *     FAIL_MALLOC=n+         the n-th one and all that follow
 *     FAIL_MALLOC_SITES=FILE a line for each: the innermost calls that led to it, as a number
 *
 * What happens before the program's own start does not count.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

enum { FRAMES = 8 }; /* the innermost, of which these functions are two or three */

static atomic_bool counting;
static atomic_long number;
static long failing; /* 0: none */
static int all_that_follow;
static int sites = -1; /* or the file */

__attribute__((constructor)) static void begin(void)
{
    const char *wanted = getenv("FAIL_MALLOC");
    const char *path = getenv("FAIL_MALLOC_SITES");
    char *end = NULL;
    void *frame;
    if (wanted)
        failing = strtol(wanted, &end, 10);
    all_that_follow = end && *end == '+';
    if (path) {
        sites = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
        if (sites < 0)
            _exit(99);
        backtrace(&frame, 1); /* the first time it loads a library */
    }
    atomic_store(&counting, 1);
}

__attribute__((destructor)) static void stop(void)
{
    atomic_store(&counting, 0);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    for (const unsigned char *p = bytes; length > 0; length--)
        hash = (hash ^ *p++) * UINT64_C(1099511628211);
    return hash;
}

/* Places are told by their objects' names: where an object lies differs from run to run. */
static void tell_site(long n)
{
    void *frames[FRAMES];
    char line[64];
    Dl_info info;
    uint64_t hash = UINT64_C(14695981039346656037);
    int count = backtrace(frames, FRAMES);
    for (int i = 0; i < count; i++)
        if (dladdr(frames[i], &info) && info.dli_fname) {
            uintptr_t at = (uintptr_t)frames[i] - (uintptr_t)info.dli_fbase;
            hash = mix(hash, info.dli_fname, strlen(info.dli_fname));
            hash = mix(hash, &at, sizeof(at));
        }
    int length = snprintf(line, sizeof(line), "%ld %016llx\n", n, (unsigned long long)hash);
    if (write(sites, line, (size_t)length) != length)
        _exit(99);
}

static int fails(void)
{
    if (!atomic_load(&counting))
        return 0;
    long n = atomic_fetch_add(&number, 1) + 1;
    if (sites >= 0)
        tell_site(n);
    if (!failing || n < failing || (n > failing && !all_that_follow))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(old, bytes);
}

/*
 * For LD_PRELOAD: makes an allocation fail.
 *
 *     FAIL_MALLOC=n          the n-th one, from 1, and no other
 *     FAIL_MALLOC=n+         the n-th one and all that follow
 *     FAIL_MALLOC_COUNT=FILE at the end, how many there were
 *
 * What happens before the program's own start does not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static atomic_bool counting;
static atomic_long number;
static long failing; /* 0: none */
static int all_that_follow;

__attribute__((constructor)) static void begin(void)
{
    const char *wanted = getenv("FAIL_MALLOC");
    char *end = NULL;
    if (wanted)
        failing = strtol(wanted, &end, 10);
    all_that_follow = end && *end == '+';
    atomic_store(&counting, 1);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_MALLOC_COUNT");
    char line[32];
    atomic_store(&counting, 0);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof(line), "%ld", atomic_load(&number));
    if (write(fd, line, (size_t)length) != length)
        _exit(99);
    close(fd);
}

static int fails(void)
{
    if (!atomic_load(&counting))
        return 0;
    long n = atomic_fetch_add(&number, 1) + 1;
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

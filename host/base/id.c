#include "base/id.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define RANDOM_CHARS 24
#define PREFIX_MAX   12

_Static_assert(PREFIX_MAX + 1 + RANDOM_CHARS + 1 <= ID_SIZE, "an id must fit");

/* Each thread draws ahead for itself, so there is no lock.  Ten ids; below the 256 bytes
 * that getrandom() promises to deliver at once. */
static _Thread_local unsigned char drawn[10 * RANDOM_CHARS];
static _Thread_local size_t left;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Parent and child would make the same ids from what the parent has drawn. */
static void forget_after_fork(void)
{
    left = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_after_fork);
}

/* An id that can be guessed is worse than none, and getrandom() cannot fail on any Linux
 * that this program runs on: so there is no way around it. */
static void draw(void)
{
    pthread_once(&once, watch_forks);
    while (getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
        if (errno != EINTR)
            abort();
    left = sizeof(drawn);
}

void id_make(char out[ID_SIZE], const char *prefix)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789_-";
    size_t length = strnlen(prefix, PREFIX_MAX);
    memcpy(out, prefix, length);
    out[length++] = '_';

    if (!left)
        draw();
    for (int i = 0; i < RANDOM_CHARS; i++)
        out[length++] = alphabet[drawn[--left] & 63];
    out[length] = '\0';
}

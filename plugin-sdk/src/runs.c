/* The state of a run. */
#include "internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_KEPT = 1024 };

/* One run, newest first in a list; `key` is the run's name, behind the state. */
struct run {
    struct run *next;
    char *key;
    max_align_t state[];
};

static void lock_runs(mortise_runs *runs)
{
    while (__atomic_exchange_n(&runs->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_runs(mortise_runs *runs)
{
    __atomic_store_n(&runs->lock, 0, __ATOMIC_RELEASE);
}

static struct run *new_run(const char *key, size_t size)
{
    size_t length = strlen(key) + 1;
    if (size > SIZE_MAX - sizeof(struct run) - length)
        return NULL;
    struct run *run = calloc(1, sizeof(*run) + size + length);
    if (run) {
        run->key = (char *)run->state + size;
        memcpy(run->key, key, length);
    }
    return run;
}

/* Takes the run `key` out of the list; NULL: it is not there.  Drops what is too old. */
static struct run *take_run(mortise_runs *runs, const char *key)
{
    struct run *first = runs->newest, **place = &first, *run;
    size_t count = 0;
    while ((run = *place) && strcmp(run->key, key) != 0 && ++count < RUNS_KEPT)
        place = &run->next;
    if (run)
        *place = run->next;
    runs->newest = first;
    if (run && strcmp(run->key, key) != 0) {
        free(run);
        run = NULL;
    }
    return run;
}

void *mortise_run_state(mortise_runs *runs, mortise_hook *hook, size_t size)
{
    const char *key = mortise_hook_context(hook, "invocation");
    if (!key)
        key = "";
    lock_runs(runs);
    struct run *run = take_run(runs, key);
    if (!run)
        run = new_run(key, size);
    if (run) {
        run->next = runs->newest;
        runs->newest = run;
    }
    unlock_runs(runs);
    return run ? run->state : NULL;
}

void mortise_runs_release(mortise_runs *runs)
{
    struct run *run = runs->newest;
    runs->newest = NULL;
    while (run) {
        struct run *next = run->next;
        free(run);
        run = next;
    }
}

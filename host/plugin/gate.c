#include "plugin/gate.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "plugin/registry.h"

#define LOOK_NS 20000000 /* how often a waiting call looks whether it was cancelled */

struct tool_gate {
    pthread_mutex_t lock;
    pthread_cond_t open;
    bool taken;
};

struct tool_gate *gate_new(void)
{
    struct tool_gate *gate = calloc(1, sizeof(*gate));
    if (!gate)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->open, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return gate;
}

void gate_free(struct tool_gate *gate)
{
    if (!gate)
        return;
    pthread_cond_destroy(&gate->open);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

static void wait_a_little_locked(struct tool_gate *gate)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&gate->open, &gate->lock, &until);
}

bool tool_enter(const struct tool *tool, bool (*cancelled)(void *data), void *data)
{
    struct tool_gate *gate = tool->gate;
    if (!gate)
        return true;
    pthread_mutex_lock(&gate->lock);
    while (gate->taken) {
        /* Asked without the lock: it is the caller's code. */
        pthread_mutex_unlock(&gate->lock);
        if (cancelled && cancelled(data))
            return false;
        pthread_mutex_lock(&gate->lock);
        if (gate->taken)
            wait_a_little_locked(gate);
    }
    gate->taken = true;
    pthread_mutex_unlock(&gate->lock);
    return true;
}

void tool_leave(const struct tool *tool)
{
    struct tool_gate *gate = tool->gate;
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    gate->taken = false;
    pthread_cond_signal(&gate->open);
    pthread_mutex_unlock(&gate->lock);
}

#include "plugin/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "plugin/registry.h"

#define LOOK_MS 20 /* how often a waiting call looks whether it was cancelled */

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
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->open, NULL);
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
    const struct timespec until = clock_after_ms(LOOK_MS);
    pthread_cond_clockwait(&gate->open, &gate->lock, CLOCK_MONOTONIC, &until);
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

/* isolation - how a plugin is kept apart from the host: not at all, or in a process of its own. */
#ifndef PLUGIN_ISOLATION_H
#define PLUGIN_ISOLATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct isolation {
    bool is_process;
    int64_t memory_bytes; /* what its process may have; 0: any amount */
    int64_t timeout_ms;   /* what a call or a hook may take; 0: any time */
};

static inline bool isolation_equal(const struct isolation *a, const struct isolation *b)
{
    return a->is_process == b->is_process &&
           (!a->is_process ||
            (a->memory_bytes == b->memory_bytes && a->timeout_ms == b->timeout_ms));
}

#endif

#include "tool/strategy.h"

#include <string.h>

#include "plugin/registry.h"

bool strategy_parse(const char *name, enum strategy *strategy)
{
    static const char *const names[] = {
        [STRATEGY_AUTO] = "auto",
        [STRATEGY_ORDERED] = "ordered",
        [STRATEGY_SEQUENTIAL] = "sequential",
        [STRATEGY_PARALLEL] = "parallel",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(name, names[i])) {
            *strategy = (enum strategy)i;
            return true;
        }
    }
    return false;
}

/* One flag alone is not enough: both are the author's word (F54). */
static bool is_safe(const struct plan *call)
{
    unsigned both = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE;
    return (call->tool->meta.flags & both) == both;
}

/* What is unsettled before a call, or anywhere. */
struct ahead {
    bool any;         /* before it */
    bool unsafe;      /* before it */
    bool safe_at_all; /* anywhere */
};

static bool may_start(enum strategy strategy, bool safe, const struct ahead *ahead)
{
    switch (strategy) {
    case STRATEGY_PARALLEL:
        return true;
    case STRATEGY_SEQUENTIAL:
        return !ahead->any;
    case STRATEGY_ORDERED:
        return safe ? !ahead->unsafe : !ahead->any;
    case STRATEGY_AUTO:
        break;
    }
    return safe || (!ahead->any && !ahead->safe_at_all);
}

static bool serial_is_busy(const struct plan *calls, size_t index)
{
    const struct tool *tool = calls[index].tool;
    for (size_t i = 0; (tool->meta.flags & MORTISE_SERIAL) && i < index; i++)
        if (calls[i].tool == tool && calls[i].state != PLAN_SETTLED)
            return true;
    return false;
}

size_t strategy_next(enum strategy strategy, const struct plan *calls, size_t count)
{
    struct ahead ahead = {0};
    for (size_t i = 0; i < count && !ahead.safe_at_all; i++)
        ahead.safe_at_all = calls[i].state != PLAN_SETTLED && is_safe(&calls[i]);

    for (size_t i = 0; i < count; i++) {
        if (calls[i].state == PLAN_SETTLED)
            continue;
        bool safe = is_safe(&calls[i]);
        if (calls[i].state == PLAN_WAITS && may_start(strategy, safe, &ahead) &&
            !serial_is_busy(calls, i))
            return i;
        ahead.any = true;
        ahead.unsafe |= !safe;
    }
    return count;
}

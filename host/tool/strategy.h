/*
 * strategy - which calls of a batch may start now (D8).
 *
 *   auto        read-only, concurrency-safe calls first and together; then the rest, one by one
 *   ordered     call order is kept; only neighbours that are both overlap
 *   sequential  one at a time, in call order
 *   parallel    everything at once; whoever chose it answers for it
 *
 * Two calls of one MORTISE_SERIAL tool never overlap under any of them.
 */
#ifndef TOOL_STRATEGY_H
#define TOOL_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>

struct tool;

enum strategy { STRATEGY_AUTO, STRATEGY_ORDERED, STRATEGY_SEQUENTIAL, STRATEGY_PARALLEL };
/* "auto", …; false: unknown. */
bool strategy_parse(const char *name, enum strategy *strategy);

enum plan_state { PLAN_WAITS, PLAN_RUNS, PLAN_SETTLED };

struct plan {
    const struct tool *tool; /* NULL only when settled */
    enum plan_state state;
};

/* The first call that may start now; `count` when none may. */
size_t strategy_next(enum strategy strategy, const struct plan *calls, size_t count);

#endif

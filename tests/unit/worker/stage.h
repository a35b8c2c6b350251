/*
 * stage - a worker with a scripted model, a few tools and hooks that a test sets.
 *
 * Tools: echo (replies with its arguments), fail, big (200 bytes), look (read-only).  Include after <cmocka.h>.
 */
#ifndef WORKER_STAGE_H
#define WORKER_STAGE_H

#include "worker/worker.h"

struct stage {
    struct registry *registry;
    struct client *client;
    struct pool *pool;
    struct cancel *cancel;
    struct worker_options options;
    struct worker *worker;
    struct worker_result result;
    struct text trace; /* the names of the events that a program would see */
    unsigned calls;    /* how often a tool ran */
};

/* `script` is the text of a script file's "turns"; `hooks` may be NULL. */
void stage_open(struct stage *stage, const char *turns, const mortise_hooks *hooks);
void stage_close(struct stage *stage);

/* One run; returns its status. */
enum worker_status stage_run(struct stage *stage, const char *prompt);
enum worker_status stage_resume(struct stage *stage);
/* Another worker with stage->options, which a test may have changed. */
void stage_renew(struct stage *stage);

/* Item `index` as neutral JSON, valid until the next call; NULL beyond the last. */
const char *stage_item(struct stage *stage, size_t index);
size_t stage_item_count(const struct stage *stage);

#endif

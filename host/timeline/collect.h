/*
 * collect - gathers one response from its events: text, reasoning, refusal and calls.
 *
 * A block is keyed by its index.  Registered on the timeline like any other handler;
 * emptied by collect_begin() before each request and by EVENT_RESET between attempts.
 */
#ifndef TIMELINE_COLLECT_H
#define TIMELINE_COLLECT_H

#include "base/text.h"
#include "timeline/timeline.h"

struct collected_block {
    enum block_kind kind;
    unsigned index;
    char *id;   /* TOOL_USE */
    char *name; /* TOOL_USE */
    struct text text;
    bool open;
};

struct collect {
    struct collected_block *items; /* in the order in which they were opened */
    size_t count;
    size_t capacity;
    struct text verbatim; /* empty: none */
    enum stop_reason stop;
    struct usage usage;
    bool failed; /* out of memory: what was gathered is not whole */
};

void collect_init(struct collect *collect);
void collect_release(struct collect *collect);
bool collect_register(struct collect *collect, struct timeline *timeline);
void collect_begin(struct collect *collect);

/* Joins the text of all blocks of a kind. */
void collect_text(const struct collect *collect, enum block_kind kind, struct text *out);

#endif

/* jsonl - a run for programs: each event as one line of JSON, secrets left out. */
#ifndef FRONTEND_JSONL_H
#define FRONTEND_JSONL_H

#include "frontend/output.h"
#include "timeline/timeline.h"

struct jsonl {
    struct output *output;
    struct text line;
};

/* Registers on the timeline; both outlive the run. */
bool jsonl_register(struct jsonl *jsonl, struct output *output, struct timeline *timeline);
void jsonl_release(struct jsonl *jsonl);

#endif

/*
 * print - a run for people: the answer on one stream as it comes, everything else on another.
 *
 * An answer for a terminal with colours is rendered from Markdown (markdown.h); any other is
 * written as the model said it.
 */
#ifndef FRONTEND_PRINT_H
#define FRONTEND_PRINT_H

#include "frontend/markdown.h"
#include "frontend/output.h"
#include "frontend/progress.h"
#include "timeline/timeline.h"

enum print_detail {
    PRINT_QUIET,  /* the answer, and errors */
    PRINT_NORMAL, /* tool calls with their duration, retries, notices */
    PRINT_MORE,   /* reasoning, hooks, usage */
    PRINT_ALL     /* arguments and results whole */
};

struct print {
    struct output *answer; /* standard output */
    struct output *notes;  /* standard error */
    enum print_detail detail;
    bool rendered;
    struct markdown markdown;
    struct progress_line progress;
    struct text stream; /* id and stream whose line the notes are in, if they are in one */
};

/* Registers on the timeline; all three outlive the run. */
bool print_register(struct print *print, struct output *answer, struct output *notes,
                    enum print_detail detail, struct timeline *timeline);
void print_release(struct print *print); /* an empty one is fine */

#endif

/*
 * progress - how far the calls that run are: one line on a terminal, drawn over itself.
 *
 *     build [######....]  60% linking    tests  12%    +3 more
 *
 * The line is the output's transient one, so whatever else is written erases it, and the next
 * progress_draw() brings it back.  Elsewhere a line is written now and then: progress_is_news()
 * tells when.  One thread.
 */
#ifndef FRONTEND_PROGRESS_H
#define FRONTEND_PROGRESS_H

#include "frontend/output.h"
#include "timeline/event.h"

struct progress_call {
    char *id;
    struct text name;
    struct text message; /* visible, without secrets, in one line */
    double done, total;
};

struct progress_line {
    struct output *output;
    struct progress_call *items; /* those that told how far they are, oldest first */
    size_t count;
    size_t capacity;
    struct text drawn; /* the line as it was drawn last */
};

void progress_init(struct progress_line *line, struct output *output);
void progress_release(struct progress_line *line);

/* Keeps what a call told (numeric progress only).  True when it is worth a line of its own where
 * nothing can be drawn over: the first time, with another message, and at every tenth. */
bool progress_is_news(struct progress_line *line, const struct tool_progress *told);
/* The call has its result. */
void progress_forget(struct progress_line *line, const char *id);
/* Draws the line if the output is a terminal and shows another one, or none. */
void progress_draw(struct progress_line *line);

/* " 50%", or what is done when the total is not known. */
void progress_write_number(struct text *out, double done, double total);

#endif

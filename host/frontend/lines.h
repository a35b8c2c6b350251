/*
 * lines - the lines of an input that is no terminal, as they are; a reading can be stopped.
 *
 * One thread.
 */
#ifndef FRONTEND_LINES_H
#define FRONTEND_LINES_H

#include "base/cancel.h"
#include "frontend/editor.h"

struct lines {
    int fd;
    struct text bytes; /* what was read */
    size_t taken;      /* so much of it was given */
};

void lines_release(struct lines *lines); /* leaves the descriptor open */

/* The next line, without its end; the last one needs none.  `stop` triggered: EDITOR_STOPPED, and
 * what was read so far is there for the next reading. */
enum editor_end lines_read(struct lines *lines, const struct cancel *stop, struct text *line);

#endif

/*
 * cell - a process that has shut itself in and waits for its call.
 *
 * Making one takes longer than most calls, so it may be made before there is a call.  It is forked
 * from a process with one thread, has a folder of its own, and nothing else of that process but
 * what is in its memory.  It runs one call and ends.
 */
#ifndef REMOTE_CELL_H
#define REMOTE_CELL_H

#include <sys/types.h>

#include "base/error.h"
#include "plugin/registry.h"
#include "sandbox/sandbox.h"

/* What cells of one process have in common. */
struct cell_origin {
    struct plugin *plugin;
    const char *scratch; /* the folder of their folders */
    int nowhere;         /* /dev/null */
};

struct cell {
    char *folder; /* NULL: there is none */
    pid_t pid;
    int fd;         /* over which it gets its lane */
    uint64_t stamp; /* cell_stamp() when it was made */
};

/* False with *error: there is none.  *refused: because there is no sandbox. */
bool cell_make(struct cell *cell, const struct cell_origin *origin,
               const struct sandbox_rules *rules, bool *refused, struct error *error);
/* Which files the paths of rules stand for: a sandbox knows files, not paths. */
uint64_t cell_stamp(const struct sandbox_rules *rules);
/* Gives it a lane and its cancel_fd.  False: the cell is not there any more. */
bool cell_hand_over(const struct cell *cell, const int lane_fds[2]);
/* Ends one that has no call; one that is none is fine. */
void cell_drop(struct cell *cell);
/* Removes the folder of one that is over, and frees its name. */
void cell_drop_folder(char *folder);

#endif

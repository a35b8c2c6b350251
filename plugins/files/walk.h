/*
 * walk - goes through a folder and what is below it, in the order of names, and never through a
 * symbolic link.
 *
 * Left out, unless asked for: hidden names, what .gitignore files leave out (ignore.h), and always
 * what is in a folder called .git.
 */
#ifndef FILES_WALK_H
#define FILES_WALK_H

#include "place.h"

enum { WALK_DEPTH = 100, WALK_ENTRIES = 1000000 };

struct walk_entry {
    int folder; /* the descriptor of the folder that it is in */
    const char *name;
    const char *path;   /* from the root */
    const char *below;  /* from where the walk began */
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK or another */
    int depth;          /* 1: directly in the folder */
};

enum walk_next { WALK_ON, WALK_OVER /* not into this folder */, WALK_STOP };

struct walk {
    mortise_call *call;
    const struct place *place;
    bool hidden, ignored; /* show them, too */
    bool by_folders;      /* folders before files */
    enum walk_next (*visit)(void *data, const struct walk_entry *entry);
    void (*leave)(void *data, int depth, size_t left_out); /* behind a folder; may be NULL */
    void *data;
    size_t most; /* entries of one folder that are visited; 0: all */

    /* what came of it */
    size_t entries; /* looked at */
    bool is_cut;    /* there were more than WALK_ENTRIES, or folders too deep */
    bool is_cancelled;
    size_t unreadable; /* folders that could not be opened */
    uid_t owner;       /* of the root */
};

/* 0, or the errno of the folder where it begins.  Entries that vanish meanwhile are left out. */
int walk_run(struct walk *walk);

#endif

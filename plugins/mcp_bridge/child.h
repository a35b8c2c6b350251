/*
 * child - the process of a server that is spoken to over pipes: started without a shell, in a
 * process group of its own, with few variables of this process and no descriptor; ended with all
 * that it has started in that group.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"

struct child {
    pid_t pid;
    int in, out, err; /* of its standard streams: this end, not blocking */
    int ended;        /* readable once it has ended; -1: this system cannot tell */
};

/* False with the reason in `problem`: nothing runs, nothing is open. */
bool child_start(struct child *child, const struct server_config *config, char *problem,
                 size_t size);
/* Whether it has ended; *how as "exit status 1", if it has. */
bool child_has_ended(const struct child *child, char *how, size_t size);
/* Closes its input, waits `patience_ms` for its end, as long again after SIGTERM, and kills.  What
 * it still writes is read and lost.  Nothing of it is left afterwards. */
void child_end(struct child *child, int64_t patience_ms);

#endif

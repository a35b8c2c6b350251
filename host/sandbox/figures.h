/* figures - how much memory and how many threads processes have, from /proc. */
#ifndef SANDBOX_FIGURES_H
#define SANDBOX_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct figures {
    uint64_t memory_bytes; /* in memory or swapped out, with the tables of pages */
    unsigned tasks;        /* threads */
    unsigned processes;
};

/* False with errno: it is not there, or cannot be seen. */
bool figures_of_process(pid_t process, struct figures *figures);

/* The process and all others of the session that it leads, added up; stops when there are more than
 * `most_tasks`. */
bool figures_of_session(pid_t process, unsigned most_tasks, struct figures *figures);

/* What is in a folder, folders and links included; stops when there is more than `most_files` or
 * `most_bytes`.  What cannot be looked into counts as more than that. */
struct disk_figures {
    uint64_t bytes; /* taken on the disk */
    uint64_t files;
};
void figures_of_folder(const char *path, uint64_t most_bytes, uint64_t most_files,
                       struct disk_figures *figures);

#endif

/*
 * sandbox - rules for a child process, what is made of them once, and the way into it.
 *
 * A parent makes a struct sandbox of its rules, forks, and the child shuts itself in with
 * sandbox_enter() before it runs anything foreign; sandbox_watch.h is the parent's eye on it.
 * Every layer of the required set (layer.h) is entered, or the child is told which one failed and
 * must end: there is no sandbox with a hole.
 *
 * What no layer takes away: the child sees the memory that it was forked with; may ask for the size
 * and the times of any file whose name it knows, for where a link leads, and whether a process is
 * there; may lock what it may read; and may use some kernel memory for each of its descriptors and
 * processes.  So fork it from a process that never had a secret, with an environment that is for
 * it, leave no terminal and no socket of datagrams open for it, and limit both.
 *
 * sandbox_prepare() is thread-safe; a struct sandbox is only read once it is made.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "sandbox/layer.h"

/* What may be run that was not in memory before. */
enum sandbox_code {
    SANDBOX_CODE_FIXED, /* nothing: no memory becomes executable */
    SANDBOX_CODE_FILES, /* libraries and programs: files, mapped unwritable.  Of what it may read
                         * it can run all, also what it wrote: a program's loader will do that */
    SANDBOX_CODE_ANY    /* what a compiler makes while it runs (JIT) */
};

enum sandbox_namespaces {
    SANDBOX_NAMESPACES_NONE,
    SANDBOX_NAMESPACES_TRIED, /* where the system allows them */
    SANDBOX_NAMESPACES_REQUIRED
};

/* 0: no limit. */
struct sandbox_limits {
    int64_t wall_ms;
    int64_t cpu_s;          /* of each process */
    uint64_t memory_bytes;  /* of all processes together, with what they were forked with, what is
                             * swapped out and the tables of pages; looked at every 5 ms, or more
                             * rarely where the child may fork on a machine with many processes */
    uint64_t address_bytes; /* of each process; some engines reserve far more than they use */
    uint64_t file_bytes;    /* of one file */
    uint64_t output_bytes;  /* as told to sandbox_watch_output() */
    uint64_t disk_bytes;    /* in the writable folders, all together; what is removed while it is
                             * open or mapped is there and not seen, unless files are `lasting` */
    uint64_t disk_files;    /* the same */
    unsigned processes;     /* with their threads */
    unsigned descriptors;   /* open at once, of each process */
};

/* Lists of paths end with NULL; NULL is an empty list.  A readable or executable path that does
 * not exist is passed over; a folder stands for all that is below it. */
struct sandbox_rules {
    const char *const *readable;
    const char *const *writable;   /* also readable */
    const char *const *executable; /* also readable; a program needs its loader and its libraries */
    bool may_fork;                 /* threads are always allowed */
    bool network;                  /* TCP and UDP */
    bool lasting; /* what is in writable folders stays: nothing is removed, moved or replaced */
    bool links;   /* symbolic links in writable folders: whoever reads there must not follow them */
    bool
        modes; /* chmod() and times of files: of any that the user owns, for no layer knows paths */
    enum sandbox_code code; /* at least FILES where something is executable */
    enum sandbox_namespaces namespaces;
    unsigned keep_descriptors; /* those below this number stay open */
    struct sandbox_limits limits;
};

struct sandbox;

/* NULL with *error that names the missing layer or the path.  The rules are not kept. */
struct sandbox *sandbox_prepare(const struct sandbox_rules *rules, struct error *error);
void sandbox_free(struct sandbox *sandbox); /* NULL is fine */

/* In a forked child, with one thread: shuts it in.  `parent` is getpid() of before the fork: when
 * the thread that forked ends, the child is killed.  The child leads a session and a process group
 * of its own, which it cannot leave.  Safe between fork() and exec(); takes no lock and no memory.
 *
 * SANDBOX_NO_LAYER when all is well; otherwise the layer that failed, with errno, and the child
 * must _exit().
 *
 * With namespaces and may_fork it returns in a grandchild, whose end is passed on by the process
 * that called it; when any of the three is killed, all processes inside are.  Without namespaces
 * what the child has started, or a program that a second thread of it has become, may outlive a
 * parent that is killed, until its own limits. */
enum sandbox_layer sandbox_enter(const struct sandbox *sandbox, pid_t parent);

#endif

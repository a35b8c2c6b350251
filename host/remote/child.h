/*
 * child - the process of one plugin, as the host sees it: started, watched, ended.
 *
 * A process is this binary executed again (serve.h), not a copy of this one: it has nothing of the
 * host's memory, and costs the same however large the host is.  All are started by one thread, the
 * keeper, which lives as long as the host: a process dies with the thread that made it.  The keeper
 * also hands on what a process logs and prints, gives it its secrets, looks at its memory, and
 * notices when it ends.  What is started is the guard of the plugin's process (guard.h), in a session
 * of its own: it ends with it and as it, and nothing that came of it is left.
 *
 * Reference counted and thread-safe.
 */
#ifndef REMOTE_CHILD_H
#define REMOTE_CHILD_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/error.h"
#include "plugin/host_api.h"
#include "remote/parcel.h"
#include "remote/serve.h"

/* Between sockets that are closed and a process that is over, on a machine that is busy. */
#define CHILD_DYING_MS 3000

struct lane;

struct child {
    atomic_uint refs;
    atomic_bool is_over; /* its end was noticed */
    pid_t pid;   /* the guard's */
    int pidfd;   /* readable when it is over */
    int control; /* messages beside its calls */
    int output;  /* what it prints; the keeper's */
    int64_t memory_bytes; /* more is too much; 0: no limit */
    bool is_sandboxed;
    int64_t look_ms; /* the keeper's: when it looks at the session next */
    bool has_no_network; /* and may not ask the host for it either */
    bool is_bare;  /* its environment has nothing of this process's */
    char *scratch; /* the folder of the folders of its calls, which goes with it; or NULL */
    struct parcel_in in;    /* of `control`: whoever loads it, then the keeper */
    int64_t closed_ms;      /* when the other end of that was closed; 0; the keeper's */

    pthread_mutex_t lock; /* for everything below, and for writing to `control` */
    struct host_api *api; /* NULL: the plugin is gone, or the process is */
    char *name;           /* of its file, for what it prints */
    bool is_reaped;
    char why[160];   /* it was ended on purpose; "" */
    char death[256]; /* once it is reaped: "was killed by signal 11 (Segmentation fault)" */
    struct lane *idle; /* lanes that no call uses */
    unsigned fetchers; /* threads of fetcher.h, each of which has a reference */
    pthread_cond_t fetcher_ended;
    size_t printed;    /* bytes of its output that were handed on */
    struct text line;  /* of its output, not yet whole; the keeper's */
};

/* Starts the process; `path` is only shown.  Not watched yet.  One in a sandbox, or for calls in
 * sandboxes, has nothing of this process's environment; the latter has a folder. */
struct child *child_start(const char *path, struct host_api *api, int64_t memory_bytes,
                          enum serve_for purpose, struct error *error);
void child_watch(struct child *child); /* from now on by the keeper */
struct child *child_ref(struct child *child);
void child_unref(struct child *child); /* NULL is fine; the last one ends it */

/* Ends it, if it is not over; `why` ("took longer than 5 s") is kept of the first who does. */
void child_kill(struct child *child, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Waits until it is over, which it is already or has to be. */
void child_reap(struct child *child);
/* The same, and until the keeper has heard what it said last. */
void child_finish(struct child *child);
/* Whether a descriptor of it becomes readable within that time (-1: any), whatever signals come. */
bool child_wait_readable(int fd, int timeout_ms);
/* Whether it ends within that time. */
bool child_ends(const struct child *child, int timeout_ms);
/* A line for the log, over any socket of it.  False: it is wrong. */
bool child_hear_log(struct parcel *message);
/* What it says on `control`.  False: that is wrong. */
bool child_hear(struct child *child, struct parcel *message);

/* For the keeper. */
bool child_take_output(struct child *child); /* false: there will be no more */
void child_check_memory(struct child *child);

/* The program that processes run, which is this one; tests have another. */
void child_set_program(const char *path);

#endif

/*
 * job - a command with all the processes that come of it.
 *
 *     host ── supervisor ── parent ── shell ── …
 *
 * Supervisor and parent are forks that run no other program.  Whatever the command starts, in
 * whatever session or process group, is a descendant of the supervisor and stays it: it is their
 * subreaper.  It ends them all when the host closes `lifeline` (or is gone, however it ended), and
 * when some are left a second after the shell's end.  The parent waits for the shell: a command
 * that kills its own parent kills that one, and not the supervisor.  Only async-signal-safe
 * functions run in it, since the host has threads.  None of the command's processes has a
 * descriptor of the host's, its terminal, or its process group.
 *
 * IN A SANDBOX of the call's own a supervisor may do none of that, and need not: nothing leaves the
 * session there, and all that is left of a call is killed with it.  There it only waits.
 *
 * One thread per job, and the thread that started it lives as long as it.
 */
#ifndef SHELL_JOB_H
#define SHELL_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct job_request {
    const char *shell; /* the path of a program that takes -c COMMAND */
    const char *command;
    char *const *environment;
    int cwd; /* a descriptor of a folder */
    bool is_confined; /* the call is in a sandbox of its own */
};

/* What the supervisor tells, each a job_report. */
enum job_news {
    JOB_NOT_STARTED = 1, /* value: errno */
    JOB_SHELL_ENDED,     /* value: as of waitpid() */
    JOB_LEFT,            /* value: how many could not be killed */
    JOB_GONE             /* the last; value: how many had to be killed, -1: some */
};
struct job_report {
    int news, value;
};

/* Descriptors of the host: all are readable at some time, then at their end. */
struct job {
    pid_t supervisor;
    int out, err, reports, lifeline;
};

/* False with errno set: nothing was started. */
bool job_start(struct job *job, const struct job_request *request);
/* Has the supervisor end everything.  It reports JOB_GONE when that is done. */
void job_kill(struct job *job);
/* After JOB_GONE, or the end of `reports`. */
void job_release(struct job *job);

/* Of a clock that only goes forward; async-signal-safe. */
int64_t job_now_ms(void);

#endif

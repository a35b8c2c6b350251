/* supervise - what the supervisor of job.h does, in a child of a process with threads. */
#ifndef SHELL_SUPERVISE_H
#define SHELL_SUPERVISE_H

#include "job.h"

struct supervised_fds {
    int null, out, err, reports, lifeline, cwd;
};

/* With all signals blocked; never returns. */
_Noreturn void supervise(const struct job_request *request, pid_t host,
                         const struct supervised_fds *given);

#endif

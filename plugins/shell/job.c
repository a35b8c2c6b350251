#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervise.h"

struct pipes {
    int out[2], err[2], reports[2], lifeline[2], null;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pair(int pair[2])
{
    close_one(&pair[0]);
    close_one(&pair[1]);
}

static void close_pipes(struct pipes *pipes)
{
    close_pair(pipes->out);
    close_pair(pipes->err);
    close_pair(pipes->reports);
    close_pair(pipes->lifeline);
    close_one(&pipes->null);
}

static bool open_pipes(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, -1};
    pipes->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return pipes->null >= 0 && pipe2(pipes->out, O_CLOEXEC) == 0 &&
           pipe2(pipes->err, O_CLOEXEC) == 0 && pipe2(pipes->reports, O_CLOEXEC) == 0 &&
           pipe2(pipes->lifeline, O_CLOEXEC) == 0 &&
           fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) == 0;
}

/* No handler of the host's may run in the child, so all signals are blocked around the fork. */
static pid_t fork_supervisor(const struct pipes *pipes, const struct job_request *request)
{
    sigset_t all, before;
    pid_t host = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = _Fork();
    int problem = errno;
    if (pid == 0)
        supervise(request, host,
                  &(struct supervised_fds){.null = pipes->null,
                                           .out = pipes->out[1],
                                           .err = pipes->err[1],
                                           .reports = pipes->reports[1],
                                           .lifeline = pipes->lifeline[0],
                                           .cwd = request->cwd});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = problem;
    return pid;
}

bool job_start(struct job *job, const struct job_request *request)
{
    struct pipes pipes;
    pid_t pid = open_pipes(&pipes) ? fork_supervisor(&pipes, request) : -1;
    int problem = errno;
    if (pid > 0) {
        *job = (struct job){pid, pipes.out[0], pipes.err[0], pipes.reports[0], pipes.lifeline[1]};
        pipes.out[0] = pipes.err[0] = pipes.reports[0] = pipes.lifeline[1] = -1;
    }
    close_pipes(&pipes);
    errno = problem;
    return pid > 0;
}

void job_kill(struct job *job)
{
    close_one(&job->lifeline);
}

void job_release(struct job *job)
{
    close_one(&job->lifeline);
    while (waitpid(job->supervisor, NULL, 0) < 0 && errno == EINTR)
        ;
    close_one(&job->out);
    close_one(&job->err);
    close_one(&job->reports);
}

int64_t job_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

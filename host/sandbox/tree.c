#include "sandbox/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the first one inside tells the one outside: that by itself could not end by a signal. */
struct report {
    bool ended;
    int status; /* of the one that goes on */
};

static pid_t wait_for(pid_t which, int *status)
{
    pid_t ended;
    while ((ended = waitpid(which, status, 0)) < 0 && errno == EINTR) {
    }
    return ended;
}

void tree_end_as(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    sigset_t all;
    if (number) {
        signal(number, SIG_DFL);
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        kill(getpid(), number);
    }
    _exit(number ? 128 + number : WEXITSTATUS(status));
}

static void stay_outside(pid_t first, const struct report *report) __attribute__((noreturn));

static void stay_outside(pid_t first, const struct report *report)
{
    int status;
    wait_for(first, &status);
    tree_end_as(report->ended ? report->status : SIGKILL);
}

/* Takes the children of those that have ended; when it ends, the kernel ends all that are left. */
static void stay_first(pid_t other, struct report *report) __attribute__((noreturn));

static void stay_first(pid_t other, struct report *report)
{
    int status;
    close_range(0, ~0u, 0); /* what waits for their other ends does not wait for this process */
    pid_t ended;
    while ((ended = wait_for(-1, &status)) != other && ended > 0) {
    }
    report->status = status;
    report->ended = ended == other;
    _exit(0);
}

/* The process outside may have been killed before this one asked to be killed with it: then
 * nobody holds the other end of the pipe any more. */
static bool is_watched(int alive)
{
    struct pollfd look = {.fd = alive, .events = POLLIN};
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && poll(&look, 1, 0) == 0;
}

static void begin_inside(const int alive[2], struct report *report)
{
    close(alive[1]);
    if (!is_watched(alive[0]))
        _exit(EXIT_FAILURE);
    close(alive[0]);
    pid_t other = _Fork();
    if (other < 0)
        _exit(EXIT_FAILURE);
    if (other > 0)
        stay_first(other, report);
}

bool tree_enter(void)
{
    int alive[2];
    struct report *report =
        mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED || pipe2(alive, O_CLOEXEC) != 0)
        return false;
    signal(SIGCHLD, SIG_DFL); /* whoever ignores it learns of no end */
    pid_t first = _Fork();
    if (first < 0)
        return false;
    if (first == 0) {
        begin_inside(alive, report);
        munmap(report, sizeof(*report));
        return true;
    }
    close_range(0, (unsigned)alive[1] - 1, 0);
    close_range((unsigned)alive[1] + 1, ~0u, 0);
    stay_outside(first, report);
}

#include "remote/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sandbox/tree.h"

#define HOST_GONE SIGHUP
#define LOOK_MS   10
#define GRACE_MS  1000 /* what a plugin's process may do once the host is gone */
#define SWEEP_MS  2000 /* those that fork faster than they are found are given up */

struct guard {
    pid_t plugin;
    bool has_ended;
    int status;
    sigset_t signals;
};

/* Takes those that are over; false: nobody is left. */
static bool take_ended(struct guard *guard)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended != guard->plugin)
            continue;
        guard->has_ended = true;
        guard->status = status;
    }
    return ended == 0;
}

static int wait_for_signal(const struct guard *guard, int timeout_ms)
{
    const struct timespec time = {.tv_nsec = timeout_ms * 1000000L};
    return timeout_ms < 0 ? sigwaitinfo(&guard->signals, NULL)
                          : sigtimedwait(&guard->signals, NULL, &time);
}

/* Until the plugin's process is over, or shall be. */
static void watch(struct guard *guard)
{
    int64_t until_ms = -1;
    while (take_ended(guard) && !guard->has_ended) {
        int number = wait_for_signal(guard, until_ms < 0 ? -1 : LOOK_MS);
        if (number == GUARD_END || (until_ms >= 0 && clock_ms() >= until_ms))
            return;
        if (number == HOST_GONE && until_ms < 0)
            until_ms = clock_ms() + GRACE_MS;
    }
}

/* Its own children: those of one that ends become its own in turn. */
static void kill_children(void)
{
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0'; /* more than that are found the next time */
    char *at = text, *end;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
        kill((pid_t)pid, SIGKILL);
}

static void sweep(struct guard *guard)
{
    int64_t until_ms = clock_ms() + SWEEP_MS;
    if (!guard->has_ended)
        kill(guard->plugin, SIGKILL);
    while (take_ended(guard) && clock_ms() < until_ms) {
        kill_children();
        wait_for_signal(guard, LOOK_MS);
    }
}

static void stand(pid_t plugin) __attribute__((noreturn));

static void stand(pid_t plugin)
{
    struct guard guard = {.plugin = plugin, .status = SIGKILL};
    sigemptyset(&guard.signals);
    sigaddset(&guard.signals, SIGCHLD);
    sigaddset(&guard.signals, GUARD_END);
    sigaddset(&guard.signals, HOST_GONE);
    syscall(SYS_close_range, 0, ~0U, 0); /* who waits for their ends waits for the plugin's alone */
    watch(&guard);
    sweep(&guard);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    tree_end_as(guard.status);
}

pid_t guard_stand(pid_t *host)
{
    sigset_t all, before;
    *host = getppid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_PDEATHSIG, HOST_GONE, 0, 0, 0) != 0)
        return 0;
    pid_t guard = getpid(), plugin = fork();
    if (plugin < 0)
        return 0;
    if (plugin > 0)
        stand(plugin);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return getppid() == guard ? guard : 0; /* it may have been killed before */
}

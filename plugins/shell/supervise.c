/* Between _Fork() and _exit(): nothing here may allocate, lock, or use stdio. */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NULL_FD, OUT_FD, ERR_FD, REPORTS, LIFELINE, CWD, SIGNALS, FDS };
enum {
    LINGER_MS = 1000, /* what the shell left behind may end by itself */
    POLITE_MS = 300,  /* from SIGTERM to SIGKILL */
    GIVE_UP_MS = 5000,
    ROUND_MS = 10
};

struct supervisor {
    pid_t parent; /* of the shell; 0: it has ended */
    int ended;    /* of its descendants */
};

static void report(enum job_news news, int value)
{
    struct job_report report = {(int)news, value};
    while (write(REPORTS, &report, sizeof(report)) < 0 && errno == EINTR)
        ;
}

/* ---- the tree ---- */

enum { TREE_MAX = 4096, NAME_MAX_BYTES = 64 };

struct tree {
    pid_t pids[TREE_MAX];
    int count;
};

static char *put_number(char *at, pid_t number)
{
    char digits[16];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static int open_children(pid_t pid)
{
    char path[NAME_MAX_BYTES];
    char *at = put_number(put_text(path, "/proc/"), pid);
    at = put_text(put_number(put_text(at, "/task/"), pid), "/children");
    *at = '\0';
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Numbers with a space behind each.  What has no room is found in the next round. */
static void add_children(struct tree *tree, pid_t pid)
{
    char buffer[1024];
    ssize_t got;
    pid_t number = 0;
    int fd = open_children(pid);
    if (fd < 0)
        return;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (buffer[i] >= '0' && buffer[i] <= '9') {
                number = number * 10 + (buffer[i] - '0');
            } else {
                if (number > 0 && tree->count < TREE_MAX)
                    tree->pids[tree->count++] = number;
                number = 0;
            }
        }
    close(fd);
}

/* To every descendant and its whole process group, at once: what forks all the time has no time
 * to.  A group of a descendant has descendants only, as each session of theirs is their own.
 * Returns how many there are. */
static int signal_tree(int number)
{
    struct tree tree = {.count = 0};
    pid_t own = getpgrp();
    int found = 0;
    for (add_children(&tree, getpid()); tree.count > 0; found++) {
        pid_t pid = tree.pids[--tree.count];
        add_children(&tree, pid);
        pid_t group = getpgid(pid);
        if (group > 1 && group != own)
            kill(-group, number);
        kill(pid, number);
    }
    return found;
}

/* ---- ends ---- */

/* False: there is no descendant left. */
static bool reap(struct supervisor *self)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        self->ended++;
        if (pid == self->parent)
            self->parent = 0;
    }
    return pid == 0;
}

/* Waits for a signal, or for the host to want the end or be gone: true. */
static bool wait_for_news(int64_t ms)
{
    struct pollfd fds[] = {{.fd = SIGNALS, .events = POLLIN}, {.fd = LIFELINE, .events = POLLIN}};
    struct signalfd_siginfo info;
    poll(fds, 2, (int)ms);
    bool stop = fds[1].revents != 0;
    while (fds[0].revents && read(SIGNALS, &info, sizeof(info)) == (ssize_t)sizeof(info))
        stop = stop || info.ssi_signo != SIGCHLD;
    return stop;
}

static void pause_round(int64_t ms)
{
    struct signalfd_siginfo info;
    struct pollfd fd = {.fd = SIGNALS, .events = POLLIN};
    poll(&fd, 1, (int)ms);
    while (read(SIGNALS, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
}

static void kill_all(struct supervisor *self)
{
    int64_t until_ms = job_now_ms() + POLITE_MS, left_ms;
    signal_tree(SIGTERM);
    signal_tree(SIGCONT);
    while (reap(self) && (left_ms = until_ms - job_now_ms()) > 0)
        pause_round(left_ms);
    until_ms += GIVE_UP_MS;
    while (reap(self)) {
        int left = signal_tree(SIGKILL);
        if (job_now_ms() > until_ms) {
            report(JOB_LEFT, left);
            return;
        }
        pause_round(ROUND_MS);
    }
}

static void watch(struct supervisor *self, bool is_confined)
{
    bool stop = false;
    int64_t until_ms = 0;
    while (reap(self)) {
        if (!self->parent && !until_ms)
            until_ms = job_now_ms() + LINGER_MS;
        int64_t left_ms = self->parent ? -1 : until_ms - job_now_ms();
        stop = stop || (!self->parent && left_ms <= 0);
        if (stop)
            break;
        stop = wait_for_news(left_ms);
    }
    self->ended = 0;
    if (stop && is_confined)
        self->ended = -1;
    else if (stop)
        kill_all(self);
    report(JOB_GONE, self->ended);
}

/* ---- beginning ---- */

static void give_up(int problem)
{
    report(JOB_NOT_STARTED, problem);
    _exit(127);
}

static void close_from(unsigned first)
{
    struct rlimit limit;
    if (close_range(first, ~0U, 0) == 0)
        return;
    rlim_t last = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
    for (rlim_t fd = first; fd < last && fd < 1 << 20; fd++)
        close((int)fd);
}

/* To where the enum says, and nothing else stays open. */
static bool place(const struct supervised_fds *given)
{
    const int wanted[] = {given->null,    given->out,      given->err,
                          given->reports, given->lifeline, given->cwd};
    int safe[SIGNALS];
    for (int i = 0; i < SIGNALS; i++)
        if ((safe[i] = fcntl(wanted[i], F_DUPFD, FDS)) < 0)
            return false;
    for (int i = 0; i < SIGNALS; i++)
        if (dup2(safe[i], i) < 0 || (i > ERR_FD && fcntl(i, F_SETFD, FD_CLOEXEC) < 0))
            return false;
    close_from(SIGNALS);
    return true;
}

static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
}

static _Noreturn void run_shell(const struct job_request *request, pid_t parent)
{
    sigset_t none;
    char *const arguments[] = {(char *)(uintptr_t)request->shell, (char *)(uintptr_t) "-c",
                               (char *)(uintptr_t)request->command, NULL};
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (fchdir(CWD) == 0)
        execve(request->shell, arguments, request->environment);
    report(JOB_NOT_STARTED, errno);
    _exit(127);
}

/* The pipes are the command's alone: their end is that of the last that has them. */
static void leave_to_command(void)
{
    dup2(NULL_FD, OUT_FD);
    dup2(NULL_FD, ERR_FD);
    close(CWD);
}

/* Waits for the shell alone, so that what a command finds as its parent is not the supervisor. */
static _Noreturn void run_parent(const struct job_request *request, pid_t supervisor)
{
    int status;
    pid_t own = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t pid = getppid() == supervisor ? _Fork() : -1;
    if (pid == 0)
        run_shell(request, own);
    if (pid < 0)
        give_up(errno);
    leave_to_command();
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    report(JOB_SHELL_ENDED, status);
    _exit(0);
}

/* The signals of its end, and the end of its children: all are blocked, so none is lost. */
static bool listen(void)
{
    sigset_t news;
    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    sigaddset(&news, SIGTERM);
    sigaddset(&news, SIGINT);
    sigaddset(&news, SIGHUP);
    return signalfd(-1, &news, SFD_CLOEXEC | SFD_NONBLOCK) == SIGNALS;
}

/* Whether descendants can be found: without that nobody could end them. */
static bool finds_children(void)
{
    int children = open_children(getpid());
    if (children >= 0)
        close(children);
    return children >= 0;
}

_Noreturn void supervise(const struct job_request *request, pid_t host,
                         const struct supervised_fds *given)
{
    struct supervisor self = {0};
    if (!place(given))
        _exit(127);
    setsid();
    reset_signals();
    prctl(PR_SET_NAME, "mortise-shell");
    prctl(PR_SET_PDEATHSIG, request->is_confined ? SIGKILL : SIGTERM);
    if (getppid() != host)
        _exit(127);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || !listen())
        give_up(errno);
    if (!request->is_confined && !finds_children())
        give_up(errno);

    pid_t own = getpid();
    self.parent = _Fork();
    if (self.parent == 0)
        run_parent(request, own);
    if (self.parent < 0)
        give_up(errno);
    leave_to_command();
    watch(&self, request->is_confined);
    _exit(0);
}

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pause.h"

enum {
    GROUP_MS = 300, /* what the process has left behind may end by itself, after SIGTERM */
    ROUND_MS = 10,  /* where an end can only be looked for */
    READS = 16      /* at a time: what it writes may have no end */
};

/* ---- what it gets ---- */

static const char *const inherited[] = {"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};
enum { INHERITED = sizeof(inherited) / sizeof(*inherited) };

/* The value of a configured variable, or NULL. */
static const char *configured(const struct server_config *config, const char *name)
{
    size_t length = strlen(name);
    for (char **entry = config->environment; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

/* In one block for free(); those that are configured or the same for all are borrowed. */
static char **make_environment(const struct server_config *config)
{
    size_t count = 0, bytes = 0;
    while (config->environment && config->environment[count])
        count++;
    for (size_t i = 0; i < INHERITED; i++) {
        const char *value = getenv(inherited[i]);
        bytes += value ? strlen(inherited[i]) + strlen(value) + 2 : 0;
    }
    size_t pointers = (count + INHERITED + 2) * sizeof(char *), used = count;
    char **block = malloc(pointers + bytes);
    if (!block)
        return NULL;
    if (count > 0)
        memcpy(block, config->environment, count * sizeof(*block));
    char *at = (char *)block + pointers, *end = at + bytes;
    for (size_t i = 0; i < INHERITED; i++) {
        const char *value = getenv(inherited[i]);
        if (!value || configured(config, inherited[i]))
            continue;
        int length = snprintf(at, (size_t)(end - at), "%s=%s", inherited[i], value);
        block[used++] = at;
        at += length + 1;
    }
    static char bridged[] = CONFIG_BRIDGED "=1";
    block[used++] = bridged;
    block[used] = NULL;
    return block;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Where the program is, malloc'ed; a name without a slash is looked for as execvp() does, in the
 * PATH that it will have. */
static char *find_program(const struct server_config *config, char *problem, size_t size)
{
    const char *name = config->command[0], *path = configured(config, "PATH");
    char *place = NULL;
    if (strchr(name, '/')) {
        place = strdup(name);
        if (!place)
            snprintf(problem, size, "out of memory");
        return place;
    }
    path = path ? path : getenv("PATH");
    for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path; path += *path == ':') {
        size_t length = strcspn(path, ":"), bytes = length + strlen(name) + 2;
        char *candidate = length > 0 ? malloc(bytes) : NULL;
        if (candidate) {
            snprintf(candidate, bytes, "%.*s/%s", (int)length, path, name);
            if (is_program(candidate))
                return candidate;
            free(candidate);
        }
        path += length;
    }
    snprintf(problem, size, "'%.200s' was not found in PATH", name);
    return NULL;
}

/* ---- starting ---- */

struct pipes {
    int in[2], out[2], err[2];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pipes(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&pipes->in[i]);
        close_fd(&pipes->out[i]);
        close_fd(&pipes->err[i]);
    }
}

/* Above the standard streams, which may be closed here: they would be in the child's way. */
static bool make_pipe(int ends[2])
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 3);
        close(made[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool make_pipes(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (make_pipe(pipes->in) && make_pipe(pipes->out) && make_pipe(pipes->err) &&
        fcntl(pipes->in[1], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    close_pipes(pipes);
    return false;
}

/* Signals as a new process has them, whatever the host does with its own. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int problem = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!problem)
        problem = posix_spawnattr_setpgroup(attributes, 0);
    if (!problem)
        problem = posix_spawnattr_setsigmask(attributes, &none);
    return problem ? problem : posix_spawnattr_setsigdefault(attributes, &all);
}

static int set_files(posix_spawn_file_actions_t *actions, const struct pipes *pipes, int folder)
{
    int problem = posix_spawn_file_actions_adddup2(actions, pipes->in[0], 0);
    if (!problem)
        problem = posix_spawn_file_actions_adddup2(actions, pipes->out[1], 1);
    if (!problem)
        problem = posix_spawn_file_actions_adddup2(actions, pipes->err[1], 2);
    if (!problem && folder >= 0)
        problem = posix_spawn_file_actions_addfchdir_np(actions, folder);
    return problem ? problem : posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

/* 0, or the reason as errno has it. */
static int spawn(struct child *child, const char *program, char **arguments, char **environment,
                 const struct pipes *pipes, int folder)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int problem = posix_spawnattr_init(&attributes);
    if (problem)
        return problem;
    problem = posix_spawn_file_actions_init(&actions);
    if (!problem) {
        problem = set_attributes(&attributes);
        if (!problem)
            problem = set_files(&actions, pipes, folder);
        if (!problem)
            problem =
                posix_spawn(&child->pid, program, &actions, &attributes, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return problem;
}

static bool start(struct child *child, const struct server_config *config, const char *program,
                  struct pipes *pipes, int folder, char *problem, size_t size)
{
    char **environment = make_environment(config);
    int reason =
        environment ? spawn(child, program, config->command, environment, pipes, folder) : ENOMEM;
    free(environment);
    if (reason)
        snprintf(problem, size, "'%.200s' cannot be started: %s", config->command[0],
                 strerror(reason));
    return reason == 0;
}

bool child_start(struct child *child, const struct server_config *config, char *problem,
                 size_t size)
{
    struct pipes pipes;
    int folder = -1;
    if (config->folder && (folder = open(config->folder, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
        snprintf(problem, size, "its folder '%.200s' cannot be used: %s", config->folder,
                 strerror(errno));
        return false;
    }
    char *program = find_program(config, problem, size);
    bool has_pipes = program && make_pipes(&pipes);
    if (program && !has_pipes)
        snprintf(problem, size, "no pipes could be made: %s", strerror(errno));
    bool is_started = has_pipes && start(child, config, program, &pipes, folder, problem, size);
    free(program);
    close_fd(&folder);
    if (is_started) {
        child->in = pipes.in[1];
        child->out = pipes.out[0];
        child->err = pipes.err[0];
        child->ended = (int)syscall(SYS_pidfd_open, child->pid, 0);
        pipes.in[1] = pipes.out[0] = pipes.err[0] = -1;
    }
    if (has_pipes)
        close_pipes(&pipes);
    return is_started;
}

/* ---- its end ---- */

bool child_has_ended(const struct child *child, char *how, size_t size)
{
    siginfo_t info = {0};
    /* It stays a zombie until child_end(), and so its group's number stays its own. */
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
        return false;
    if (info.si_code == CLD_EXITED)
        snprintf(how, size, "exit status %d", info.si_status);
    else
        snprintf(how, size, "signal %d", info.si_status);
    return true;
}

/* Reads of what nobody wants any more; at its end the descriptor is closed. */
static void discard(int *fd)
{
    char bytes[16384];
    ssize_t got = 1;
    for (int reads = 0; reads < READS && *fd >= 0 && got > 0; reads++) {
        got = read(*fd, bytes, sizeof(bytes));
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            close_fd(fd);
    }
}

/* Waits for news, at most `ms`. */
static void wait_for_news(struct child *child, int64_t ms, bool with_end)
{
    struct pollfd fds[] = {{.fd = child->out, .events = POLLIN},
                           {.fd = child->err, .events = POLLIN},
                           {.fd = with_end ? child->ended : -1, .events = POLLIN}};
    if (with_end && child->ended < 0 && ms > ROUND_MS)
        ms = ROUND_MS;
    poll(fds, 3, (int)ms);
    discard(&child->out);
    discard(&child->err);
}

static bool wait_for_end(struct child *child, int64_t ms)
{
    int64_t until_ms = pause_now_ms() + ms, left_ms;
    char how[64];
    while (!child_has_ended(child, how, sizeof(how))) {
        if ((left_ms = until_ms - pause_now_ms()) <= 0)
            return false;
        wait_for_news(child, left_ms, true);
    }
    return true;
}

void child_end(struct child *child, int64_t patience_ms)
{
    close_fd(&child->in);
    bool has_ended = wait_for_end(child, patience_ms);
    kill(-child->pid, SIGTERM);
    if (!has_ended && !wait_for_end(child, patience_ms))
        kill(-child->pid, SIGKILL);
    /* What else is in the group and still has its pipes, such as what a wrapper has started. */
    int64_t until_ms = pause_now_ms() + (has_ended ? GROUP_MS : 0), left_ms;
    while ((child->out >= 0 || child->err >= 0) && (left_ms = until_ms - pause_now_ms()) > 0)
        wait_for_news(child, left_ms, false);
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close_fd(&child->out);
    close_fd(&child->err);
    close_fd(&child->ended);
}

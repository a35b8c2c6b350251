#include "check.h"

#include <mortise/tool.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LOOK_MS = 20 }; /* how often to look whether a command ended that left its output open */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- output ---- */

static void keep(struct check_result *result, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, result->written++) {
        if (result->written < CHECK_HEAD)
            result->head[result->written] = bytes[i];
        else
            result->tail[(result->written - CHECK_HEAD) % CHECK_TAIL] = bytes[i];
    }
}

/* Reads what is there; false at the end of the output. */
static bool read_some(int fd, struct check_result *result)
{
    char bytes[16384];
    ssize_t n = read(fd, bytes, sizeof(bytes));
    if (n > 0)
        keep(result, bytes, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool is_inside(char byte) /* of a character of several bytes */
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

char *check_output(const struct check_result *result)
{
    char *text = malloc(CHECK_HEAD + CHECK_TAIL + 101);
    if (!text)
        return NULL;
    size_t head = result->written < CHECK_HEAD ? (size_t)result->written : CHECK_HEAD;
    uint64_t rest = result->written - head;
    size_t tail = rest < CHECK_TAIL ? (size_t)rest : CHECK_TAIL;
    size_t oldest = rest > CHECK_TAIL ? (size_t)(rest % CHECK_TAIL) : 0;
    memcpy(text, result->head, head);
    size_t length = head;
    if (rest > tail) {
        length = mortise_cut(text, head);
        while (tail > CHECK_TAIL - 3 && is_inside(result->tail[oldest])) {
            oldest = (oldest + 1) % CHECK_TAIL;
            tail--;
        }
        length += (size_t)snprintf(text + length, 100, "\n[%" PRIu64 " bytes are left out]\n",
                                   result->written - length - tail);
    }
    for (size_t i = 0; i < tail; i++)
        text[length++] = result->tail[(oldest + i) % CHECK_TAIL];
    text[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = '?';
    return text;
}

/* ---- the process ---- */

/* Starts the command with `output` as its standard output and error; returns errno or 0. */
static int start(char *const *words, const char *folder, int output, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files))
        return ENOMEM;
    if (posix_spawnattr_init(&how)) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int error = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                   POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnattr_setsigdefault(&how, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(&how, &none);
    if (!error && folder)
        error = posix_spawn_file_actions_addchdir_np(&files, folder);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (!error)
        error = posix_spawnp(pid, words[0], &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    int status = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return status == 0 ? info.si_pid == pid : errno != EINTR;
}

/* Until the command has ended, or its time.  It is not reaped, so its group's number stays. */
static void watch(pid_t pid, int output, int64_t deadline_ms, struct check_result *result)
{
    struct pollfd ready = {.fd = output, .events = POLLIN};
    while (!has_ended(pid)) {
        int64_t left = deadline_ms - now_ms();
        if (left <= 0) {
            result->timed_out = true;
            return;
        }
        if (poll(&ready, 1, left < LOOK_MS ? (int)left : LOOK_MS) > 0 && !read_some(output, result))
            ready.fd = -1;
    }
}

/* What the ended command left in the pipe: as much as a pipe holds, in case that somebody who
 * left the group goes on writing. */
static void drain(int output, struct check_result *result)
{
    struct pollfd ready = {.fd = output, .events = POLLIN};
    for (int i = 0; i < 64 && poll(&ready, 1, 0) > 0; i++)
        if (!read_some(output, result))
            return;
}

void check_run(char *const *words, const char *folder, int64_t timeout_ms,
               struct check_result *result)
{
    int ends[2];
    pid_t pid;
    result->error = 0;
    result->timed_out = false;
    result->status = 0;
    result->written = 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        result->error = errno;
        return;
    }
    /* the command's end blocks, as commands expect */
    fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) & ~O_NONBLOCK);
    result->error = start(words, folder, ends[1], &pid);
    close(ends[1]);
    if (!result->error) {
        watch(pid, ends[0], now_ms() + timeout_ms, result);
        kill(-pid, SIGKILL);
        pid_t reaped;
        do {
            reaped = waitpid(pid, &result->status, 0);
        } while (reaped < 0 && errno == EINTR);
        if (reaped < 0)
            result->error = errno; /* somebody else has its status: it is not known */
        drain(ends[0], result);
    }
    close(ends[0]);
}

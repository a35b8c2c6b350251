#include "remote/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mortise/services.h>

#include "base/clock.h"
#include "base/log.h"
#include "remote/fetcher.h"
#include "remote/guard.h"
#include "remote/keeper.h"
#include "remote/lane.h"
#include "remote/scratch.h"
#include "sandbox/figures.h"

#define PRINTED_MAX ((size_t)1 << 20) /* of one process */
#define LINE_MAX_   ((size_t)2000)
#define SESSION_LOOK_MS 100
#define GUARD_MS        3000 /* what a guard may take to end all */
#define HEAR_MS         2000 /* what the keeper may take for what a process said last */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* ---- life ---- */

struct child *child_start(const char *path, struct host_api *api, int64_t memory_bytes,
                          enum serve_for purpose, struct error *error)
{
    struct child *child = calloc(1, sizeof(*child));
    if (!child) {
        error_memory(error);
        return NULL;
    }
    atomic_init(&child->refs, 1);
    pthread_mutex_init(&child->lock, NULL);
    pthread_cond_init(&child->fetcher_ended, NULL);
    child->pidfd = child->control = child->output = -1;
    child->api = api;
    child->memory_bytes = memory_bytes;
    child->is_bare = purpose != SERVE_PLUGIN;
    child->is_sandboxed = purpose == SERVE_IN_SANDBOX;
    child->name = strdup(host_api_file_name(api));
    if (!child->name) {
        error_memory(error);
        child_unref(child);
        return NULL;
    }
    if ((purpose != SERVE_CALLS || (child->scratch = scratch_new(error))) &&
        keeper_start(child, path, error))
        return child;
    child_unref(child);
    return NULL;
}

struct child *child_ref(struct child *child)
{
    atomic_fetch_add_explicit(&child->refs, 1, memory_order_relaxed);
    return child;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void child_unref(struct child *child)
{
    if (!child || atomic_fetch_sub_explicit(&child->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (child->pid > 0) {
        child_kill(child, "is not needed any more");
        child_reap(child);
    } else if (child->scratch) {
        scratch_remove(child->scratch);
    }
    free(child->scratch);
    free(child->name);
    lanes_free(child->idle);
    close_fd(child->pidfd);
    close_fd(child->control);
    close_fd(child->output);
    parcel_in_release(&child->in);
    text_release(&child->line);
    pthread_mutex_destroy(&child->lock);
    pthread_cond_destroy(&child->fetcher_ended);
    free(child);
}

void child_watch(struct child *child)
{
    keeper_watch(child);
}

/* ---- the end ---- */

/* The guard ends all that came of the plugin (guard.h).  It cannot be another process by now: it is
 * not reaped. */
static void end_locked(const struct child *child)
{
    syscall(SYS_pidfd_send_signal, child->pidfd, GUARD_END, NULL, 0);
}

void child_kill(struct child *child, const char *format, ...)
{
    pthread_mutex_lock(&child->lock);
    if (!child->is_reaped) {
        va_list args;
        va_start(args, format);
        if (!child->why[0])
            vsnprintf(child->why, sizeof(child->why), format, args);
        va_end(args);
        end_locked(child);
    }
    pthread_mutex_unlock(&child->lock);
}

bool child_wait_readable(int fd, int timeout_ms)
{
    struct pollfd wanted = {fd, POLLIN, 0};
    int64_t until_ms = clock_ms() + timeout_ms;
    int ready;
    while ((ready = poll(&wanted, 1, timeout_ms)) < 0 && errno == EINTR) {
        int64_t left_ms = until_ms - clock_ms();
        if (timeout_ms >= 0)
            timeout_ms = left_ms > 0 ? (int)left_ms : 0;
    }
    return ready > 0;
}

bool child_ends(const struct child *child, int timeout_ms)
{
    return child_wait_readable(child->pidfd, timeout_ms);
}

static void describe_locked(struct child *child, const siginfo_t *info)
{
    if (child->why[0])
        snprintf(child->death, sizeof(child->death), "was ended: it %s", child->why);
    else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
        snprintf(child->death, sizeof(child->death), "was killed by signal %d (%s)",
                 info->si_status, strsignal(info->si_status));
    else if (info->si_code == CLD_EXITED && info->si_status == SERVE_LOST)
        snprintf(child->death, sizeof(child->death), "closed its connection and ended");
    else if (info->si_code == CLD_EXITED)
        snprintf(child->death, sizeof(child->death), "ended its process with exit code %d",
                 info->si_status);
    else
        snprintf(child->death, sizeof(child->death), "ended, nobody knows how");
}

void child_reap(struct child *child)
{
    siginfo_t info = {0};
    if (!child_ends(child, GUARD_MS)) { /* a plugin has stopped its guard */
        kill(-child->pid, SIGKILL);
        child_ends(child, -1);
    }
    pthread_mutex_lock(&child->lock);
    if (!child->is_reaped) {
        kill(-child->pid, SIGKILL); /* if the guard itself was killed */
        if (waitid((idtype_t)P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0)
            info.si_code = 0; /* a plugin in this process was faster */
        describe_locked(child, &info);
        child->is_reaped = true;
        child->api = NULL; /* which may go before the last reference */
        if (child->scratch)
            scratch_remove(child->scratch);
        atomic_store(&child->is_over, true);
    }
    pthread_mutex_unlock(&child->lock);
    fetchers_end(child);
}

void child_finish(struct child *child)
{
    child_reap(child);
    keeper_finish(child, HEAR_MS);
}

/* ---- what it says ---- */

bool child_hear_log(struct parcel *message)
{
    uint32_t level = parcel_u32(message);
    const char *text = parcel_needed(message);
    if (!parcel_ends(message) || level > LOG_DEBUG)
        return false;
    log_line((enum log_level)level, "%.8000s", text);
    return true;
}

/* One that asks one thing at a time always has room for the answer. */
static bool answer_locked(struct child *child, const char *value)
{
    struct text answer = TEXT_INIT;
    parcel_begin(&answer, PARCEL_ANSWER);
    parcel_put_string(&answer, value);
    bool sent = parcel_send(child->control, &answer, 0);
    text_wipe(&answer);
    return sent;
}

static bool hear_secret(struct child *child, struct parcel *message)
{
    const char *name = parcel_needed(message);
    const char *value = NULL;
    if (!parcel_ends(message))
        return false;
    pthread_mutex_lock(&child->lock);
    if (child->api) {
        const mortise_host *host = host_api_face(child->api);
        const mortise_secrets *secrets = host->service(host, MORTISE_SECRETS_ID);
        value = secrets ? secrets->get(host, name) : NULL;
    }
    bool sent = answer_locked(child, value);
    pthread_mutex_unlock(&child->lock);
    return sent;
}

static bool hear_changed(struct child *child, struct parcel *message)
{
    if (!parcel_ends(message))
        return false;
    pthread_mutex_lock(&child->lock);
    const mortise_host *host = child->api ? host_api_face(child->api) : NULL;
    if (host)
        host->changed(host);
    bool sent = answer_locked(child, NULL);
    pthread_mutex_unlock(&child->lock);
    return sent;
}

/* What is made for calls in sandboxes has none of its own. */
bool child_hear(struct child *child, struct parcel *message)
{
    switch (message->type) {
    case PARCEL_LOG:
        return child_hear_log(message);
    case PARCEL_SECRET:
        return !child->scratch && hear_secret(child, message);
    case PARCEL_LANE_WANTED:
        return !child->scratch && parcel_ends(message) && fetcher_start(child);
    case PARCEL_CHANGED:
        return !child->scratch && hear_changed(child, message);
    default:
        return false;
    }
}

/* ---- what it prints ---- */

static void tell_line(struct child *child)
{
    pthread_mutex_lock(&child->lock);
    if (child->line.length)
        log_note("%s: %s", child->name, text_cstr(&child->line));
    pthread_mutex_unlock(&child->lock);
    text_reset(&child->line);
}

static void take_printed(struct child *child, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] == '\n' || child->line.length >= LINE_MAX_)
            tell_line(child);
        if (data[i] != '\n')
            text_append(&child->line, data[i] ? &data[i] : " ", 1);
    }
}

bool child_take_output(struct child *child)
{
    char data[8192];
    ssize_t got = read(child->output, data, sizeof(data));
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    size_t before = child->printed;
    child->printed += (size_t)got;
    if (child->printed <= PRINTED_MAX) {
        take_printed(child, data, (size_t)got);
    } else if (before <= PRINTED_MAX) {
        text_reset(&child->line);
        text_puts(&child->line, "it printed more than 1 MiB: the rest is not shown");
        tell_line(child);
    }
    if (!got)
        tell_line(child);
    return got > 0;
}

/* ---- what it takes ---- */

/* False: there is none. */
static bool read_proc(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    close_fd(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int64_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    unsigned long size, resident;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    if (!read_proc(path, text, sizeof(text)) ||
        sscanf(text, "%lu %lu", &size, &resident) != 2)
        return 0;
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

/* A process in a sandbox may have made others, which stay in its session; to find them takes long. */
static int64_t session_bytes(pid_t pid)
{
    struct figures figures;
    return figures_of_session(pid, UINT_MAX, &figures) ? (int64_t)figures.memory_bytes : 0;
}

/* Of the plugin's process, and of what has left it: all are the guard's. */
void child_check_memory(struct child *child)
{
    char path[64], text[1024], *at = text, *end;
    int64_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)child->pid, (int)child->pid);
    if (!child->memory_bytes || !read_proc(path, text, sizeof(text)))
        return;
    bool wide = child->is_sandboxed && clock_ms() >= child->look_ms;
    if (wide)
        child->look_ms = clock_ms() + SESSION_LOOK_MS;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
        bytes += wide ? session_bytes((pid_t)pid) : resident_bytes((pid_t)pid);
    if (bytes > child->memory_bytes)
        child_kill(child, "used more than %lld MiB of memory",
                   (long long)(child->memory_bytes >> 20));
}

#include "sandbox/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sandbox/figures.h"

/* Folders are walked more rarely than processes are looked at, and what takes long even more
 * rarely: looking costs a twentieth of the time at most, up to the longest pause. */
enum { TICK_MS = 5, SLOW_TICK_MS = 100, SHARE = 20, LONGEST_PAUSE_MS = 2000 };

#define NS_OF_MS INT64_C(1000000)

enum { CHILD_ENDED, TIME_IS_UP, TICK, DESCRIPTORS };

struct sandbox_watch {
    struct sandbox_limits limits;
    char **folders; /* writable ones, if they have a limit; NULL at the end */
    pid_t child;
    bool may_fork;
    bool ended;
    enum sandbox_limit limit; /* the first one that was reached */
    bool doubted; /* the last look found too much memory, which may have been counted twice */
    bool reaped;  /* the child's number may be another's */
    uint64_t output_bytes;
    int64_t next_look_ns, next_walk_ns;
    struct sysinfo machine; /* at the last look */
    int events;
    int descriptors[DESCRIPTORS]; /* of the process, and timers */
};

/* ---- making one ---- */

static bool limits_disk(const struct sandbox_limits *limits)
{
    return limits->disk_bytes || limits->disk_files;
}

static bool limits_processes(const struct sandbox_limits *limits)
{
    return limits->memory_bytes || limits->processes;
}

static char **copy_paths(const char *const *paths)
{
    size_t count = 0;
    while (paths && paths[count])
        count++;
    char **copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(paths[i]);
        if (copy[i])
            continue;
        while (i > 0)
            free(copy[--i]);
        free(copy);
        return NULL;
    }
    return copy;
}

static bool watch_for(struct sandbox_watch *watch, unsigned what, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};
    watch->descriptors[what] = fd;
    return fd >= 0 && epoll_ctl(watch->events, EPOLL_CTL_ADD, fd, &event) == 0;
}

static struct timespec after_ms(int64_t ms)
{
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

static bool watch_timer(struct sandbox_watch *watch, unsigned what, int64_t ms, bool again)
{
    struct itimerspec when = {.it_value = after_ms(ms)};
    if (again)
        when.it_interval = when.it_value;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return watch_for(watch, what, fd) && timerfd_settime(fd, 0, &when, NULL) == 0;
}

static bool open_all(struct sandbox_watch *watch)
{
    const struct sandbox_limits *limits = &watch->limits;
    int64_t tick_ms = limits_processes(limits) ? TICK_MS : SLOW_TICK_MS;
    watch->events = epoll_create1(EPOLL_CLOEXEC);
    return watch->events >= 0 &&
           watch_for(watch, CHILD_ENDED, (int)syscall(SYS_pidfd_open, watch->child, 0)) &&
           (!limits->wall_ms || watch_timer(watch, TIME_IS_UP, limits->wall_ms, false)) &&
           ((!limits_processes(limits) && !limits_disk(limits)) ||
            watch_timer(watch, TICK, tick_ms, true));
}

static bool fill(struct sandbox_watch *watch, const struct sandbox_rules *rules,
                 struct error *error)
{
    struct figures figures;
    if (limits_disk(&rules->limits) && !(watch->folders = copy_paths(rules->writable)))
        return error_memory(error);
    if (!open_all(watch))
        return error_set(error, ERROR_INTERNAL, "cannot watch a sandbox: %s", strerror(errno));
    if (limits_processes(&watch->limits) && !figures_of_process(watch->child, &figures))
        return error_set(error, ERROR_CONFIG,
                         "cannot watch a sandbox: the figures of its process cannot be read: %s; "
                         "mount /proc without hidepid",
                         strerror(errno));
    return true;
}

struct sandbox_watch *sandbox_watch_new(const struct sandbox_rules *rules, pid_t child,
                                        struct error *error)
{
    struct sandbox_watch *watch = calloc(1, sizeof(*watch));
    if (!watch) {
        kill(child, SIGKILL);
        error_memory(error);
        return NULL;
    }
    watch->limits = rules->limits;
    watch->child = child;
    watch->may_fork = rules->may_fork;
    watch->events = -1;
    for (size_t i = 0; i < DESCRIPTORS; i++)
        watch->descriptors[i] = -1;
    if (fill(watch, rules, error))
        return watch;
    sandbox_watch_kill(watch);
    sandbox_watch_free(watch);
    return NULL;
}

void sandbox_watch_free(struct sandbox_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < DESCRIPTORS; i++)
        if (watch->descriptors[i] >= 0)
            close(watch->descriptors[i]);
    if (watch->events >= 0)
        close(watch->events);
    for (size_t i = 0; watch->folders && watch->folders[i]; i++)
        free(watch->folders[i]);
    free(watch->folders);
    free(watch);
}

int sandbox_watch_fd(const struct sandbox_watch *watch)
{
    return watch->events;
}

/* ---- limits ---- */

/* The group is there once the child has entered, and none of it can leave; until the child is
 * waited for, its number is its own. */
void sandbox_watch_kill(struct sandbox_watch *watch)
{
    if (watch->reaped)
        return;
    kill(-watch->child, SIGKILL);
    kill(watch->child, SIGKILL);
}

static void reach(struct sandbox_watch *watch, enum sandbox_limit limit)
{
    if (!watch->limit)
        watch->limit = limit;
    sandbox_watch_kill(watch);
}

static bool is_over(uint64_t value, uint64_t limit)
{
    return limit && value > limit;
}

/* A process that has just been started may share all its memory with the one that started it, until
 * it runs its program (vfork); at the next look it does not. */
static bool has_too_much(struct sandbox_watch *watch, const struct figures *figures)
{
    bool over = is_over(figures->memory_bytes, watch->limits.memory_bytes);
    bool doubted = over && figures->processes > 1 && !watch->doubted;
    watch->doubted = doubted;
    return over && !doubted;
}

/* A look takes long where there are many processes, so it is made early when the machine, about
 * which one call tells, has got so many more or has lost so much memory that it may be due to this
 * sandbox. */
static bool may_have_grown(const struct sandbox_watch *watch)
{
    struct sysinfo now;
    if (!watch->may_fork || sysinfo(&now) != 0)
        return false;
    const struct sysinfo *then = &watch->machine;
    uint64_t was = (uint64_t)then->freeram * then->mem_unit;
    uint64_t is = (uint64_t)now.freeram * now.mem_unit;
    int more = (int16_t)(now.procs - then->procs); /* it is counted in so many bits */
    return (watch->limits.processes && more > (int)(watch->limits.processes / 4)) ||
           (watch->limits.memory_bytes && was > is && was - is > watch->limits.memory_bytes / 8);
}

static bool see_all(const struct sandbox_watch *watch, struct figures *figures)
{
    unsigned most = watch->limits.processes ? watch->limits.processes : UINT_MAX;
    return watch->may_fork ? figures_of_session(watch->child, most, figures)
                           : figures_of_process(watch->child, figures);
}

static void check_processes(struct sandbox_watch *watch)
{
    struct figures figures;
    sysinfo(&watch->machine);
    bool seen = see_all(watch, &figures);
    if (!seen) /* it has not been waited for, so it can be seen, or is seen no more */
        reach(watch, SANDBOX_LIMIT_MEMORY);
    else if (has_too_much(watch, &figures))
        reach(watch, SANDBOX_LIMIT_MEMORY);
    else if (is_over(figures.tasks, watch->limits.processes))
        reach(watch, SANDBOX_LIMIT_PROCESSES);
}

static void check_disk(struct sandbox_watch *watch)
{
    uint64_t most_bytes = watch->limits.disk_bytes ? watch->limits.disk_bytes : UINT64_MAX;
    uint64_t most_files = watch->limits.disk_files ? watch->limits.disk_files : UINT64_MAX;
    struct disk_figures figures = {0};
    for (size_t i = 0; watch->folders[i]; i++)
        figures_of_folder(watch->folders[i], most_bytes, most_files, &figures);
    if (is_over(figures.bytes, watch->limits.disk_bytes))
        reach(watch, SANDBOX_LIMIT_DISK);
    else if (is_over(figures.files, watch->limits.disk_files))
        reach(watch, SANDBOX_LIMIT_FILES);
}

static int64_t ns_of_thread(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000 * NS_OF_MS + used.tv_nsec;
}

/* Calls check() and says when it is to be called again: what it costs is told by a clock of its
 * own. */
static void look(struct sandbox_watch *watch, void (*check)(struct sandbox_watch *),
                 int64_t (*clock)(void), int64_t least_ns, int64_t *next_ns)
{
    int64_t now_ns = clock_ns();
    int64_t started_ns = clock();
    check(watch);
    int64_t pause_ns = (clock() - started_ns) * SHARE;
    if (pause_ns > LONGEST_PAUSE_MS * NS_OF_MS)
        pause_ns = LONGEST_PAUSE_MS * NS_OF_MS;
    *next_ns = now_ns + (pause_ns > least_ns ? pause_ns : least_ns);
}

/* A walk waits for disks, and whoever calls waits with it; among many processes the time of this
 * one alone counts. */
static void tick(struct sandbox_watch *watch)
{
    static const int64_t slow_ns = (SLOW_TICK_MS - TICK_MS) * NS_OF_MS;
    uint64_t times;
    if (read(watch->descriptors[TICK], &times, sizeof(times)) != sizeof(times))
        return;
    int64_t now_ns = clock_ns();
    if (limits_processes(&watch->limits) &&
        (now_ns >= watch->next_look_ns || may_have_grown(watch)))
        look(watch, check_processes, ns_of_thread, 0, &watch->next_look_ns);
    if (watch->folders && now_ns >= watch->next_walk_ns)
        look(watch, check_disk, clock_ns, slow_ns, &watch->next_walk_ns);
}

bool sandbox_watch_output(struct sandbox_watch *watch, size_t bytes)
{
    watch->output_bytes += bytes;
    if (!is_over(watch->output_bytes, watch->limits.output_bytes))
        return true;
    reach(watch, SANDBOX_LIMIT_OUTPUT);
    return false;
}

/* ---- what happens ---- */

static void end_time(struct sandbox_watch *watch)
{
    uint64_t times;
    if (read(watch->descriptors[TIME_IS_UP], &times, sizeof(times)) == sizeof(times))
        reach(watch, SANDBOX_LIMIT_WALL);
}

bool sandbox_watch_step(struct sandbox_watch *watch)
{
    struct epoll_event events[DESCRIPTORS];
    int count = watch->ended ? 0 : epoll_wait(watch->events, events, DESCRIPTORS, 0);
    for (int i = 0; i < count; i++)
        if (events[i].data.u32 == CHILD_ENDED)
            watch->ended = true;
    for (int i = 0; i < count && !watch->ended; i++) {
        if (events[i].data.u32 == TIME_IS_UP)
            end_time(watch);
        else
            tick(watch);
    }
    if (watch->ended)
        sandbox_watch_kill(watch);
    return !watch->ended;
}

/* A limit that the kernel holds shows in the signal, or in the time that was used. */
static enum sandbox_limit limit_of_end(const struct sandbox_limits *limits, int status,
                                       const struct rusage *used)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    int64_t cpu_s = used->ru_utime.tv_sec + used->ru_stime.tv_sec +
                    (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000000;
    if (number == SIGXFSZ && limits->file_bytes)
        return SANDBOX_LIMIT_FILE;
    if (limits->cpu_s && (number == SIGXCPU || (number == SIGKILL && cpu_s >= limits->cpu_s)))
        return SANDBOX_LIMIT_CPU;
    return SANDBOX_LIMIT_NONE;
}

bool sandbox_watch_reap(struct sandbox_watch *watch, struct sandbox_end *end)
{
    struct rusage used;
    pid_t child;
    while ((child = wait4(watch->child, &end->status, 0, &used)) < 0 && errno == EINTR) {
    }
    if (child < 0)
        return false;
    watch->reaped = true;
    while (waitpid(-watch->child, NULL, 0) > 0 || errno == EINTR) {
    }
    end->limit = watch->limit;
    if (!end->limit)
        end->limit = limit_of_end(&watch->limits, end->status, &used);
    return true;
}

static void put_bytes(struct text *out, const char *what, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    text_printf(out, "the %s limit of %" PRIu64 " %s", what, bytes, units[unit]);
}

void sandbox_limit_describe(enum sandbox_limit limit, const struct sandbox_limits *limits,
                            struct text *out)
{
    switch (limit) {
    case SANDBOX_LIMIT_NONE:
        break;
    case SANDBOX_LIMIT_WALL:
        if (limits->wall_ms % 1000 == 0)
            text_printf(out, "the time limit of %" PRId64 " s", limits->wall_ms / 1000);
        else
            text_printf(out, "the time limit of %" PRId64 " ms", limits->wall_ms);
        break;
    case SANDBOX_LIMIT_CPU:
        text_printf(out, "the processor time limit of %" PRId64 " s", limits->cpu_s);
        break;
    case SANDBOX_LIMIT_MEMORY:
        put_bytes(out, "memory", limits->memory_bytes);
        break;
    case SANDBOX_LIMIT_PROCESSES:
        text_printf(out, "the limit of %u processes and threads", limits->processes);
        break;
    case SANDBOX_LIMIT_OUTPUT:
        put_bytes(out, "output", limits->output_bytes);
        break;
    case SANDBOX_LIMIT_FILE:
        put_bytes(out, "file size", limits->file_bytes);
        break;
    case SANDBOX_LIMIT_DISK:
        put_bytes(out, "disk space", limits->disk_bytes);
        break;
    case SANDBOX_LIMIT_FILES:
        text_printf(out, "the limit of %" PRIu64 " files", limits->disk_files);
        break;
    }
}

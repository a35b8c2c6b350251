#include "remote/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "plugin/host_api.h"
#include "remote/cell.h"
#include "remote/confined.h"
#include "remote/rules.h"
#include "remote/serve_private.h"
#include "sandbox/watch.h"

#define CALLS_MAX     256 /* at once */
#define THREAD_END_MS 200

/* A tool, as far as its calls have something in common. */
struct prepared {
    bool is_done;
    char failure[300]; /* of all its calls; "" */
    struct rules rules;
    struct cell spare; /* for the next call, made when nothing else is to be done */
};

struct running {
    pid_t pid;
    int end_fd;
    char *folder;
    struct sandbox_watch *watch;
    const struct sandbox_limits *limits;
    bool is_unwanted; /* the host has closed its end */
};

static struct {
    struct plugin *plugin;
    const struct zygote_setup *setup;
    struct prepared *prepared; /* one for each tool */
    struct prepared *latest;   /* of the last call; NULL: it needs no spare cell */
    struct running calls[CALLS_MAX];
    size_t count;
    struct cell_origin origin;
} zygote;

/* ---- telling ---- */

static void tell(int end_fd, enum confined_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(int end_fd, enum confined_end end, const char *format, ...)
{
    struct confined_report report = {.end = end};
    va_list args;
    va_start(args, format);
    vsnprintf(report.words, sizeof(report.words), format, args);
    va_end(args);
    ssize_t sent = send(end_fd, &report, sizeof(report), MSG_NOSIGNAL);
    (void)sent; /* nobody listens any more, if not */
    close(end_fd);
}

/* ---- preparing a tool, once ---- */

/* A thread that was joined is still counted for a moment. */
static bool has_one_thread(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < THREAD_END_MS; i++) {
        if (unshare(CLONE_THREAD) == 0) /* changes nothing for one thread */
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

/* The plugin's own code: when the host ends meanwhile, so does this process, and when it hangs the
 * host ends it. */
static bool run_prepare(const struct tool *tool, char *failure, size_t size)
{
    const mortise_tool *instance = tool->instance;
    struct host_api *api = tool->plugin->api;
    if (!has_one_thread()) {
        snprintf(failure, size,
                 "its plugin has left a thread, and a process with threads cannot be "
                 "copied");
        return false;
    }
    if (!MORTISE_HAS(instance, mortise_tool, prepare) || !instance->prepare)
        return true;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    mortise_status status = instance->prepare(instance, host_api_face(api));
    prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    const char *reason = host_api_refusal(api);
    if (status != MORTISE_OK)
        snprintf(failure, size, "its prepare() has failed%s%.200s", reason ? ": " : "",
                 reason ? reason : " and gave no reason");
    else if (!has_one_thread())
        snprintf(failure, size, "its prepare() has left a thread, and a process with threads "
                                "cannot be copied");
    return !*failure;
}

static void make_rules(struct prepared *prepared, const struct tool *tool)
{
    const struct zygote_setup *setup = zygote.setup;
    struct error error = ERROR_INIT;
    if (!rules_for_call(&prepared->rules, setup->grants, tool, &error)) {
        snprintf(prepared->failure, sizeof(prepared->failure), "%.290s", error.message);
        return;
    }
    prepared->rules.rules.limits.memory_bytes = (uint64_t)setup->memory_bytes;
    prepared->rules.rules.limits.wall_ms = setup->timeout_ms;
}

static struct prepared *prepare(uint32_t index)
{
    const struct tool *tool = zygote.plugin->tools[index];
    struct prepared *prepared = &zygote.prepared[index];
    if (prepared->is_done)
        return prepared;
    prepared->is_done = true;
    if (run_prepare(tool, prepared->failure, sizeof(prepared->failure)))
        make_rules(prepared, tool);
    return prepared;
}

/* ---- beginning a call ---- */

static bool watch(struct running *call, const struct sandbox_rules *common, struct error *error)
{
    const char *const writable[] = {call->folder, NULL};
    struct sandbox_rules rules = *common;
    rules.writable = writable;
    call->watch = sandbox_watch_new(&rules, call->pid, error);
    call->limits = &common->limits;
    return call->watch;
}

/* False with *error and *end: nothing runs. */
static bool begin_call(struct running *call, struct prepared *prepared, const int lane_fds[2],
                       enum confined_end *end, struct error *error)
{
    const struct sandbox_rules *rules = &prepared->rules.rules;
    if (prepared->spare.folder && prepared->spare.stamp != cell_stamp(rules))
        cell_drop(&prepared->spare); /* what it may read has been replaced */
    struct cell cell = prepared->spare;
    prepared->spare = (struct cell){0};
    bool is_old = cell.folder, refused = false;
    if (!is_old && !cell_make(&cell, &zygote.origin, rules, &refused, error)) {
        *end = refused ? CONFINED_REFUSED : CONFINED_FAILED;
        return false;
    }
    call->folder = cell.folder;
    call->pid = cell.pid;
    if (!watch(call, rules, error)) {
        *end = CONFINED_REFUSED;
        cell_drop(&cell);
        return false;
    }
    if (cell_hand_over(&cell, lane_fds)) {
        close(cell.fd);
        return true;
    }
    sandbox_watch_free(call->watch);
    cell_drop(&cell);
    if (is_old) /* it may have been killed while it waited */
        return begin_call(call, prepared, lane_fds, end, error);
    *end = CONFINED_FAILED;
    return error_set(error, ERROR_PLUGIN, "its process has ended before it began");
}

static void begin(uint32_t index, const int lane_fds[2], int end_fd)
{
    struct running call = {.end_fd = end_fd};
    struct error error = ERROR_INIT;
    enum confined_end end = CONFINED_FAILED;
    struct prepared *prepared = prepare(index);
    if (prepared->failure[0]) {
        error_set(&error, ERROR_PLUGIN, "%s", prepared->failure);
    } else if (zygote.count == CALLS_MAX) {
        error_set(&error, ERROR_PLUGIN, "%d calls run at once already", CALLS_MAX);
    } else if (begin_call(&call, prepared, lane_fds, &end, &error)) {
        zygote.calls[zygote.count++] = call;
        zygote.latest = prepared;
        return;
    }
    tell(end_fd, end, "%s", error.message);
}

static void hear_fork(struct parcel *message, struct parcel_in *control)
{
    uint32_t index = parcel_u32(message);
    if (!parcel_ends(message) || control->fd_count < 3 || index >= zygote.plugin->tool_count)
        _exit(SERVE_LOST);
    const int lane_fds[] = {control->fds[0], control->fds[1]};
    int end_fd = control->fds[2];
    control->fd_count -= 3;
    memmove(control->fds, control->fds + 3, control->fd_count * sizeof(int));
    begin(index, lane_fds, end_fd);
    close(lane_fds[0]);
    close(lane_fds[1]);
}

/* ---- ending one ---- */

static void tell_end(const struct running *call, const struct sandbox_end *end)
{
    struct text words = TEXT_INIT;
    int status = end->status;
    sandbox_limit_describe(end->limit, call->limits, &words);
    if (end->limit)
        tell(call->end_fd,
             end->limit == SANDBOX_LIMIT_WALL || end->limit == SANDBOX_LIMIT_CPU ? CONFINED_TIME
                                                                                : CONFINED_LIMIT,
             "reached %s", text_cstr(&words));
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && call->is_unwanted)
        tell(call->end_fd, CONFINED_KILLED, "was killed");
    else if (WIFSIGNALED(status))
        tell(call->end_fd, CONFINED_ENDED, "was killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    else
        tell(call->end_fd, CONFINED_ENDED, "ended its process with exit code %d",
             WEXITSTATUS(status));
    text_release(&words);
}

static void finish(struct running *call)
{
    struct sandbox_end end = {0};
    sandbox_watch_reap(call->watch, &end);
    sandbox_watch_free(call->watch);
    cell_drop_folder(call->folder);
    tell_end(call, &end);
    *call = zygote.calls[--zygote.count];
}

static void hear_host(struct running *call)
{
    char word;
    ssize_t got = recv(call->end_fd, &word, 1, MSG_DONTWAIT);
    if (got == 1 && word == CONFINED_TOO_MUCH) {
        sandbox_watch_output(call->watch, SIZE_MAX / 2);
    } else if (got >= 0 || errno != EAGAIN) {
        call->is_unwanted = true;
        sandbox_watch_kill(call->watch);
    }
}

static void finish_all(void)
{
    for (size_t i = 0; i < zygote.count; i++)
        sandbox_watch_kill(zygote.calls[i].watch);
    while (zygote.count)
        finish(&zygote.calls[0]);
    for (size_t i = 0; i < zygote.plugin->tool_count; i++)
        cell_drop(&zygote.prepared[i].spare);
}

/* ---- serving ---- */

/* False: the host wants no more, or is gone. */
static bool hear_control(struct parcel_in *control)
{
    struct parcel message;
    enum parcel_next next = PARCEL_NONE;
    bool there = parcel_read(SERVE_FD, control, 0) > 0;
    while (there && (next = parcel_next(control, &message)) == PARCEL_NEXT)
        if (message.type == PARCEL_FORK)
            hear_fork(&message, control);
        else
            there = false;
    return there && next != PARCEL_WRONG;
}

static void look_at_calls(const struct pollfd *fds)
{
    for (size_t i = zygote.count; i-- > 0;) { /* the last one takes the place of one that ends */
        struct running *call = &zygote.calls[i];
        if (fds[2 * i + 1].revents && !call->is_unwanted)
            hear_host(call);
        if (fds[2 * i].revents && !sandbox_watch_step(call->watch))
            finish(call);
    }
}

/* What goes wrong with it goes wrong again with the next call, which says so. */
static void make_spare(struct prepared *prepared)
{
    bool refused;
    struct error error;
    if (!prepared->spare.folder)
        cell_make(&prepared->spare, &zygote.origin, &prepared->rules.rules, &refused, &error);
}

static void serve_until_closed(struct parcel_in *control)
{
    static struct pollfd fds[1 + 2 * CALLS_MAX];
    for (;;) {
        size_t count = zygote.count;
        fds[0] = (struct pollfd){SERVE_FD, POLLIN, 0};
        for (size_t i = 0; i < count; i++) {
            const struct running *call = &zygote.calls[i];
            fds[1 + 2 * i] = (struct pollfd){sandbox_watch_fd(call->watch), POLLIN, 0};
            fds[2 + 2 * i] = (struct pollfd){call->is_unwanted ? -1 : call->end_fd, POLLIN, 0};
        }
        bool is_idle = zygote.latest && !count;
        int ready = poll(fds, 1 + 2 * count, is_idle ? 0 : -1);
        if (ready == 0) {
            make_spare(zygote.latest);
            zygote.latest = NULL;
        }
        if (ready <= 0)
            continue;
        look_at_calls(fds + 1);
        if (fds[0].revents && !hear_control(control))
            return;
    }
}

int zygote_serve(struct plugin *plugin, const struct zygote_setup *setup, struct parcel_in *control)
{
    zygote.plugin = plugin;
    zygote.setup = setup;
    zygote.prepared = calloc(plugin->tool_count, sizeof(*zygote.prepared));
    zygote.origin = (struct cell_origin){.plugin = plugin,
                                         .scratch = setup->scratch,
                                         .nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (!zygote.prepared || zygote.origin.nowhere < 0)
        return EXIT_FAILURE;
    prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0); /* the socket tells, and there is something to remove */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!sandbox_share_namespaces(rules_have_network(setup->grants)))
        log_debug("calls in sandboxes have no namespaces of their own: %s", strerror(errno));
    serve_until_closed(control);
    finish_all();
    rmdir(setup->scratch); /* which nobody does when the host was killed */
    return EXIT_SUCCESS;
}

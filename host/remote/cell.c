#include "remote/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "remote/scratch.h"
#include "remote/serve_private.h"

/* ---- in the process ---- */

static struct served_lane *call_lane;

static void log_over_lane(enum log_level level, const char *line)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LOG);
    parcel_put_u32(&message, (uint32_t)level);
    parcel_put_string(&message, line);
    pthread_mutex_lock(&call_lane->lock);
    parcel_send(call_lane->fd, &message, -1);
    pthread_mutex_unlock(&call_lane->lock);
    text_release(&message);
}

static void set_environment(const char *folder)
{
    clearenv();
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("HOME", folder, 1);
    setenv("TMPDIR", folder, 1);
}

/* Descriptors of a call: below these, what leads nowhere. */
enum { LANE_FD = 3, CANCEL_FD = 4 };

/* Until it gets its lane, the cell's end of the socket is in the lane's place. */
static bool arrange_descriptors(const struct cell_origin *origin, int fd)
{
    int place = fcntl(fd, F_DUPFD, 10);
    for (int i = 0; i < LANE_FD; i++)
        if (dup2(origin->nowhere, i) != i)
            return false;
    return place >= 0 && dup2(place, LANE_FD) == LANE_FD &&
           dup2(origin->nowhere, CANCEL_FD) == CANCEL_FD;
}

/* False: there will be none. */
static bool wait_for_lane(const struct cell_origin *origin, struct served_lane *lane)
{
    struct parcel_in in = {.takes_fds = true};
    struct parcel message;
    enum parcel_next next;
    while ((next = parcel_next(&in, &message)) == PARCEL_NONE)
        if (parcel_read(LANE_FD, &in, 0) <= 0)
            return false;
    if (next != PARCEL_NEXT || message.type != PARCEL_LANE || in.fd_count != 2 ||
        dup2(in.fds[0], LANE_FD) != LANE_FD || dup2(in.fds[1], CANCEL_FD) != CANCEL_FD)
        return false;
    close(in.fds[0]);
    close(in.fds[1]);
    parcel_in_release(&in);
    lane_init(lane, LANE_FD, CANCEL_FD, origin->plugin);
    return true;
}

static void refuse(struct served_lane *lane, const char *what, int failure)
{
    struct text message = TEXT_INIT;
    char reason[200];
    snprintf(reason, sizeof(reason), "%s: %s", what, strerror(failure));
    parcel_begin(&message, PARCEL_REFUSED);
    parcel_put_string(&message, reason);
    parcel_send(lane->fd, &message, -1);
    _exit(EXIT_FAILURE);
}

static void be_cell(const struct cell_origin *origin, const struct sandbox *sandbox, pid_t parent,
                    const char *folder, int fd) __attribute__((noreturn));

static void be_cell(const struct cell_origin *origin, const struct sandbox *sandbox, pid_t parent,
                    const char *folder, int fd)
{
    static struct served_lane lane;
    struct parcel message;
    const char *failure = NULL;
    set_environment(folder);
    if (!arrange_descriptors(origin, fd))
        _exit(EXIT_FAILURE);
    if (chdir(folder) != 0)
        failure = "its folder cannot be entered";
    enum sandbox_layer layer = failure ? SANDBOX_NO_LAYER : sandbox_enter(sandbox, parent);
    int reason = errno;
    if (layer != SANDBOX_NO_LAYER)
        failure = sandbox_layer_name(layer);
    if (!wait_for_lane(origin, &lane))
        _exit(EXIT_FAILURE);
    if (failure)
        refuse(&lane, failure, reason);
    call_lane = &lane;
    log_set_sink(log_over_lane);
    if (!lane_first(&lane, &message) || message.type != PARCEL_CALL)
        _exit(EXIT_FAILURE);
    serve_call(&lane, &message);
    _exit(EXIT_SUCCESS);
}

/* ---- making one ---- */

/* The rules of its tool, with the call's own folder. */
static struct sandbox *make_sandbox(const struct sandbox_rules *common, const char *folder,
                                    struct error *error)
{
    enum { MOST = 64 };
    const char *writable[MOST + 2] = {folder};
    struct sandbox_rules rules = *common;
    for (size_t i = 0; i < MOST && common->writable[i]; i++)
        writable[1 + i] = common->writable[i];
    rules.writable = writable;
    return sandbox_prepare(&rules, error);
}

void cell_drop_folder(char *folder)
{
    if (folder && !scratch_remove(folder))
        log_warning("the folder '%s' of a call cannot be removed: %s", folder, strerror(errno));
    free(folder);
}

void cell_drop(struct cell *cell)
{
    if (!cell->folder)
        return;
    close(cell->fd);
    kill(cell->pid, SIGKILL);
    waitpid(cell->pid, NULL, 0);
    cell_drop_folder(cell->folder);
    *cell = (struct cell){0};
}

static bool fork_cell(struct cell *cell, const struct cell_origin *origin,
                      const struct sandbox *sandbox, struct error *error)
{
    int pair[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return error_set(error, ERROR_PLUGIN, "no socket can be made for it: %s", strerror(errno));
    cell->fd = pair[0];
    cell->pid = fork();
    if (cell->pid == 0)
        be_cell(origin, sandbox, parent, cell->folder, pair[1]);
    int failure = errno;
    close(pair[1]);
    if (cell->pid > 0)
        return true;
    close(pair[0]);
    return error_set(error, ERROR_PLUGIN, "no process can be made for it: %s", strerror(failure));
}

static uint64_t stamp_paths(uint64_t stamp, const char *const *paths)
{
    struct stat about;
    for (; paths && *paths; paths++) {
        bool is_there = stat(*paths, &about) == 0;
        stamp = stamp * 31 + (is_there ? about.st_ino : 0);
        stamp = stamp * 31 + (is_there ? about.st_dev : 0);
    }
    return stamp;
}

uint64_t cell_stamp(const struct sandbox_rules *rules)
{
    return stamp_paths(stamp_paths(stamp_paths(0, rules->readable), rules->writable),
                       rules->executable);
}

bool cell_make(struct cell *cell, const struct cell_origin *origin,
               const struct sandbox_rules *rules, bool *refused, struct error *error)
{
    *refused = false;
    cell->stamp = cell_stamp(rules);
    cell->folder = scratch_new_in(origin->scratch, error);
    if (!cell->folder)
        return false;
    struct sandbox *sandbox = make_sandbox(rules, cell->folder, error);
    *refused = !sandbox;
    bool made = sandbox && fork_cell(cell, origin, sandbox, error);
    sandbox_free(sandbox);
    if (made)
        return true;
    cell_drop_folder(cell->folder);
    *cell = (struct cell){0};
    return false;
}

bool cell_hand_over(const struct cell *cell, const int lane_fds[2])
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LANE);
    bool sent = parcel_send_fds(cell->fd, &message, lane_fds, 2, 0);
    text_release(&message);
    return sent;
}

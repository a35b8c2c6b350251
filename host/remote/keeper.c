#include "remote/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "remote/serve.h"

#define LOOK_MS 20 /* how often it looks at memory, and for an end that is near */

extern char **environ;

struct order {
    struct child *child;
    const char *path;
    struct error *error;
    bool made, done;
    struct order *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done; /* an order, or a child */
    bool is_there;
    int wake; /* an eventfd */
    struct order *orders;
    struct {
        struct child **items;
        size_t count, capacity;
    } children;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static const char *program = "/proc/self/exe";

void child_set_program(const char *path)
{
    program = path;
}

/* ---- starting ---- */

/* For what is in a sandbox, or copied for calls in sandboxes. */
static char *const bare[] = {(char *)(uintptr_t) "PATH=/usr/local/bin:/usr/bin:/bin",
                             (char *)(uintptr_t) "LANG=C.UTF-8", NULL};

static int spawn(const char *path, bool is_bare, int control, int output, pid_t *pid)
{
    char *arguments[] = {(char *)(uintptr_t) "mortise", (char *)(uintptr_t)SERVE_WORD,
                         (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t signals;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, control, SERVE_FD);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how, &signals);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    int failure = posix_spawn(pid, program, &files, &how, arguments, is_bare ? bare : environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failure;
}

static bool start(struct child *child, const char *path, struct error *error)
{
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
    int failure = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ||
        pipe2(pipes, O_CLOEXEC) != 0 || fcntl(pipes[0], F_SETFL, O_NONBLOCK) != 0)
        failure = errno;
    if (!failure)
        failure = spawn(path, child->is_bare, sockets[1], pipes[1], &child->pid);
    if (!failure) {
        child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
        failure = child->pidfd < 0 ? errno : 0;
    }
    child->control = sockets[0];
    child->output = pipes[0];
    if (sockets[1] >= 0)
        close(sockets[1]);
    if (pipes[1] >= 0)
        close(pipes[1]);
    if (failure && child->pid > 0 && child->pidfd < 0) { /* it ends when its socket is closed */
        child->pid = 0;
    }
    return !failure || error_set(error, ERROR_PLUGIN, "no process can be made for it: %s",
                                 strerror(failure));
}

static void carry_out_orders(void)
{
    pthread_mutex_lock(&keeper.lock);
    struct order *order = keeper.orders;
    keeper.orders = NULL;
    pthread_mutex_unlock(&keeper.lock);
    while (order) {
        struct order *next = order->next;
        order->made = start(order->child, order->path, order->error);
        pthread_mutex_lock(&keeper.lock);
        order->done = true;
        pthread_cond_broadcast(&keeper.done);
        pthread_mutex_unlock(&keeper.lock);
        order = next;
    }
}

/* ---- watching ---- */

static void forget(struct child *child)
{
    pthread_mutex_lock(&keeper.lock);
    size_t i = 0;
    while (keeper.children.items[i] != child)
        i++;
    keeper.children.items[i] = keeper.children.items[--keeper.children.count];
    pthread_cond_broadcast(&keeper.done);
    pthread_mutex_unlock(&keeper.lock);
    child_unref(child);
}

static void hear(struct child *child)
{
    struct parcel message;
    enum parcel_next next = PARCEL_NONE;
    ssize_t got = parcel_read(child->control, &child->in, MSG_DONTWAIT);
    bool good = got > 0 || (got < 0 && errno == EAGAIN);
    while (good && (next = parcel_next(&child->in, &message)) == PARCEL_NEXT)
        good = child_hear(child, &message);
    if (next == PARCEL_WRONG || (got > 0 && !good))
        child_kill(child, "sent a message that is wrong");
    else if (!good)
        child->closed_ms = clock_ms();
}

/* What it logged before it was over; what else it wanted does not matter any more. */
static void hear_last(struct child *child)
{
    struct parcel message;
    shutdown(child->control, SHUT_RD); /* nothing comes after what is there */
    do {
        while (parcel_next(&child->in, &message) == PARCEL_NEXT)
            if (message.type == PARCEL_LOG)
                child_hear_log(&message);
    } while (parcel_read(child->control, &child->in, MSG_DONTWAIT) > 0);
}

/* One that is about to be over closes everything, too. */
static void look_at_closed(struct child *child)
{
    if (child->closed_ms && clock_ms() >= child->closed_ms + CHILD_DYING_MS)
        child_kill(child, "closed its connection");
}

static void look_at(struct child *child, const struct pollfd fds[3])
{
    if (fds[0].revents && child->output >= 0 && !child_take_output(child)) {
        close(child->output);
        child->output = -1;
    }
    if (fds[1].revents && !fds[2].revents)
        hear(child);
    if (!fds[2].revents) {
        look_at_closed(child);
        child_check_memory(child);
        return;
    }
    while (child->output >= 0 && child_ends(child, 0) && child_take_output(child)) {
        struct pollfd more = {child->output, POLLIN, 0};
        if (poll(&more, 1, 0) <= 0)
            break;
    }
    hear_last(child);
    child_reap(child);
    forget(child);
}

/* What is looked at in one round. */
struct round {
    struct child **children;
    struct pollfd *fds; /* the eventfd, and three of each child */
    size_t count, room;
};

/* Room is kept, so that what is watched already is watched also when there is no memory. */
static bool make_room(struct round *round, size_t count)
{
    if (round->fds && count <= round->room)
        return true;
    struct child **children = realloc(round->children, (count + 1) * sizeof(*children));
    round->children = children ? children : round->children;
    struct pollfd *fds = realloc(round->fds, (1 + 3 * count) * sizeof(*fds));
    round->fds = fds ? fds : round->fds;
    if (children && fds)
        round->room = count;
    return children && fds;
}

/* The children that there are now. */
static void gather(struct round *round, int *patience_ms)
{
    pthread_mutex_lock(&keeper.lock);
    round->count = keeper.children.count;
    if (!make_room(round, round->count))
        round->count = round->room;
    *patience_ms = -1;
    for (size_t i = 0; i < round->count; i++) {
        struct child *child = round->children[i] = keeper.children.items[i];
        struct pollfd *fds = &round->fds[1 + 3 * i];
        fds[0] = (struct pollfd){child->output, POLLIN, 0};
        fds[1] = (struct pollfd){child->closed_ms ? -1 : child->control, POLLIN, 0};
        fds[2] = (struct pollfd){child->pidfd, POLLIN, 0};
        if (child->memory_bytes || child->closed_ms)
            *patience_ms = LOOK_MS;
    }
    pthread_mutex_unlock(&keeper.lock);
}

static void *keep(void *unused)
{
    struct round round = {0};
    int patience_ms;
    (void)unused;
    while (make_room(&round, 0)) {
        gather(&round, &patience_ms);
        round.fds[0] = (struct pollfd){keeper.wake, POLLIN, 0};
        if (poll(round.fds, 1 + 3 * round.count, patience_ms) < 0)
            continue;
        uint64_t times;
        if (round.fds[0].revents && read(keeper.wake, &times, sizeof(times)) > 0)
            carry_out_orders();
        for (size_t i = 0; i < round.count; i++)
            look_at(round.children[i], &round.fds[1 + 3 * i]);
    }
    free(round.children);
    free(round.fds);
    return NULL;
}

/* ---- asking it ---- */

static void wake(void)
{
    eventfd_write(keeper.wake, 1);
}

static bool ensure_locked(void)
{
    pthread_t thread;
    sigset_t all, before;
    if (keeper.is_there)
        return true;
    keeper.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (keeper.wake < 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    keeper.is_there = pthread_create(&thread, NULL, keep, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (keeper.is_there)
        pthread_detach(thread);
    else
        close(keeper.wake);
    return keeper.is_there;
}

bool keeper_start(struct child *child, const char *path, struct error *error)
{
    struct order order = {.child = child, .path = path, .error = error};
    pthread_mutex_lock(&keeper.lock);
    if (!ensure_locked()) {
        pthread_mutex_unlock(&keeper.lock);
        return error_set(error, ERROR_PLUGIN, "there is no thread to start its process");
    }
    order.next = keeper.orders;
    keeper.orders = &order;
    wake();
    while (!order.done)
        pthread_cond_wait(&keeper.done, &keeper.lock);
    pthread_mutex_unlock(&keeper.lock);
    return order.made;
}

void keeper_watch(struct child *child)
{
    pthread_mutex_lock(&keeper.lock);
    if (array_reserve(&keeper.children, 1)) /* else nobody hears what it prints */
        keeper.children.items[keeper.children.count++] = child_ref(child);
    wake();
    pthread_mutex_unlock(&keeper.lock);
}

static bool is_watched_locked(const struct child *child)
{
    size_t i = 0;
    while (i < keeper.children.count && keeper.children.items[i] != child)
        i++;
    return i < keeper.children.count;
}

void keeper_finish(const struct child *child, int timeout_ms)
{
    const struct timespec until = clock_after_ms(timeout_ms);
    pthread_mutex_lock(&keeper.lock);
    while (is_watched_locked(child) &&
           pthread_cond_clockwait(&keeper.done, &keeper.lock, CLOCK_MONOTONIC, &until) == 0)
        ;
    pthread_mutex_unlock(&keeper.lock);
}

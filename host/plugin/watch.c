#include "plugin/watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"

/* Quiet for this long is the end of a change; more than that is not waited for. */
enum { QUIET_MS = 200, MOST_MS = 2000 };

enum { LOOK_MS = 1000 }; /* between two looks, where the system has no watches to give */

#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB |            \
     IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR)

struct plugin_watch {
    const struct plugin_set *set;
    int inotify; /* -1: files are looked at, and … */
    int timer;
    int poll;         /* an epoll of both */
    uint64_t seen;    /* … this is what they were: a sum of hashes */
    int64_t since_ms; /* when the first change that was not reloaded was seen; 0: none */
};

/* What is done with each folder; false: there is no use in going on. */
typedef bool visit_folder(struct plugin_watch *watch, const char *path);

/* ---- the folders ---- */

/* NAME/NAME.so may come into any of them. */
static bool visit_inner_folders(struct plugin_watch *watch, const char *folder, visit_folder *visit)
{
    DIR *stream = opendir(folder);
    bool good = stream != NULL;
    for (const struct dirent *entry; good && (entry = readdir(stream));) {
        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK))
            continue;
        struct text path = TEXT_INIT;
        text_printf(&path, "%s/%s", folder, entry->d_name);
        good = !path.failed && visit(watch, path.data);
        text_release(&path);
    }
    if (stream)
        closedir(stream);
    return !stream || good;
}

static bool visit_folder_of(struct plugin_watch *watch, const char *file, visit_folder *visit)
{
    const char *slash = strrchr(file, '/');
    char *folder = slash ? strndup(file, (size_t)(slash - file + 1)) : strdup("./");
    bool good = folder && visit(watch, folder);
    free(folder);
    return good;
}

static bool visit_all(struct plugin_watch *watch, visit_folder *visit)
{
    const char *source;
    bool is_file, good = true;
    for (size_t i = 0; good && (source = plugin_set_source(watch->set, i, &is_file)); i++)
        good = is_file ? visit_folder_of(watch, source, visit)
                       : visit(watch, source) && visit_inner_folders(watch, source, visit);
    return good;
}

/* ---- the files in them ---- */

static bool ends_with_so(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".so") == 0;
}

static bool is_a_file_of(const struct plugin_set *set, const char *name)
{
    const char *source;
    bool is_file;
    for (size_t i = 0; (source = plugin_set_source(set, i, &is_file)); i++) {
        const char *slash = strrchr(source, '/');
        if (is_file && strcmp(slash ? slash + 1 : source, name) == 0)
            return true;
    }
    return false;
}

static bool is_plugin_name(const struct plugin_watch *watch, const char *name)
{
    return ends_with_so(name) || is_a_file_of(watch->set, name);
}

/* ---- watching ---- */

static bool watch_folder(struct plugin_watch *watch, const char *path)
{
    return inotify_add_watch(watch->inotify, path, EVENTS) >= 0 ||
           (errno != ENOSPC && errno != ENOMEM);
}

static void set_timer(const struct plugin_watch *watch, int64_t ms, int64_t again_ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
        .it_interval = {.tv_sec = again_ms / 1000, .tv_nsec = again_ms % 1000 * 1000000}};
    timerfd_settime(watch->timer, 0, &when, NULL);
}

static bool timer_ran_out(const struct plugin_watch *watch)
{
    uint64_t times;
    return read(watch->timer, &times, sizeof(times)) == sizeof(times);
}

/* ---- looking ---- */

static uint64_t hash_file(int folder, const char *name)
{
    struct stat status = {0};
    if (fstatat(folder, name, &status, 0) != 0)
        return 0;
    const uint64_t facts[] = {
        hash_bytes(name, strlen(name)),
        status.st_dev,
        status.st_ino,
        (uint64_t)status.st_size,
        status.st_mode,
        (uint64_t)status.st_mtim.tv_sec,
        (uint64_t)status.st_mtim.tv_nsec,
        (uint64_t)status.st_ctim.tv_sec,
        (uint64_t)status.st_ctim.tv_nsec,
    };
    return hash_bytes(facts, sizeof(facts));
}

/* Adds what the plugins in it are, in whatever order they are found. */
static bool look_into_folder(struct plugin_watch *watch, const char *path)
{
    DIR *stream = opendir(path);
    for (const struct dirent *entry; stream && (entry = readdir(stream));)
        if (is_plugin_name(watch, entry->d_name))
            watch->seen += hash_file(dirfd(stream), entry->d_name);
    if (stream)
        closedir(stream);
    return true;
}

/* Whether something is not as it was at the look before. */
static bool look(struct plugin_watch *watch)
{
    uint64_t before = watch->seen;
    watch->seen = 0;
    visit_all(watch, look_into_folder);
    return watch->seen != before;
}

static void begin_to_look(struct plugin_watch *watch, int reason)
{
    log_warning("the system has no more watches to give for plugins (%s; see "
                "/proc/sys/fs/inotify), so they are looked at every %d s",
                strerror(reason), LOOK_MS / 1000);
    if (watch->inotify >= 0)
        close(watch->inotify);
    watch->inotify = -1;
    look(watch);
    set_timer(watch, LOOK_MS, LOOK_MS);
}

/* Also what came anew; what is watched already stays so. */
static void watch_all(struct plugin_watch *watch)
{
    if (watch->inotify >= 0 && !visit_all(watch, watch_folder))
        begin_to_look(watch, errno);
}

/* ---- making ---- */

static bool add_to_poll(int poll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    return fd >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

struct plugin_watch *plugin_watch_new(const struct plugin_set *set, struct error *error)
{
    struct plugin_watch *watch = calloc(1, sizeof(*watch));
    if (!watch) {
        error_memory(error);
        return NULL;
    }
    watch->set = set;
    watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int reason = errno;
    watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch->poll = epoll_create1(EPOLL_CLOEXEC);
    if (!add_to_poll(watch->poll, watch->timer) ||
        (watch->inotify >= 0 && !add_to_poll(watch->poll, watch->inotify))) {
        error_set(error, ERROR_CONFIG, "plugins cannot be watched (--watch): %s", strerror(errno));
        plugin_watch_free(watch);
        return NULL;
    }
    if (watch->inotify < 0)
        begin_to_look(watch, reason);
    watch_all(watch);
    return watch;
}

void plugin_watch_free(struct plugin_watch *watch)
{
    if (!watch)
        return;
    const int fds[] = {watch->poll, watch->inotify, watch->timer};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(watch);
}

int plugin_watch_fd(const struct plugin_watch *watch)
{
    return watch->poll;
}

/* ---- events ---- */

/* A file that was made has nothing in it yet: that comes with its closing. */
static bool matters(const struct plugin_watch *watch, const struct inotify_event *event)
{
    if (event->mask & (IN_ISDIR | IN_Q_OVERFLOW | IN_MOVE_SELF | IN_DELETE_SELF))
        return true;
    return event->len && !(event->mask & IN_CREATE) && is_plugin_name(watch, event->name);
}

static bool take_events(const struct plugin_watch *watch)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } buffer;
    ssize_t length;
    bool matter = false;
    while ((length = read(watch->inotify, buffer.bytes, sizeof(buffer.bytes))) > 0)
        for (ssize_t at = 0; at < length;) {
            const void *place = buffer.bytes + at;
            const struct inotify_event *event = place;
            matter |= matters(watch, event);
            at += (ssize_t)(sizeof(*event) + event->len);
        }
    return matter;
}

/* What is watched is made anew before the files are looked at, so that nothing is missed. */
static bool begin_anew(struct plugin_watch *watch)
{
    watch->since_ms = 0;
    watch_all(watch);
    return true;
}

/* What changed must be the same at two looks. */
static bool is_due_by_looks(struct plugin_watch *watch, int64_t now_ms)
{
    if (!timer_ran_out(watch))
        return false;
    bool changed = look(watch);
    if (changed && !watch->since_ms)
        watch->since_ms = now_ms;
    bool is_due = watch->since_ms && (!changed || now_ms - watch->since_ms >= MOST_MS);
    return is_due && begin_anew(watch);
}

bool plugin_watch_due(struct plugin_watch *watch)
{
    int64_t now_ms = clock_ms();
    if (watch->inotify < 0)
        return is_due_by_looks(watch, now_ms);
    if (take_events(watch)) {
        if (!watch->since_ms)
            watch->since_ms = now_ms;
        if (now_ms - watch->since_ms < MOST_MS)
            set_timer(watch, QUIET_MS, 0);
    }
    return timer_ran_out(watch) && begin_anew(watch);
}

bool plugin_watch_changed(struct plugin_watch *watch)
{
    bool looks = watch->inotify < 0;
    bool changed = (looks ? look(watch) : take_events(watch)) || watch->since_ms;
    if (changed && !looks)
        set_timer(watch, 0, 0);
    return changed && begin_anew(watch);
}

#include "plugin/watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* Quiet for this long is the end of a change; more than that is not waited for. */
enum { QUIET_MS = 200, MOST_MS = 2000 };

#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB | IN_ONLYDIR)

struct plugin_watch {
    const struct plugin_set *set;
    int inotify;
    int timer;
    int poll;         /* an epoll of both */
    int64_t since_ms; /* when the first change that was not reloaded was seen; 0: none */
};

/* ---- what is watched ---- */

static bool watch_folder(const struct plugin_watch *watch, const char *path)
{
    if (inotify_add_watch(watch->inotify, path, EVENTS) >= 0 || errno == ENOENT ||
        errno == ENOTDIR || errno == EACCES)
        return true;
    log_warning("'%s' cannot be watched: %s", path, strerror(errno));
    return false;
}

/* NAME/NAME.so may come into any of them. */
static void watch_inner_folders(const struct plugin_watch *watch, const char *folder)
{
    DIR *stream = opendir(folder);
    bool good = stream != NULL;
    for (const struct dirent *entry; good && (entry = readdir(stream));) {
        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK))
            continue;
        struct text path = TEXT_INIT;
        text_printf(&path, "%s/%s", folder, entry->d_name);
        good = !path.failed && watch_folder(watch, path.data);
        text_release(&path);
    }
    if (stream)
        closedir(stream);
}

static void watch_folder_of(const struct plugin_watch *watch, const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder = slash ? strndup(file, (size_t)(slash - file + 1)) : strdup("./");
    if (folder)
        watch_folder(watch, folder);
    free(folder);
}

/* Also what came anew; what is watched already stays so. */
static void watch_all(const struct plugin_watch *watch)
{
    const char *source;
    bool is_file;
    for (size_t i = 0; (source = plugin_set_source(watch->set, i, &is_file)); i++) {
        if (is_file)
            watch_folder_of(watch, source);
        else if (watch_folder(watch, source))
            watch_inner_folders(watch, source);
    }
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
    watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch->poll = epoll_create1(EPOLL_CLOEXEC);
    if (watch->poll < 0 || !add_to_poll(watch->poll, watch->inotify) ||
        !add_to_poll(watch->poll, watch->timer)) {
        error_set(error, ERROR_CONFIG, "plugins cannot be watched (--watch): %s", strerror(errno));
        plugin_watch_free(watch);
        return NULL;
    }
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

/* A file that was made has nothing in it yet: that comes with its closing. */
static bool matters(const struct plugin_watch *watch, const struct inotify_event *event)
{
    if (event->mask & (IN_ISDIR | IN_Q_OVERFLOW))
        return true;
    return event->len && !(event->mask & IN_CREATE) &&
           (ends_with_so(event->name) || is_a_file_of(watch->set, event->name));
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

static void set_timer(const struct plugin_watch *watch, int64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    timerfd_settime(watch->timer, 0, &when, NULL);
}

static bool timer_ran_out(const struct plugin_watch *watch)
{
    uint64_t times;
    return read(watch->timer, &times, sizeof(times)) == sizeof(times);
}

/* What is watched is made anew before the files are looked at, so that nothing is missed. */
static bool begin_anew(struct plugin_watch *watch)
{
    watch->since_ms = 0;
    watch_all(watch);
    return true;
}

bool plugin_watch_due(struct plugin_watch *watch)
{
    int64_t now_ms = clock_ms();
    if (take_events(watch)) {
        if (!watch->since_ms)
            watch->since_ms = now_ms;
        if (now_ms - watch->since_ms < MOST_MS)
            set_timer(watch, QUIET_MS);
    }
    return timer_ran_out(watch) && begin_anew(watch);
}

bool plugin_watch_changed(struct plugin_watch *watch)
{
    bool changed = take_events(watch) || watch->since_ms;
    if (changed)
        set_timer(watch, 0);
    return changed && begin_anew(watch);
}

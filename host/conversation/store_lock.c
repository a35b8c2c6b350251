#include "conversation/store_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* A lock lives as long as any descriptor of its open file: those that a child inherited must
 * be closed, or a daemon that a tool left behind would keep its session busy for ever. */
static struct store_lock *held_locks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

static void after_fork_in_child(void)
{
    for (struct store_lock *lock = held_locks; lock; lock = lock->next) {
        close(lock->fd);
        lock->fd = -1;
    }
    held_locks = NULL;
    pthread_mutex_unlock(&mutex);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int lock_byte(int fd, int command, short type, int64_t number, struct flock *range)
{
    int result;
    *range = (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1};
    do {
        result = fcntl(fd, command, range);
    } while (result != 0 && errno == EINTR);
    return result;
}

static bool take(struct store_lock *lock, const char *path, int64_t number, int command,
                 bool *held, struct error *error)
{
    struct flock range;
    *held = false;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&mutex);
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int reason = errno;
    if (lock->fd >= 0) {
        lock->next = held_locks;
        held_locks = lock;
    }
    pthread_mutex_unlock(&mutex);
    if (lock->fd < 0)
        return error_set(error, ERROR_CONFIG, "cannot open '%s': %s", path, strerror(reason));
    if (lock_byte(lock->fd, command, F_WRLCK, number, &range) == 0)
        return true;
    reason = errno;
    store_lock_drop(lock);
    *held = reason == EAGAIN || reason == EACCES;
    return *held || error_set(error, ERROR_INTERNAL, "cannot lock '%s': %s", path, strerror(reason));
}

bool store_lock_take(struct store_lock *lock, const char *path, int64_t number, bool *held,
                     struct error *error)
{
    return take(lock, path, number, F_OFD_SETLK, held, error);
}

bool store_lock_wait(struct store_lock *lock, const char *path, int64_t number,
                     struct error *error)
{
    bool held;
    return take(lock, path, number, F_OFD_SETLKW, &held, error);
}

void store_lock_drop(struct store_lock *lock)
{
    pthread_mutex_lock(&mutex);
    for (struct store_lock **at = &held_locks; *at; at = &(*at)->next)
        if (*at == lock) {
            *at = lock->next;
            break;
        }
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
    pthread_mutex_unlock(&mutex);
}

bool store_lock_is_held(const char *path, int64_t number)
{
    struct flock range;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool held = lock_byte(fd, F_OFD_GETLK, F_WRLCK, number, &range) == 0 && range.l_type != F_UNLCK;
    close(fd);
    return held;
}

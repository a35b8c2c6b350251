#include "mcp/stdio.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "mcp/line.h"

/* How long a call may keep its thread from reading: the tick of who stands by.  It is short while
 * calls take their time.  After a while without a call nobody ticks any more.
 *
 * To hand the reading on with a lock, before each call, is simpler, but wakes a thread for each:
 * measured, that made an echo of 31 us one of 43, with 10 us more of processor time. */
enum { TICK_US = 1000, SHORT_TICK_US = 200, TICKS_KEPT = 100 };
enum { THREADS_MAX = 256, STANDING_BY_MAX = 4 };
enum { HURRY_MS = 200 }; /* for a client to read something, when all is to end */

struct mcp_stdio {
    struct mcp_stdio_setting setting;
    struct mcp_connection *connection;
    int end_fd;  /* readable: no more is read */
    int stop_fd; /* readable: stop reading */

    pthread_mutex_t writing;
    bool is_broken;

    struct line_reader lines; /* of the thread that reads */
    pthread_mutex_t lock;     /* for the rest */
    pthread_cond_t changed;   /* there is something to look after, or no more */
    pthread_cond_t over;      /* a call, when all has ended, or a thread */
    unsigned threads;
    unsigned standing_by; /* threads that could read */
    unsigned serving;     /* calls */
    bool is_led;          /* a thread has the task of reading … */
    bool is_away;         /* … and serves a call meanwhile, … */
    uint64_t turn;        /* … this one */
    bool ticks;           /* who stands by looks at it by itself */
    unsigned short_ticks; /* so many more */
    bool ended;
};

/* ---- writing ---- */

/* False: it cannot be written, or nobody reads and there is no time left. */
static bool wait_to_write(const struct mcp_stdio *stdio)
{
    struct pollfd fds[2] = {{stdio->setting.out, POLLOUT, 0}, {stdio->setting.hurry_fd, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0)
        return errno == EINTR;
    return fds[0].revents || poll(fds, 1, HURRY_MS) != 0;
}

/* What is left of the two pieces after `count` bytes of them. */
static void advance(struct iovec pieces[2], size_t count)
{
    for (int i = 0; i < 2; i++) {
        size_t taken = count < pieces[i].iov_len ? count : pieces[i].iov_len;
        pieces[i].iov_base = (char *)pieces[i].iov_base + taken;
        pieces[i].iov_len -= taken;
        count -= taken;
    }
}

static bool write_line(const struct mcp_stdio *stdio, struct slice message)
{
    char feed = '\n';
    struct iovec pieces[2] = {{(void *)(uintptr_t)message.data, message.length}, {&feed, 1}};
    while (pieces[1].iov_len) {
        ssize_t count = writev(stdio->setting.out, pieces, 2);
        if (count >= 0)
            advance(pieces, (size_t)count);
        else if (errno == EAGAIN ? !wait_to_write(stdio) : errno != EINTR)
            return false;
    }
    return true;
}

static void send_line(void *self, struct slice message, int code, bool is_last)
{
    struct mcp_stdio *stdio = self;
    (void)code;
    (void)is_last;
    pthread_mutex_lock(&stdio->writing);
    bool breaks = !stdio->is_broken && !write_line(stdio, message);
    stdio->is_broken |= breaks;
    pthread_mutex_unlock(&stdio->writing);
    if (breaks) /* the client is gone: there is nothing left to do */
        eventfd_write(stdio->end_fd, 1);
}

static void refuse_long_line(struct mcp_stdio *stdio)
{
    struct text out = TEXT_INIT;
    text_printf(
        &out,
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":%d,\"message\":\"Invalid request: a message "
        "may have %zu bytes at most\"}}",
        MCP_INVALID_REQUEST, stdio->lines.max);
    if (!out.failed)
        send_line(stdio, (struct slice){out.data, out.length}, MCP_INVALID_REQUEST, true);
    text_release(&out);
}

/* ---- reading ---- */

enum input { INPUT_MORE, INPUT_END, INPUT_STOP };

static enum input read_more(struct mcp_stdio *stdio)
{
    for (;;) {
        struct pollfd fds[2] = {{stdio->setting.in, POLLIN, 0}, {stdio->stop_fd, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return INPUT_END;
        if (fds[1].revents)
            return INPUT_STOP;
        ssize_t count = line_read(&stdio->lines, stdio->setting.in);
        if (count >= 0)
            return count ? INPUT_MORE : INPUT_END;
        if (errno != EAGAIN && errno != EINTR) {
            log_error("cannot read from the client: %s", strerror(errno));
            return INPUT_END;
        }
    }
}

/* The next message; NULL: there is none that is answered, and `*more` tells whether there may be.
 */
static struct mcp_exchange *next_exchange(struct mcp_stdio *stdio, bool *more)
{
    const struct mcp_sink sink = {send_line, stdio};
    struct slice line;
    enum line_kind kind = line_next(&stdio->lines, &line);
    *more = true;
    if (kind == LINE_NONE) {
        enum input input = read_more(stdio);
        *more = input == INPUT_MORE;
        if (input == INPUT_END)
            kind = line_last(&stdio->lines, &line);
    }
    if (kind == LINE_TOO_LONG)
        refuse_long_line(stdio);
    if (kind != LINE_WHOLE)
        return NULL;
    return mcp_take(stdio->setting.server, stdio->connection, line.data, line.length, &sink);
}

/* ---- threads ---- */

static void *thread_main(void *argument);

static bool add_thread_locked(struct mcp_stdio *stdio)
{
    sigset_t all, before;
    pthread_t thread;
    if (stdio->threads == THREADS_MAX)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    bool made = pthread_create(&thread, NULL, thread_main, stdio) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) {
        pthread_detach(thread);
        stdio->threads++;
        stdio->standing_by++;
    }
    return made;
}

/* Leaves the reading to whoever stands by, should this take its time.  False: there is nobody, and
 * nobody can be made. */
static bool go_away(struct mcp_stdio *stdio, uint64_t *turn)
{
    pthread_mutex_lock(&stdio->lock);
    bool is_watched = stdio->standing_by > 0 || add_thread_locked(stdio);
    if (is_watched) {
        stdio->serving++;
        stdio->is_away = true;
        *turn = ++stdio->turn;
        if (!stdio->ticks)
            pthread_cond_signal(&stdio->changed);
    }
    pthread_mutex_unlock(&stdio->lock);
    return is_watched;
}

/* False: somebody else reads now. */
static bool come_back(struct mcp_stdio *stdio, uint64_t turn)
{
    pthread_mutex_lock(&stdio->lock);
    bool is_mine = stdio->is_away && stdio->turn == turn;
    if (is_mine)
        stdio->is_away = false;
    if (--stdio->serving == 0 && stdio->ended)
        pthread_cond_signal(&stdio->over);
    pthread_mutex_unlock(&stdio->lock);
    return is_mine;
}

/* Reads and serves, until somebody else reads or there is no more. */
static void lead(struct mcp_stdio *stdio)
{
    bool more = true;
    while (more) {
        uint64_t turn;
        struct mcp_exchange *exchange = next_exchange(stdio, &more);
        if (!exchange)
            continue;
        if (mcp_exchange_is_quick(exchange)) {
            mcp_serve(exchange);
        } else if (go_away(stdio, &turn)) {
            mcp_serve(exchange);
            if (!come_back(stdio, turn))
                return;
        } else {
            mcp_exchange_fail(exchange, "too many calls are running; try again later");
            mcp_serve(exchange);
        }
    }
    pthread_mutex_lock(&stdio->lock);
    stdio->ended = true;
    stdio->is_led = false;
    pthread_cond_broadcast(&stdio->changed);
    pthread_cond_signal(&stdio->over);
    pthread_mutex_unlock(&stdio->lock);
    eventfd_write(stdio->end_fd, 1);
}

static void wait_a_tick_locked(struct mcp_stdio *stdio)
{
    const struct timespec until = clock_after_us(stdio->short_ticks ? SHORT_TICK_US : TICK_US);
    stdio->short_ticks -= stdio->short_ticks > 0;
    pthread_cond_clockwait(&stdio->changed, &stdio->lock, CLOCK_MONOTONIC, &until);
}

/* Until nobody reads, or who should does something else for longer than a tick.  One thread ticks,
 * as long as there are calls; the others sleep.  False: all is over. */
static bool stand_by_locked(struct mcp_stdio *stdio)
{
    uint64_t seen = 0;
    unsigned quiet = 0;
    while (!stdio->ended) {
        if (!stdio->is_led || (stdio->is_away && stdio->turn == seen))
            return true;
        quiet = stdio->turn == seen ? quiet + 1 : 0;
        seen = stdio->turn;
        if (stdio->ticks || quiet == TICKS_KEPT) {
            pthread_cond_wait(&stdio->changed, &stdio->lock);
            quiet = 0;
            continue;
        }
        stdio->ticks = true;
        wait_a_tick_locked(stdio);
        stdio->ticks = false;
    }
    return false;
}

static void *thread_main(void *argument)
{
    struct mcp_stdio *stdio = argument;
    pthread_mutex_lock(&stdio->lock);
    while (stdio->standing_by <= STANDING_BY_MAX && stand_by_locked(stdio)) {
        stdio->standing_by--;
        stdio->short_ticks = stdio->is_led ? TICKS_KEPT : 0;
        stdio->is_led = true;
        stdio->is_away = false;
        pthread_mutex_unlock(&stdio->lock);
        lead(stdio);
        pthread_mutex_lock(&stdio->lock);
        stdio->standing_by++;
    }
    stdio->standing_by--;
    stdio->threads--;
    pthread_cond_signal(&stdio->over);
    pthread_mutex_unlock(&stdio->lock);
    return NULL;
}

/* ---- beginning and ending ---- */

static void destroy(struct mcp_stdio *stdio)
{
    mcp_connection_free(stdio->connection);
    line_reader_release(&stdio->lines);
    for (int i = 0; i < 2; i++) {
        int fd = i ? stdio->end_fd : stdio->stop_fd;
        if (fd >= 0)
            close(fd);
    }
    pthread_mutex_destroy(&stdio->writing);
    pthread_cond_destroy(&stdio->over);
    pthread_cond_destroy(&stdio->changed);
    pthread_mutex_destroy(&stdio->lock);
    free(stdio);
}

static bool begin(struct mcp_stdio *stdio)
{
    const struct mcp_sink sink = {send_line, stdio};
    stdio->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    stdio->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    stdio->connection = mcp_connection_new(stdio->setting.server, &sink);
    if (stdio->end_fd < 0 || stdio->stop_fd < 0 || !stdio->connection)
        return false;
    pthread_mutex_lock(&stdio->lock);
    bool made = add_thread_locked(stdio);
    pthread_mutex_unlock(&stdio->lock);
    return made;
}

struct mcp_stdio *mcp_stdio_new(const struct mcp_stdio_setting *setting, struct error *error)
{
    struct mcp_stdio *stdio = calloc(1, sizeof(*stdio));
    if (!stdio) {
        error_memory(error);
        return NULL;
    }
    stdio->setting = *setting;
    stdio->lines = (struct line_reader)LINE_READER(setting->line_max);
    pthread_mutex_init(&stdio->writing, NULL);
    pthread_mutex_init(&stdio->lock, NULL);
    pthread_cond_init(&stdio->changed, NULL);
    pthread_cond_init(&stdio->over, NULL);
    if (begin(stdio))
        return stdio;
    destroy(stdio);
    error_set(error, ERROR_INTERNAL, "no memory, descriptors or threads are left to serve with");
    return NULL;
}

int mcp_stdio_end_fd(const struct mcp_stdio *stdio)
{
    return stdio->end_fd;
}

/* Until the time is over, or nothing is served (`alone`: and no thread is left). */
static bool wait_for_rest(struct mcp_stdio *stdio, bool alone, int grace_ms)
{
    const struct timespec until = clock_after_ms(grace_ms);
    int waited = 0;
    eventfd_write(stdio->stop_fd, 1);
    pthread_mutex_lock(&stdio->lock);
    while (!waited && (!stdio->ended || stdio->serving || (alone && stdio->threads)))
        waited = pthread_cond_clockwait(&stdio->over, &stdio->lock, CLOCK_MONOTONIC, &until);
    bool over = stdio->ended && !stdio->serving && !(alone && stdio->threads);
    pthread_mutex_unlock(&stdio->lock);
    return over;
}

bool mcp_stdio_finish(struct mcp_stdio *stdio, int grace_ms)
{
    return wait_for_rest(stdio, false, grace_ms);
}

bool mcp_stdio_free(struct mcp_stdio *stdio, int grace_ms)
{
    if (!wait_for_rest(stdio, true, grace_ms))
        return false;
    destroy(stdio);
    return true;
}

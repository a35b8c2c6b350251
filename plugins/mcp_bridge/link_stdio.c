/*
 * A link over the pipes of a process.  Its thread reads all that the server writes, whatever else
 * happens, and writes what did not fit into the pipe at once: so nobody waits for a server that
 * does not read while it writes.
 */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mortise/json.h>
#include <mortise/tool.h>

#include "buffer.h"
#include "child.h"
#include "pause.h"
#include "thread.h"

enum {
    QUEUE_MAX = 64 << 20, /* bytes that a server has not read */
    ROOM = 64 << 10,      /* for one read() */
    READS = 16, /* at a time, so that nothing that it writes without an end is all that is done */
    KEPT = 1 << 20, /* of a buffer that was larger */
    TAIL = 4096,    /* of what it writes to stderr */
    SHOWN = 700,    /* of that, in a reason */
    LAST_MS = 300   /* for what it still has to say, once its input is broken */
};

struct stdio_link {
    struct link face; /* first: the session has its address */
    struct link_listener listener;
    const struct server_config *config;
    pthread_t thread;
    int wake; /* the thread: look at what is under the lock */

    pthread_mutex_t lock;
    struct buffer queue; /* what the pipe had no room for, from `sent` on */
    size_t sent;
    bool is_broken; /* it reads no more */
    bool is_closing;
    bool is_over; /* nothing is sent any more */

    /* the thread's */
    struct child child;
    struct buffer input; /* a piece of a line */
    size_t searched;     /* of it there is no line feed in so many bytes */
    char tail[TAIL];
    size_t tail_length;
    bool has_warned;
};

static void wake(struct stdio_link *self)
{
    const uint64_t one = 1;
    while (write(self->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* ---- writing ---- */

/* As writev(), but that a pipe whose reader is gone is an error alone: a plugin leaves the
 * process's signals as they are. */
static ssize_t write_quietly(int fd, const struct iovec *pieces, int count)
{
    sigset_t pipe_only, before, pending;
    struct timespec now = {0, 0};
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ssize_t written;
    while ((written = writev(fd, pieces, count)) < 0 && errno == EINTR)
        ;
    int problem = errno;
    if (written < 0 && problem == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = problem;
    return written;
}

/* Writes what it can; false: the pipe is broken. */
static bool write_some(int fd, const char *text, size_t length, bool with_end, size_t *written)
{
    const struct iovec pieces[] = {{(char *)(uintptr_t)text, length},
                                   {(char *)(uintptr_t) "\n", with_end}};
    ssize_t got = write_quietly(fd, pieces, 2);
    *written = got > 0 ? (size_t)got : 0;
    return got >= 0 || errno == EAGAIN;
}

static void write_queue_locked(struct stdio_link *self)
{
    size_t written = 1;
    while (self->sent < self->queue.length && written > 0 && !self->is_broken) {
        if (!write_some(self->child.in, self->queue.text + self->sent,
                        self->queue.length - self->sent, false, &written))
            self->is_broken = true;
        self->sent += written;
    }
    if (self->sent < self->queue.length)
        return;
    self->sent = 0;
    if (self->queue.capacity > KEPT)
        buffer_release(&self->queue);
    else
        buffer_clear(&self->queue);
}

/* Puts the rest of a message behind what waits, and what was sent out of the way: a slow reader may
 * never come to the end. */
static bool queue_locked(struct stdio_link *self, const char *text, size_t length, bool with_end)
{
    struct buffer *queue = &self->queue;
    if (self->sent > KEPT && self->sent > queue->length / 2) {
        queue->length -= self->sent;
        memmove(queue->text, queue->text + self->sent, queue->length);
        self->sent = 0;
    }
    buffer_put(&self->queue, text, length);
    if (with_end)
        buffer_put(&self->queue, "\n", 1);
    return !self->queue.failed;
}

static mortise_status send_locked(struct stdio_link *self, const struct link_message *message,
                                  char *problem, size_t size)
{
    size_t written = 0, left = self->queue.length - self->sent;
    if (self->is_over) {
        snprintf(problem, size, "it has ended");
        return MORTISE_FAILED;
    }
    if (message->length > QUEUE_MAX - (left < QUEUE_MAX ? left : QUEUE_MAX)) {
        snprintf(problem, size, "it does not read what it is sent");
        return MORTISE_FAILED;
    }
    if (left == 0 && !write_some(self->child.in, message->json, message->length, true, &written))
        self->is_broken = true; /* the thread finds out why */
    bool is_whole = written > message->length;
    if (is_whole || self->is_broken)
        return MORTISE_OK;
    if (queue_locked(self, message->json + written, message->length - written, true))
        return MORTISE_OK;
    self->queue.failed = false;
    self->queue.length = self->sent + left;
    self->is_broken = written > 0; /* half a message is in the pipe */
    snprintf(problem, size, "out of memory");
    return MORTISE_NO_MEMORY;
}

static mortise_status send_message(struct link *face, const struct link_message *message,
                                   char *problem, size_t size)
{
    struct stdio_link *self = (struct stdio_link *)face;
    pthread_mutex_lock(&self->lock);
    mortise_status status = send_locked(self, message, problem, size);
    bool has_more = self->is_broken || self->queue.length > 0;
    pthread_mutex_unlock(&self->lock);
    if (has_more)
        wake(self);
    return status;
}

/* ---- reading ---- */

/* The beginning of what is no message, fit for a line of the log. */
static void excerpt(char *out, size_t size, const char *text, size_t length)
{
    size_t used = mortise_cut(text, length < size - 1 ? length : size - 1);
    for (size_t i = 0; i < used; i++)
        out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
    out[used] = '\0';
}

/* FAULTS 142 */
static void warn_of_noise(struct stdio_link *self, const char *line, size_t length)
{
    char shown[100], text[400];
    if (self->has_warned)
        return;
    self->has_warned = true;
    excerpt(shown, sizeof(shown), line, length);
    snprintf(text, sizeof(text),
             "it writes to its standard output what is no message, which is passed over: '%s'",
             shown);
    self->listener.note(self->listener.self, MORTISE_LOG_WARNING, text);
}

/* The 2025-03-26 revision lets a server send several in a list. */
static void take_list(struct stdio_link *self, char *line)
{
    const char *item = NULL;
    while (mortise_json_next(line, &item) == MORTISE_OK) {
        size_t length = mortise_json_length(item);
        char *end = line + (item - line) + length, kept = *end;
        *end = '\0';
        if (*item == '{')
            self->listener.message(self->listener.self, item, length);
        *end = kept;
    }
}

static void take_line(struct stdio_link *self, char *line, size_t length)
{
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        length--;
    line[length] = '\0';
    size_t blank = strspn(line, " \t\r");
    line += blank;
    length -= blank;
    if (length == 0)
        return;
    bool is_json = (*line == '{' || *line == '[') && !memchr(line, '\0', length) &&
                   mortise_json_length(line) == length;
    if (!is_json)
        warn_of_noise(self, line, length);
    else if (*line == '{')
        self->listener.message(self->listener.self, line, length);
    else
        take_list(self, line);
}

static void take_lines(struct stdio_link *self)
{
    struct buffer *input = &self->input;
    char *begin = input->text, *end = input->text + input->length, *feed;
    char *from = begin + self->searched;
    while ((feed = memchr(from, '\n', (size_t)(end - from)))) {
        take_line(self, begin, (size_t)(feed - begin));
        begin = from = feed + 1;
    }
    input->length = self->searched = (size_t)(end - begin);
    if (input->length == 0 && input->capacity > KEPT)
        buffer_release(input);
    else if (begin > input->text)
        memmove(input->text, begin, input->length);
}

/* Reads of what is there.  False: it is the end, or too much, for the reason in `why`. */
static bool read_output(struct stdio_link *self, char *why, size_t size)
{
    for (int reads = 0; reads < READS; reads++) {
        char *room = buffer_room(&self->input, ROOM);
        if (!room) {
            snprintf(why, size, "there is no memory for a message of it");
            return false;
        }
        ssize_t got = read(self->child.out, room, ROOM);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        self->input.length += (size_t)got;
        take_lines(self);
        if (self->input.length > self->config->limits.message_bytes) {
            snprintf(why, size, "it sent a message of more than %zu bytes",
                     self->config->limits.message_bytes);
            return false;
        }
    }
    return true;
}

/* FAULTS 143: always read, and the end of it kept. */
static void read_errors(struct stdio_link *self)
{
    char bytes[16384];
    ssize_t got = 1;
    for (int reads = 0; reads < READS && self->child.err >= 0; reads++) {
        got = read(self->child.err, bytes, sizeof(bytes));
        if (got < 0)
            return;
        if (got == 0)
            break;
        size_t added = (size_t)got < TAIL ? (size_t)got : TAIL;
        size_t kept = self->tail_length + added > TAIL ? TAIL - added : self->tail_length;
        memmove(self->tail, self->tail + self->tail_length - kept, kept);
        memcpy(self->tail + kept, bytes + (size_t)got - added, added);
        self->tail_length = kept + added;
    }
    if (got == 0) {
        close(self->child.err);
        self->child.err = -1;
    }
}

/* ---- the thread ---- */

/* Waits for something to do.  False: it has to end, for the reason in `why` if that is known. */
static bool turn(struct stdio_link *self, char *why, size_t size)
{
    uint64_t ignored;
    pthread_mutex_lock(&self->lock);
    write_queue_locked(self);
    bool has_more = self->queue.length > 0, is_over = self->is_broken || self->is_closing;
    pthread_mutex_unlock(&self->lock);
    if (is_over)
        return false;
    struct pollfd fds[] = {{.fd = self->wake, .events = POLLIN},
                           {.fd = self->child.out, .events = POLLIN},
                           {.fd = self->child.err, .events = POLLIN},
                           {.fd = self->child.ended, .events = POLLIN},
                           {.fd = has_more ? self->child.in : -1, .events = POLLOUT}};
    poll(fds, 5, -1);
    if (fds[0].revents && read(self->wake, &ignored, sizeof(ignored)) < 0)
        ignored = 0;
    read_errors(self);
    return (!fds[1].revents || read_output(self, why, size)) && !fds[3].revents;
}

/* What it said before its end, which may come a moment after that of its output. */
static void read_the_rest(struct stdio_link *self, char *why, size_t size)
{
    int64_t until_ms = pause_now_ms() + LAST_MS, left_ms;
    char how[64];
    bool is_open = true;
    while (!child_has_ended(&self->child, how, sizeof(how)) &&
           (left_ms = until_ms - pause_now_ms()) > 0) {
        struct pollfd fds[] = {{.fd = is_open ? self->child.out : -1, .events = POLLIN},
                               {.fd = self->child.err, .events = POLLIN},
                               {.fd = self->child.ended, .events = POLLIN}};
        poll(fds, 3, left_ms > 10 && self->child.ended < 0 ? 10 : (int)left_ms);
        is_open = is_open && read_output(self, why, size);
        read_errors(self);
    }
    if (is_open)
        read_output(self, why, size);
    read_errors(self);
}

/* "it ended with exit status 1, having said: …" */
static void explain(const struct stdio_link *self, const char *why, struct buffer *out)
{
    char how[64], shown[SHOWN];
    bool has_ended = child_has_ended(&self->child, how, sizeof(how));
    size_t length = self->tail_length;
    while (length > 0 && strchr(" \t\r\n", self->tail[length - 1]))
        length--;
    size_t begin = length > SHOWN - 1 ? length - (SHOWN - 1) : 0;
    if (*why)
        buffer_puts(out, why);
    else if (has_ended)
        buffer_printf(out, "it ended with %s", how);
    else
        buffer_puts(out, "it closed its standard input or output");
    if (length == 0)
        return;
    while (begin < length && ((unsigned char)self->tail[begin] & 0xc0) == 0x80)
        begin++;
    excerpt(shown, sizeof(shown), self->tail + begin, length - begin);
    buffer_printf(out, "; the last that it said on stderr: %s", shown);
}

static bool is_closing(struct stdio_link *self)
{
    pthread_mutex_lock(&self->lock);
    bool is_it = self->is_closing;
    pthread_mutex_unlock(&self->lock);
    return is_it;
}

static void *run(void *data)
{
    struct stdio_link *self = data;
    struct buffer reason = BUFFER_INIT;
    char why[200] = "";
    while (turn(self, why, sizeof(why)))
        ;
    pthread_mutex_lock(&self->lock);
    self->is_over = true;
    pthread_mutex_unlock(&self->lock);
    if (!is_closing(self)) {
        if (!*why)
            read_the_rest(self, why, sizeof(why));
        explain(self, why, &reason);
        if (!is_closing(self))
            self->listener.closed(self->listener.self,
                                  reason.failed || !reason.text ? "it has ended" : reason.text);
        buffer_release(&reason);
    }
    child_end(&self->child, self->config->limits.close_ms);
    return NULL;
}

/* ---- life ---- */

static void free_link(struct stdio_link *self)
{
    if (self->wake >= 0)
        close(self->wake);
    pthread_mutex_destroy(&self->lock);
    buffer_release(&self->queue);
    buffer_release(&self->input);
    free(self);
}

static void close_link(struct link *face, const mortise_host *host)
{
    struct stdio_link *self = (struct stdio_link *)face;
    (void)host;
    pthread_mutex_lock(&self->lock);
    self->is_closing = true;
    pthread_mutex_unlock(&self->lock);
    wake(self);
    pthread_join(self->thread, NULL);
    free_link(self);
}

static const struct link_face stdio_face = {
    .waits = false, .send = send_message, .close = close_link};

struct link *link_stdio_open(const struct server_config *config,
                             const struct link_listener *listener, char *problem, size_t size)
{
    struct stdio_link *self = calloc(1, sizeof(*self));
    if (!self) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    *self = (struct stdio_link){.face = {&stdio_face}, .listener = *listener, .config = config};
    pthread_mutex_init(&self->lock, NULL);
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->wake < 0) {
        snprintf(problem, size, "there are no descriptors left");
    } else if (child_start(&self->child, config, problem, size)) {
        int reason = thread_start(&self->thread, run, self);
        if (reason == 0)
            return &self->face;
        snprintf(problem, size, "no thread could be started: %s", strerror(reason));
        child_end(&self->child, 0);
    }
    free_link(self);
    return NULL;
}

#include "remote/confined.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define SLICE_MS 50   /* how often a waiting call looks whether it shall stop */
#define TAKE_MS  5000 /* a process that takes no call for so long hangs */
#define REPORT_MS 5000 /* the same, once a call that was cancelled was killed */
#define DEATH_MS 500   /* from the end of its connection to the end of its process */

/* ---- beginning ---- */

static bool send_lane(struct exchange *exchange, const int fds[3], struct error *error)
{
    struct child *child = exchange->child;
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_FORK);
    parcel_put_u32(&message, exchange->tool);
    pthread_mutex_lock(&child->lock);
    bool sent = parcel_send_fds(child->control, &message, fds, 3, TAKE_MS);
    int failure = errno;
    pthread_mutex_unlock(&child->lock);
    text_release(&message);
    return sent || error_set(error, ERROR_PLUGIN, "its process cannot be reached: %s",
                             strerror(failure));
}

static void close_pair(const int pair[2])
{
    for (size_t i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

struct lane *confined_lane(struct exchange *exchange, struct error *error)
{
    int ends[2] = {-1, -1}, lanes[2] = {-1, -1};
    struct lane *lane = calloc(1, sizeof(*lane));
    if (!lane) {
        error_memory(error);
        return NULL;
    }
    lane->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lane->cancel_fd < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lanes) != 0) {
        error_set(error, ERROR_PLUGIN, "its process cannot be reached: %s", strerror(errno));
        close_pair(ends);
        close_pair(lanes);
        lane->fd = lane->end_fd = -1;
        lanes_free(lane);
        return NULL;
    }
    const int theirs[] = {lanes[1], lane->cancel_fd, ends[1]};
    lane->fd = lanes[0];
    lane->end_fd = ends[0];
    bool sent = send_lane(exchange, theirs, error);
    close(lanes[1]);
    close(ends[1]);
    if (sent)
        return lane;
    lanes_free(lane);
    return NULL;
}

/* ---- while it runs ---- */

static void count_output(struct exchange *exchange, size_t bytes)
{
    uint64_t most = exchange->remote->output_bytes;
    uint64_t before = exchange->received;
    exchange->received += bytes;
    if (!most || before > most || exchange->received <= most)
        return;
    ssize_t sent = send(exchange->lane->end_fd, &(char){CONFINED_TOO_MUCH}, 1, MSG_NOSIGNAL);
    (void)sent; /* it is over, if it cannot be told */
}

bool confined_read(struct exchange *exchange)
{
    struct lane *lane = exchange->lane;
    struct pollfd fds[2] = {{lane->fd, POLLIN, 0}, {lane->end_fd, POLLIN, 0}};
    if (poll(fds, 2, SLICE_MS) <= 0)
        return true;
    if (!fds[0].revents) /* over, and all that it sent was read */
        return !fds[1].revents;
    ssize_t got = parcel_read(lane->fd, &lane->in, MSG_DONTWAIT);
    if (got > 0)
        count_output(exchange, (size_t)got);
    return got > 0 || (got < 0 && errno == EAGAIN);
}

/* It could not be shut in, and says why before it ends. */
static bool hear_refusal(struct exchange *exchange, struct parcel *message)
{
    const char *reason = parcel_needed(message);
    if (!parcel_ends(message))
        return false;
    snprintf(exchange->refusal, sizeof(exchange->refusal), "%.200s", reason);
    return true;
}

bool confined_hear(struct exchange *exchange, struct parcel *message)
{
    if (!exchange->remote->confines)
        return false;
    return message->type == PARCEL_LOG       ? child_hear_log(message)
           : message->type == PARCEL_REFUSED ? hear_refusal(exchange, message)
                                             : false;
}

/* ---- the end ---- */

void confined_stop(struct exchange *exchange, const char *why)
{
    if (!exchange->why)
        exchange->why = why;
    shutdown(exchange->lane->end_fd, SHUT_WR);
}

/* What is told when nothing is left of the call.  False: its process's process is over, or hangs. */
static bool wait_for_report(struct exchange *exchange, struct confined_report *report)
{
    int most_ms = exchange->kill_ms ? REPORT_MS : CONFINED_PREPARE_MS;
    confined_stop(exchange, "closed its connection");
    if (!child_wait_readable(exchange->lane->end_fd, most_ms)) {
        child_kill(exchange->child, "did not end a call");
        return false;
    }
    ssize_t got = recv(exchange->lane->end_fd, report, sizeof(*report), 0);
    report->words[sizeof(report->words) - 1] = '\0';
    return got == (ssize_t)sizeof(*report);
}

static bool refuse(struct exchange *exchange, const char *why)
{
    snprintf(exchange->failure, sizeof(exchange->failure),
             "%s may only run in a sandbox, and it was not run: %.250s", exchange->subject, why);
    return exchange_fail(exchange, MORTISE_NOT_SUPPORTED, "tool.sandbox");
}

static bool describe(struct exchange *exchange, const struct confined_report *report)
{
    if (exchange->refusal[0])
        return refuse(exchange, exchange->refusal);
    switch (report->end) {
    case CONFINED_TIME:
    case CONFINED_LIMIT:
        snprintf(exchange->failure, sizeof(exchange->failure), "%s %.250s and was ended",
                 exchange->subject, report->words);
        return exchange_fail(exchange,
                             report->end == CONFINED_TIME ? MORTISE_TIMEOUT : MORTISE_INTERNAL,
                             "sandbox.limit");
    case CONFINED_REFUSED:
        return refuse(exchange, report->words);
    case CONFINED_FAILED:
        snprintf(exchange->failure, sizeof(exchange->failure), "%s cannot be run: %.300s",
                 exchange->subject, report->words);
        return exchange_fail(exchange, MORTISE_UNAVAILABLE, "plugin.unavailable");
    default:
        snprintf(exchange->failure, sizeof(exchange->failure), "%s %.300s", exchange->subject,
                 report->end == CONFINED_KILLED ? exchange->why : report->words);
        return exchange_fail(exchange, MORTISE_INTERNAL, "plugin.died");
    }
}

/* One that dies closes its connection before it is known what it died of. */
static void let_die(const struct exchange *exchange)
{
    if (!exchange->why)
        child_wait_readable(exchange->lane->end_fd, DEATH_MS);
}

bool confined_lost(struct exchange *exchange)
{
    struct confined_report report;
    let_die(exchange);
    bool told = wait_for_report(exchange, &report);
    close(exchange->lane->end_fd);
    exchange->lane->end_fd = -1;
    if (!told)
        return exchange_lost(exchange);
    if (!exchange->kill_ms)
        return describe(exchange, &report);
    snprintf(exchange->failure, sizeof(exchange->failure), "%s was stopped", exchange->subject);
    return exchange_fail(exchange, MORTISE_ABORTED, "plugin.stopped");
}

void confined_close(struct exchange *exchange)
{
    exchange->is_clean = false;
    if (exchange->lane->end_fd >= 0)
        close(exchange->lane->end_fd);
    exchange->lane->end_fd = -1;
}

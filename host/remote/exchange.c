#include "remote/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "remote/confined.h"
#include "remote/request.h"

#define GRACE_MS   1500 /* D16: less than the grace of a batch, so that no call is left behind */
#define SEND_MS    30000

static bool is_stopped(void *context)
{
    const struct exchange *exchange = context;
    return exchange->call && exchange->call->ops->cancelled(exchange->call);
}

bool exchange_fail(struct exchange *exchange, mortise_category category, const char *code)
{
    exchange->category = category;
    exchange->code = code;
    exchange->is_clean = false;
    return false;
}

bool exchange_lost(struct exchange *exchange)
{
    char death[256];
    if (exchange->lane->end_fd >= 0)
        return confined_lost(exchange);
    if (!child_ends(exchange->child, CHILD_DYING_MS))
        child_kill(exchange->child, "closed its connection");
    remote_lost(exchange->remote, exchange->child, death, sizeof(death));
    snprintf(exchange->failure, sizeof(exchange->failure), "plugin '%s' %s during %s",
             exchange->remote->face.name, death, exchange->subject);
    if (exchange->kill_ms && clock_ms() >= exchange->kill_ms)
        log_warning("plugin '%s': %s did not stop within %d ms and its process was ended",
                    exchange->remote->face.name, exchange->subject, GRACE_MS);
    if (exchange->kill_ms)
        return exchange_fail(exchange, MORTISE_ABORTED, "plugin.stopped");
    bool late = exchange->until_ms >= 0 && clock_ms() >= exchange->until_ms;
    return late ? exchange_fail(exchange, MORTISE_TIMEOUT, "plugin.timeout")
                : exchange_fail(exchange, MORTISE_INTERNAL, "plugin.died");
}

/* Ends the process that the call or the hook is in. */
static void stop(struct exchange *exchange, const char *why)
{
    if (exchange->lane->end_fd >= 0)
        confined_stop(exchange, why);
    else
        child_kill(exchange->child, "%s", why);
}

bool exchange_wrong(struct exchange *exchange)
{
    stop(exchange, "sent a message that is wrong");
    return exchange_lost(exchange);
}

/* ---- opening ---- */

static atomic_uint_fast64_t last_number;

/* A call in a sandbox of its own is watched by the process that it is forked from, which has to load
 * something first and may hang itself. */
static int64_t confined_or_own_timeout(const struct remote *remote)
{
    const struct isolation *isolation = &remote->isolation;
    if (!remote->confines)
        return isolation->timeout_ms;
    return isolation->call_timeout_ms ? isolation->call_timeout_ms + CONFINED_PREPARE_MS : 0;
}

bool exchange_open(struct exchange *exchange, enum parcel_type type)
{
    struct error error = ERROR_INIT;
    struct remote *remote = exchange->remote;
    exchange->child = remote_child(remote, is_stopped, exchange, &error);
    if (exchange->child)
        exchange->lane = remote->confines ? confined_lane(exchange, &error)
                                        : lane_take(exchange->child, &error);
    if (!exchange->lane) {
        snprintf(exchange->failure, sizeof(exchange->failure), "%.390s", error.message);
        return error.kind == ERROR_CANCELLED
                   ? exchange_fail(exchange, MORTISE_ABORTED, "tool.cancelled")
                   : exchange_fail(exchange, MORTISE_UNAVAILABLE, "plugin.unavailable");
    }
    exchange->is_clean = true;
    exchange->number = atomic_fetch_add(&last_number, 1) + 1;
    int64_t timeout_ms = confined_or_own_timeout(remote);
    exchange->until_ms = timeout_ms ? clock_ms() + timeout_ms : -1;
    parcel_begin(&exchange->lane->out, type);
    parcel_put_u64(&exchange->lane->out, exchange->number);
    return true;
}

struct text *exchange_out(struct exchange *exchange)
{
    return &exchange->lane->out;
}

/* ---- waiting ---- */

/* Whether it shall stop by now; the first time, it is told so. */
static void look_at_clock(struct exchange *exchange)
{
    int64_t now_ms = clock_ms();
    if (!exchange->kill_ms && is_stopped(exchange)) {
        eventfd_write(exchange->lane->cancel_fd, 1);
        exchange->kill_ms = now_ms + GRACE_MS;
        exchange->is_clean = false;
    }
    bool is_late = exchange->until_ms >= 0 && now_ms >= exchange->until_ms;
    bool is_deaf = exchange->kill_ms && now_ms >= exchange->kill_ms;
    if (exchange->kill_ms && exchange->lane->end_fd >= 0)
        confined_stop(exchange, "did not stop when it was told to");
    if (is_deaf) /* of a call in a sandbox: what it was forked from hangs as well */
        child_kill(exchange->child, "did not stop when it was told to");
    else if (is_late)
        child_kill(exchange->child, "took longer than %lld ms",
                   (long long)confined_or_own_timeout(exchange->remote));
    if ((is_deaf || is_late) && !exchange->ended_ms)
        exchange->ended_ms = now_ms;
}

/* Its guard may have been stopped, and then nothing says that it is over. */
static bool is_given_up(const struct exchange *exchange)
{
    return exchange->ended_ms && clock_ms() >= exchange->ended_ms + CHILD_DYING_MS;
}

/* False: the process is over, or has closed the lane.  One that is over may have left its end of the
 * lane to another that it started: then nothing comes, and nothing says so. */
static bool read_more(struct exchange *exchange)
{
    struct lane *lane = exchange->lane;
    look_at_clock(exchange);
    if (is_given_up(exchange))
        return false;
    if (lane->end_fd >= 0)
        return confined_read(exchange);
    ssize_t got = parcel_read_soon(lane->fd, &lane->in);
    if (got < 0 && errno == EMSGSIZE)
        stop(exchange, "sent a message that is wrong");
    return got > 0 || (got < 0 && errno == EAGAIN && !child_ends(exchange->child, 0));
}

bool exchange_next(struct exchange *exchange, struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&exchange->lane->in, message)) == PARCEL_NONE)
        if (!read_more(exchange))
            return exchange_lost(exchange);
    return next == PARCEL_NEXT || exchange_wrong(exchange);
}

bool exchange_answer(struct exchange *exchange)
{
    if (parcel_send(exchange->lane->fd, &exchange->out, SEND_MS))
        return true;
    if (errno != EPIPE && errno != ECONNRESET)
        stop(exchange, "took no answer");
    return exchange_lost(exchange);
}

bool exchange_run(struct exchange *exchange, enum parcel_type end)
{
    struct parcel message;
    if (!parcel_send(exchange->lane->fd, &exchange->lane->out, SEND_MS)) {
        if (errno == ENOMEM || errno == EMSGSIZE) {
            snprintf(exchange->failure, sizeof(exchange->failure),
                     "%s got more than its process can take", exchange->subject);
            return exchange_fail(exchange, MORTISE_INVALID_INPUT, "plugin.too_large");
        }
        return exchange_lost(exchange);
    }
    while (exchange_next(exchange, &message)) {
        if (message.type == end) {
            exchange->end = message;
            return parcel_u64(&exchange->end) == exchange->number || exchange_wrong(exchange);
        }
        if (!request_answer(exchange, &message))
            return exchange->failure[0] ? false : exchange_wrong(exchange);
    }
    return false;
}

void exchange_close(struct exchange *exchange)
{
    if (exchange->lane && exchange->lane->end_fd >= 0)
        confined_close(exchange);
    if (exchange->lane && exchange->is_clean)
        lane_give_back(exchange->child, exchange->lane);
    else
        lanes_free(exchange->lane);
    child_unref(exchange->child);
    text_release(&exchange->out);
}

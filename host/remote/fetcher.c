#include "remote/fetcher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/asked_http.h"

#define SEND_MS 30000 /* what the process may take for an answer */

struct fetcher {
    struct child *child;
    struct host_api *api; /* of its own: that of the plugin may be gone before */
    int fd;               /* the lane */
    int enough; /* an eventfd: what is being asked for is not wanted any more */
    int stop;   /* an epoll of these two and of the process's end */
    struct parcel_in in;
    struct text out;
};

/* ---- the lane ---- */

/* False: the process is over, or breaks the rules. */
static bool next_message(struct fetcher *fetcher, struct parcel *message)
{
    struct pollfd fds[2] = {{fetcher->fd, POLLIN, 0}, {fetcher->child->pidfd, POLLIN, 0}};
    enum parcel_next next;
    while ((next = parcel_next(&fetcher->in, message)) == PARCEL_NONE) {
        if (poll(fds, 2, -1) < 0)
            continue;
        ssize_t got = fds[0].revents ? parcel_read(fetcher->fd, &fetcher->in, MSG_DONTWAIT) : -1;
        if (got == 0 || (got < 0 && (fds[1].revents || errno != EAGAIN)))
            return false;
    }
    return next == PARCEL_NEXT;
}

static bool break_off(struct fetcher *fetcher)
{
    eventfd_write(fetcher->enough, 1);
    return false;
}

static bool hand_on(struct asked_http *asked)
{
    struct fetcher *fetcher = asked->context;
    struct parcel message;
    if (!parcel_send(fetcher->fd, &fetcher->out, SEND_MS) || !next_message(fetcher, &message) ||
        message.type != PARCEL_ACKNOWLEDGE)
        return break_off(fetcher); /* it was PARCEL_STOP, or what ends the lane soon */
    bool goes_on = parcel_flag(&message);
    return (parcel_ends(&message) && goes_on) || break_off(fetcher);
}

/* ---- a request ---- */

static void make(struct fetcher *fetcher, struct asked_http *asked)
{
    const mortise_host *host = host_api_face(fetcher->api);
    const mortise_http *http = mortise_http_outside(host);
    mortise_http_response response = {.size = sizeof(response), .problem = "there is no http"};
    mortise_status status = MORTISE_UNSUPPORTED;
    eventfd_t before;
    if (eventfd_read(fetcher->enough, &before) == 0)
        before = 0;
    asked->request.stop_fd = fetcher->stop;
    if (http)
        status = http->fetch(host, &asked->request, &response);
    asked_http_answer(asked, status, &response);
    if (http)
        http->release(host, &response);
}

static bool answer(struct fetcher *fetcher, struct parcel *message)
{
    struct asked_http asked = {.out = &fetcher->out, .hand_on = hand_on, .context = fetcher};
    bool good = message->type == PARCEL_HTTP_FETCH && asked_http_read(&asked, message);
    if (good) {
        make(fetcher, &asked);
        good = parcel_send(fetcher->fd, &fetcher->out, SEND_MS);
    } else {
        child_kill(fetcher->child, "sent a message that is wrong");
    }
    asked_http_release(&asked);
    return good;
}

/* ---- life ---- */

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void free_fetcher(struct fetcher *fetcher)
{
    close_fd(fetcher->fd);
    close_fd(fetcher->enough);
    close_fd(fetcher->stop);
    host_api_free(fetcher->api);
    parcel_in_release(&fetcher->in);
    text_release(&fetcher->out);
    free(fetcher);
}

static void *run(void *data)
{
    struct fetcher *fetcher = data;
    struct child *child = fetcher->child;
    struct parcel message;
    while (next_message(fetcher, &message))
        if (message.type != PARCEL_STOP && !answer(fetcher, &message)) /* that came too late */
            break;
    free_fetcher(fetcher);
    pthread_mutex_lock(&child->lock);
    child->fetchers--;
    pthread_cond_broadcast(&child->fetcher_ended);
    pthread_mutex_unlock(&child->lock);
    child_unref(child);
    return NULL;
}

static bool start_thread(struct fetcher *fetcher)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    bool made = pthread_create(&thread, NULL, run, fetcher) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    return made;
}

static bool watch(const struct fetcher *fetcher, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    return epoll_ctl(fetcher->stop, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* NULL: something is not to be had.  *theirs: the other end of the lane. */
static struct fetcher *make_locked(struct child *child, int *theirs)
{
    int sockets[2] = {-1, -1};
    struct fetcher *fetcher = calloc(1, sizeof(*fetcher));
    if (!fetcher)
        return NULL;
    fetcher->child = child;
    fetcher->api = host_api_new(child->name, strdup("{}"), host_api_services(child->api));
    fetcher->enough = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fetcher->stop = epoll_create1(EPOLL_CLOEXEC);
    bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0;
    fetcher->fd = sockets[0];
    if (paired && fetcher->api && watch(fetcher, fetcher->fd) && watch(fetcher, fetcher->enough) &&
        watch(fetcher, child->pidfd)) {
        *theirs = sockets[1];
        return fetcher;
    }
    close_fd(sockets[1]);
    free_fetcher(fetcher);
    return NULL;
}

static bool send_locked(struct child *child, const char *problem, int fd)
{
    struct text answer = TEXT_INIT;
    parcel_begin(&answer, PARCEL_OWN_LANE);
    parcel_put_string(&answer, problem);
    /* One that asks one thing at a time always has room for the answer. */
    bool sent = fd >= 0 ? parcel_send_fds(child->control, &answer, &fd, 1, 0)
                        : parcel_send(child->control, &answer, 0);
    text_release(&answer);
    return sent;
}

static bool start_locked(struct child *child)
{
    int theirs = -1;
    struct fetcher *fetcher = make_locked(child, &theirs);
    if (!fetcher)
        return send_locked(child, "no connection to the host can be made for it", -1);
    bool sent = send_locked(child, NULL, theirs);
    close(theirs);
    if (!sent || !start_thread(fetcher)) {
        free_fetcher(fetcher); /* which the process sees as the end of the host */
        return false;
    }
    child_ref(child); /* the thread's: it ends with the lock, which is held here */
    child->fetchers++;
    return true;
}

bool fetcher_start(struct child *child)
{
    bool good;
    pthread_mutex_lock(&child->lock);
    if (child->has_no_network || !child->api)
        good = send_locked(child, "this plugin has no network", -1);
    else if (child->fetchers >= FETCHERS_MAX)
        good = send_locked(child, "too many requests are made at once", -1);
    else
        good = start_locked(child);
    pthread_mutex_unlock(&child->lock);
    return good;
}

void fetchers_end(struct child *child)
{
    pthread_mutex_lock(&child->lock);
    while (child->fetchers)
        pthread_cond_wait(&child->fetcher_ended, &child->lock);
    pthread_mutex_unlock(&child->lock);
}

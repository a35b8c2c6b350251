#include "mcp/http.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "mcp/http_private.h"

#define BACKLOG        1024
#define CONNECTION_MAX 512
/* Until it is tried again to accept a connection, when there was no descriptor for it. */
#define RESUME_MS      100

/* ---- the loop ----------------------------------------------------------------------------- */

/* A note may make others, which are carried out here as well. */
void http_drain(struct mcp_http *http)
{
    struct queue_node *node;
    if (http->drains)
        return;
    http->drains = true;
    while ((node = queue_pop(&http->queue))) {
        struct http_note *note = (struct http_note *)node;
        note->act(http, note);
    }
    http->drains = false;
}

static void on_wake(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    http_drain(argument);
}

/* Clients do not take what is written for them. */
static void on_end_time(evutil_socket_t none, short what, void *argument)
{
    struct mcp_http *http = argument;
    (void)none;
    (void)what;
    http->api->event_base_loopbreak(http->base);
}

static void *loop(void *argument)
{
    struct mcp_http *http = argument;
    http->api->event_base_dispatch(http->base);
    return NULL;
}

/* Signals are for the main thread; and where SIGPIPE is blocked it kills nobody. */
static bool start_thread(struct mcp_http *http)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&http->thread, NULL, loop, http) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* ---- listening ---------------------------------------------------------------------------- */

static void listen_again(struct mcp_http *http)
{
    if (!http->listener || http->listens || http->connection_count >= CONNECTION_MAX)
        return;
    http->listens = true;
    http->api->evconnlistener_enable(http->listener);
}

static void pause_listening(struct mcp_http *http)
{
    http->listens = false;
    http->api->evconnlistener_disable(http->listener);
}

/* Ends the connection that is idle for longest, if it is not the newest.  False: there is none. */
static bool make_room(struct mcp_http *http)
{
    struct http_connection *oldest = NULL;
    struct http_connection *newest = http->connections;
    for (struct http_connection *at = newest ? newest->next : NULL; at; at = at->next)
        if (http_connection_is_idle(at))
            oldest = at;
    if (oldest)
        http_connection_close(oldest);
    return oldest != NULL;
}

void http_gone(struct mcp_http *http)
{
    http->connection_count--;
    listen_again(http);
    if (http->is_ending && !http->connections)
        http->api->event_base_loopbreak(http->base);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int length, void *argument)
{
    struct mcp_http *http = argument;
    (void)listener;
    (void)address;
    (void)length;
    http_connection_open(http, fd);
    if (http->connection_count >= CONNECTION_MAX && !make_room(http))
        pause_listening(http); /* those who come now wait in the backlog */
}

static void on_resume(evutil_socket_t none, short what, void *argument)
{
    (void)none;
    (void)what;
    listen_again(argument);
}

static void on_accept_failed(struct evconnlistener *listener, void *argument)
{
    struct mcp_http *http = argument;
    struct timeval time = http_time(RESUME_MS);
    (void)listener;
    pause_listening(http);
    if (!make_room(http))
        http->api->event_add(http->resume, &time);
}

/* Which port it is, when it was any. */
static void read_port(struct mcp_http *http)
{
    struct http_address *address = &http->address;
    socklen_t length = address->length;
    getsockname(http->api->evconnlistener_get_fd(http->listener), &address->socket.any, &length);
    snprintf(http->url, sizeof(http->url), "http://%s:%u/mcp", address->host,
             ntohs(address->socket.any.sa_family == AF_INET ? address->socket.four.sin_port
                                                            : address->socket.six.sin6_port));
}

static bool start_listening(struct mcp_http *http, const char *address, struct error *error)
{
    const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE |
                           LEV_OPT_DISABLED;
    http->listener =
        http->api->evconnlistener_new_bind(http->base, on_accept, http, flags, BACKLOG,
                                           &http->address.socket.any, (int)http->address.length);
    if (!http->listener)
        return error_set(error, ERROR_NETWORK, "cannot listen on '%s': %s", address,
                         strerror(errno));
    http->listens = true;
    http->api->evconnlistener_set_error_cb(http->listener, on_accept_failed);
    read_port(http);
    return http->api->evconnlistener_enable(http->listener) == 0 || error_memory(error);
}

/* ---- its beginning ------------------------------------------------------------------------ */

/* Behind another name Host tells nothing, so there must be a token even on this machine. */
static bool check_address(const struct http_address *address,
                          const struct mcp_http_setting *setting, struct error *error)
{
    if (setting->is_public && !setting->token)
        return error_set(error, ERROR_CONFIG,
                         "'%s' is for other machines, so a token is needed; set MORTISE_MCP_TOKEN "
                         "or --token-file",
                         setting->address);
    if (!address->is_loopback && !setting->is_public)
        return error_set(error, ERROR_CONFIG,
                         "'%s' is reached by other machines; listen on 127.0.0.1, or say "
                         "--http-public if that is meant",
                         setting->address);
    return true;
}

static bool make_events(struct mcp_http *http, struct error *error)
{
    const struct event_api *api = http->api;
    http->base = api->event_base_new();
    if (!http->base)
        return error_memory(error);
    http->wake = api->event_new(http->base, http->queue.fd, EV_READ | EV_PERSIST, on_wake, http);
    http->resume = api->event_new(http->base, -1, 0, on_resume, http);
    http->end = api->event_new(http->base, -1, 0, on_end_time, http);
    if (!http->wake || !http->resume || !http->end || api->event_add(http->wake, NULL) != 0)
        return error_memory(error);
    return true;
}

static void release(struct mcp_http *http)
{
    const struct event_api *api = http->api;
    if (http->listener)
        api->evconnlistener_free(http->listener);
    if (http->wake)
        api->event_free(http->wake);
    if (http->resume)
        api->event_free(http->resume);
    if (http->end)
        api->event_free(http->end);
    if (http->base)
        api->event_base_free(http->base);
    queue_release(&http->queue);
    pthread_cond_destroy(&http->quiet);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

static struct mcp_http *http_new(const struct mcp_http_setting *setting,
                                 const struct event_api *api, struct error *error)
{
    struct mcp_http *http = calloc(1, sizeof(*http));
    if (!http || !queue_init(&http->queue)) {
        free(http);
        error_memory(error);
        return NULL;
    }
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->quiet, NULL);
    http->api = api;
    http->server = setting->server;
    http->patience_ms = setting->patience_ms;
    http->policy = (struct http_policy){.token = setting->token,
                                        .is_public = setting->is_public,
                                        .host = http->address.host,
                                        .body_max = setting->body_max};
    return http;
}

struct mcp_http *mcp_http_start(const struct mcp_http_setting *setting, struct error *error)
{
    struct http_address address;
    const struct event_api *api;
    struct mcp_http *http;
    if (!http_address_read(&address, setting->address, error) ||
        !check_address(&address, setting, error) || !(api = event_api(error)) ||
        !(http = http_new(setting, api, error)))
        return NULL;
    http->address = address;
    if (!make_events(http, error) || !start_listening(http, setting->address, error)) {
        release(http);
        return NULL;
    }
    http->pool = pool_new(setting->thread_max);
    if (http->pool && start_thread(http))
        return http;
    error_set(error, ERROR_INTERNAL, "cannot start a thread for '%s'", setting->address);
    pool_free(http->pool, 0);
    release(http);
    return NULL;
}

const char *mcp_http_url(const struct mcp_http *http)
{
    return http->url;
}

/* ---- its end ------------------------------------------------------------------------------ */

/* Those that wait for nothing; and those that have not said what they want. */
static void close_idle(struct mcp_http *http, bool even_begun)
{
    struct http_connection *next;
    for (struct http_connection *at = http->connections; at; at = next) {
        next = at->next;
        if (http_connection_is_idle(at) ||
            (even_begun && (at->state == HTTP_HEAD || at->state == HTTP_BODY)))
            http_connection_close(at);
    }
}

static void act_close(struct mcp_http *http, struct http_note *note)
{
    (void)note;
    http->is_closing = true;
    http->api->evconnlistener_free(http->listener);
    http->listener = NULL;
    close_idle(http, false);
}

static void act_end(struct mcp_http *http, struct http_note *note)
{
    struct timeval time = http_time(http->end_grace_ms);
    (void)note;
    http->is_ending = true;
    close_idle(http, true);
    if (!http->connections)
        http->api->event_base_loopbreak(http->base);
    http->api->event_add(http->end, &time);
}

static void say(struct mcp_http *http, struct http_note *note,
                void (*act)(struct mcp_http *, struct http_note *))
{
    note->act = act;
    queue_push(&http->queue, &note->node);
}

void mcp_http_close(struct mcp_http *http, int grace_ms)
{
    const struct timespec until = clock_after_ms(grace_ms);
    say(http, &http->close_note, act_close);
    pthread_mutex_lock(&http->lock);
    while (http->calls)
        if (pthread_cond_clockwait(&http->quiet, &http->lock, CLOCK_MONOTONIC, &until) != 0)
            break;
    pthread_mutex_unlock(&http->lock);
}

/* Of the thread of the loop, which has ended: what was pushed since is carried out here. */
static void close_all(struct mcp_http *http)
{
    while (http->connections)
        http_connection_close(http->connections);
    http_drain(http);
}

unsigned mcp_http_free(struct mcp_http *http, int grace_ms)
{
    if (!http)
        return 0;
    http->end_grace_ms = grace_ms;
    say(http, &http->end_note, act_end);
    pthread_join(http->thread, NULL);
    close_all(http);
    unsigned left = pool_free(http->pool, grace_ms);
    http_drain(http); /* calls that ended in that time */
    if (!left)
        release(http);
    return left;
}

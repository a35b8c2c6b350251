/*
 * http_private - what the parts of the HTTP server share; all of it belongs to the thread of the
 * loop, but for what is said to be from any thread.
 *
 *   http.c             listening, the loop, its end
 *   http_connection.c  a client's connection: reading requests
 *   http_exchange.c    a request that is served, and the way of its messages to the loop
 *   http_answer.c      what is written
 */
#ifndef MCP_HTTP_PRIVATE_H
#define MCP_HTTP_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/pool.h"
#include "base/queue.h"
#include "mcp/event_api.h"
#include "mcp/http.h"
#include "mcp/http_address.h"
#include "mcp/http_body.h"
#include "mcp/http_check.h"
#include "mcp/http_head.h"

/* To the loop, from any thread. */
struct http_note {
    struct queue_node node; /* first */
    void (*act)(struct mcp_http *http, struct http_note *note);
};

struct http_exchange;

enum http_state {
    HTTP_HEAD,    /* a head is awaited, or incomplete */
    HTTP_BODY,    /* a body is incomplete */
    HTTP_SERVING, /* `exchange` is served */
    HTTP_ENDING   /* what is written goes out; what comes in is thrown away */
};

struct http_connection {
    struct mcp_http *http;
    struct http_connection *next;
    struct http_connection *before;
    struct bufferevent *stream;
    struct event *timer;
    enum http_state state;
    bool is_closed_by_client; /* in its direction */
    bool is_held;             /* nothing is read: too much waits */
    bool closes;              /* after the answer */
    bool is_stream;           /* events are being written */
    int64_t since_ms;         /* the body is awaited */
    size_t seen;              /* bytes of the head that were looked at */
    struct text head_text;
    struct http_head head;
    struct http_body body;
    size_t waiting; /* bytes that were written since all was last sent, among those that are held */
    struct http_exchange *exchange;
};

struct mcp_http {
    const struct event_api *api;
    struct event_base *base;
    struct evconnlistener *listener; /* NULL: no more */
    bool listens;                    /* it is enabled */
    struct event *wake;
    struct event *resume; /* listening, after a failure */
    struct event *end;    /* of the loop, when clients do not take what is written */
    struct queue queue;
    bool drains; /* the queue is being emptied */
    struct pool *pool;
    struct mcp_server *server;
    struct http_policy policy;
    int64_t patience_ms;
    struct http_address address;
    char url[INET6_ADDRSTRLEN + 32];
    struct http_connection *connections; /* the newest first */
    size_t connection_count;
    size_t held; /* bytes of messages that come in, are served, or wait to be written */
    bool is_closing;
    bool is_ending;
    struct http_note close_note;
    struct http_note end_note;
    int64_t end_grace_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t quiet;
    size_t calls; /* that run; under the lock */
};

static inline struct timeval http_time(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* ---- http.c ---- */
/* Carries out what has come by the queue. */
void http_drain(struct mcp_http *http);
/* A connection is gone. */
void http_gone(struct mcp_http *http);

/* ---- http_connection.c ---- */
void http_connection_open(struct mcp_http *http, evutil_socket_t fd);
/* Cancels what is served when that is what it means. */
void http_connection_close(struct http_connection *connection);
/* So many more bytes wait to be sent. */
void http_connection_wrote(struct http_connection *connection, size_t length);
/* Nobody waits for anything on it. */
bool http_connection_is_idle(const struct http_connection *connection);
/* The answer is written: the next request can be read, or this was the last. */
void http_connection_answered(struct http_connection *connection);
/* Takes what has come as far as it goes.  The connection may be gone then. */
void http_connection_go_on(struct http_connection *connection);
/* Once it has been set it can be set again, without memory too. */
bool http_connection_timer(struct http_connection *connection, int64_t ms);

/* ---- http_exchange.c ---- */
/* Serves the message that is in the body.  False: there is no memory. */
bool http_exchange_begin(struct http_connection *connection);
/* The client is gone. */
void http_exchange_leave(struct http_exchange *exchange);
/* Whether it ends with its connection. */
bool http_exchange_is_bound(const struct http_exchange *exchange);

/* ---- http_answer.c ---- */
/* Without a message of the server's. */
void http_answer_refusal(struct http_connection *connection, const struct http_refusal *refusal);
void http_answer_accepted(struct http_connection *connection);
/* One message; `message` is taken. */
void http_answer_json(struct http_connection *connection, int status, struct text *message);
/* One message of several; opens the stream. */
void http_answer_event(struct http_connection *connection, struct text *message);
void http_answer_end(struct http_connection *connection); /* of the stream */
void http_answer_comment(struct http_connection *connection);
void http_answer_continue(struct http_connection *connection);

#endif

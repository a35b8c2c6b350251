/*
 * link - one connection to one MCP server, whatever carries it: a process's pipes (link_stdio.c)
 * or HTTP (link_http.c).
 *
 * A link carries messages and knows nothing of what they mean; requests, answers, eras and
 * restarts are session.c's.  Links for one server are made one after the other: when one is dead
 * the session closes it and opens the next.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mortise/plugin.h>

#include "config.h"

/* What comes from the server.  From the link's own thread, or from one that is in link_send();
 * possibly several at once. */
struct link_listener {
    /* One JSON-RPC message: an object's text, with a NUL behind it, checked to be JSON. */
    void (*message)(void *self, const char *json, size_t length);
    /* Once: the link is dead; `reason` says why, with what the server said last.  Not from within
     * close(). */
    void (*closed)(void *self, const char *reason);
    /* A line for the operator; `level` is MORTISE_LOG_WARNING, …. */
    void (*note)(void *self, uint32_t level, const char *text);
    void *self;
};

/* A message on its way. */
struct link_message {
    /* One line, without the line feed.  NULL, on HTTP in the legacy era: no message, but the stream
     * on which the server tells of what changes.  send() reads it, picks it up when it breaks off,
     * and returns when it was stopped, or there is none (MORTISE_UNSUPPORTED). */
    const char *json;
    size_t length;
    /* For the head of an HTTP request. */
    const char *method;
    const char *name;    /* of the tool that is called, or NULL */
    const char *version; /* of the protocol that holds, or NULL before one does */
    bool is_modern;
    bool is_request;       /* an answer will come */
    const char *arguments; /* of the call, or NULL: for the parameters that the head repeats … */
    const char *schema;    /* … as the tool's input schema says */
    mortise_call *call;    /* for whom; or NULL */
    const mortise_host *host; /* where services come from; lives until send() returns */
    int stop_fd;              /* readable: give up; -1: never */
    int64_t timeout_ms;       /* for all of it; -1: none (subscriptions/listen) */
    int64_t idle_ms;          /* on HTTP, since it began or since its last progress; 0: any time */
};

struct link;
struct link_face {
    /* On HTTP: send() waits for the answer, and has told the listener of it, and of what came
     * before it, when it returns.  Over pipes send() only queues, and never waits. */
    bool waits;
    /* Sends it.  Else a reason in `problem`, and
     *   MORTISE_CANCELLED    stop_fd or the call's cancel
     *   MORTISE_UNSUPPORTED  there was an answer, and it is none of this protocol (such as 404 or
     * 405 without JSON-RPC in it): what answers may be of the other era MORTISE_NOT_FOUND    the
     * session on the server is over: initialize anew MORTISE_DENIED       it wants authentication,
     * or forbids MORTISE_CONFLICT     its time was over MORTISE_FAILED       anything else */
    mortise_status (*send)(struct link *link, const struct link_message *message, char *problem,
                           size_t size);
    /* Ends the connection and frees the link, within 4 seconds; no send() is running.  Nothing is
     * told afterwards.  `host` as in link_message. */
    void (*close)(struct link *link, const mortise_host *host);
};
struct link {
    const struct link_face *face;
};

/* NULL: with the reason in `problem`.  `config` outlives the link, the listener is copied.  Only a
 * note is told before they return. */
struct link *link_stdio_open(const struct server_config *config,
                             const struct link_listener *listener, char *problem, size_t size);
struct link *link_http_open(const struct server_config *config,
                            const struct link_listener *listener, char *problem, size_t size);

#endif

/*
 * link - one connection to one MCP server, whatever carries it: a process's pipes (link_stdio.c)
 * or HTTP (link_http.c).
 *
 * A link carries messages and knows nothing of what they mean; requests, answers, eras and
 * restarts are session.c's.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mortise/plugin.h>

/* What comes from the server.  From the link's own thread, or from one that is in link_send();
 * possibly several at once. */
struct link_listener {
    /* One JSON-RPC message: an object's text, with a NUL behind it, checked to be JSON. */
    void (*message)(void *self, const char *json, size_t length);
    /* Once: the link is dead; `reason` says why, with what the server said last. */
    void (*closed)(void *self, const char *reason);
    void *self;
};

/* A message on its way. */
struct link_message {
    const char *json; /* one line, without the line feed */
    size_t length;
    /* For the head of an HTTP request. */
    const char *method;
    const char *name;      /* of the tool that is called, or NULL */
    const char *version;   /* of the protocol that holds, or NULL before one does */
    bool is_modern;
    bool is_request;       /* an answer will come */
    const char *arguments; /* of the call, or NULL: for the parameters that the head repeats … */
    const char *schema;    /* … as the tool's input schema says */
    mortise_call *call;    /* for whom; or NULL */
    int stop_fd;           /* readable: give up; -1: never */
    int64_t timeout_ms;
};

struct link;
struct link_face {
    /* Sends it.  On HTTP the answer, and what comes before it, is told to the listener before this
     * returns.  MORTISE_OK; or a failure with its reason in `problem`. */
    mortise_status (*send)(struct link *link, const struct link_message *message, char *problem,
                           size_t size);
    /* Ends the connection and frees the link, within 4 seconds.  Nothing is told afterwards. */
    void (*close)(struct link *link);
};
struct link {
    const struct link_face *face;
};

#endif

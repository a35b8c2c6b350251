/*
 * exchange - one request over HTTP with what comes back: messages in JSON or in a stream of events,
 * each told to the listener as soon as it is complete.
 *
 * An exchange belongs to the thread that is in link_send().  It can go on over several requests: a
 * stream that broke off is picked up where it ended.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <mortise/services.h>

#include "head.h"
#include "link.h"
#include "sse.h"

struct exchange {
    const struct link_message *message;
    const struct link_listener *listener;
    const struct server_config *config;
    const char *id; /* of the request, as it stands in its JSON; NULL: there is none */
    size_t id_length;
    int64_t deadline_ms; /* of pause_now_ms(); -1: none */
    int stop;            /* readable: give up; a descriptor of the exchange's own */
    int timer;           /* in `stop`: how long an answered stream may stay open */
    bool has_answer;     /* the listener knows of it */
    bool is_too_large, has_no_memory;
    bool has_warned; /* of an event that is no message */
    bool has_news;   /* an event came since exchange_run() began */
    struct sse sse;

    /* of the last answer */
    uint32_t status; /* 0: there is none */
    bool is_stream, is_resumed;
    bool had_stream;     /* an earlier one was one */
    struct buffer body;  /* of another answer than a stream */
    char type[128];      /* "application/json" */
    char session[1024];  /* "" */
    char challenge[512]; /* of WWW-Authenticate */
    char location[4096];
    int64_t retry_after_ms; /* -1: it did not say */
    char reason[512];       /* why there is none, or why it is not whole */
};

/* False: there are no more descriptors. */
bool exchange_begin(struct exchange *exchange, const struct server_config *config,
                    const struct link_listener *listener, const struct link_message *message);
void exchange_end(struct exchange *exchange);

/* Sends one request and reads what comes.  MORTISE_OK: there was an answer, and all of it is here;
 * MORTISE_CANCELLED: it was to stop, or is late; else `reason` says why. */
mortise_status exchange_run(struct exchange *exchange, const char *method, const char *url,
                            const struct head *head);
/* The same for an answer whose body is JSON: tells the listener.  An error without the id of the
 * request gets it.  False: it is no JSON-RPC. */
bool exchange_tell_body(struct exchange *exchange);

/* False: it was to stop before, or is late. */
bool exchange_wait(struct exchange *exchange, int64_t ms);
/* What is left until the deadline; -1: any time. */
int64_t exchange_left_ms(const struct exchange *exchange);
/* It was not to stop, but took too long. */
bool exchange_is_late(const struct exchange *exchange);

#endif

/*
 * asked_http - a request over HTTP that a plugin in its own process asks for, as the host makes it.
 *
 *     struct asked_http asked = {.out = …, .hand_on = …, .context = …};
 *     if (asked_http_read(&asked, &message))
 *         status = http->send(call, &asked.request, &response);      // or fetch()
 *     asked_http_answer(&asked, status, &response);
 *     …send *asked.out…
 *     asked_http_release(&asked);
 *
 * The head and the pieces of the answer go to the process while the request is made, and are
 * acknowledged.  Two messages may cross: one that says that the process has had enough
 * (PARCEL_STOP), and what is handed on to it, which it does not acknowledge then.  So that message
 * may also come when the request is over, and means nothing then.  One thread.
 */
#ifndef REMOTE_ASKED_HTTP_H
#define REMOTE_ASKED_HTTP_H

#include <mortise/services.h>

#include "remote/parcel.h"

struct asked_http {
    struct text *out; /* for what is sent */
    /* Sends it, and waits until it is acknowledged; false: no more is wanted. */
    bool (*hand_on)(struct asked_http *asked);
    void *context;

    mortise_http_request request; /* without stop_fd */
    bool has_stop;    /* the process may say PARCEL_STOP */
    bool is_enough;   /* hand_on() was false */
    struct text copy; /* what `request` points into */
};

/* `message` is a PARCEL_HTTP_SEND or _FETCH.  False: it is wrong, or there is no memory. */
bool asked_http_read(struct asked_http *asked, struct parcel *message);
/* Writes the PARCEL_ANSWER. */
void asked_http_answer(const struct asked_http *asked, mortise_status status,
                       const mortise_http_response *response);
void asked_http_release(struct asked_http *asked);

#endif

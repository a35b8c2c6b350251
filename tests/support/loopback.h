/*
 * loopback - a server on this machine for tests in C: a thread that answers one connection
 * after the other with event streams and keeps every body that it was sent.
 */
#ifndef TEST_LOOPBACK_H
#define TEST_LOOPBACK_H

#include <pthread.h>

#include "base/text.h"

struct loopback {
    /* Puts the events of the answer to request `number` (from 0); on the server's thread. */
    void (*answer)(void *self, size_t number, const struct text *body, struct text *events);
    void *self;

    int listener;
    int port;
    pthread_t thread;
    struct text *bodies; /* complete once the answer has come; read them between requests */
    size_t count;
    size_t capacity;
};

/* With `answer` and `self` set.  Ends the program when it cannot. */
void loopback_open(struct loopback *loopback);
/* When no connection is open any more. */
void loopback_close(struct loopback *loopback);

#endif

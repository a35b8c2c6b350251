/*
 * inside - the body of a test runs as a tool whose plugin has services.
 *
 *     struct inside inside;
 *     inside_open(&inside, NULL);
 *     assert_inside(&inside, MORTISE_OK, body, data);    mortise_status body(call, data)
 *     inside_close(&inside);
 *
 * Plugins "alpha" and "beta" share one set of services, with a folder of their own.
 */
#ifndef TEST_INSIDE_H
#define TEST_INSIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/services.h>

#include "service/services.h"
#include "tool/call.h"

struct inside {
    char folder[64];
    char artifacts[96], database[96];
    struct services *services;
    struct registry *registry;
    const char *plugin;          /* whose tool it is: "alpha" unless it is changed */
    struct call_context context; /* the user is "ada", the agent "mortise", without a session */
    struct cancel *cancel;
    char said[2048]; /* what the model read of the last call */
    char category[32];
};

void inside_open(struct inside *inside, const char *grants);
void inside_close(struct inside *inside);
/* As another process would: everything is closed, and opened again on the same folder. */
void inside_reopen(struct inside *inside);

typedef mortise_status inside_body(mortise_call *call, void *data);
mortise_status inside_call(struct inside *inside, inside_body *body, void *data);
#define assert_inside(inside, status, body, data)                                                  \
    assert_int_equal(inside_call(inside, body, data), status)
/* The `mortise_host` of a plugin. */
const mortise_host *inside_host(const struct inside *inside, const char *plugin);

#endif

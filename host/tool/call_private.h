/* call_private - what call.c (the life of a call), call_ops.c (what its tool may do), outcome.c
 * (what its result becomes) and single.c (what waits for it) share. */
#ifndef TOOL_CALL_PRIVATE_H
#define TOOL_CALL_PRIVATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/id.h"
#include "tool/call.h"

/* Enough for the arguments and answer of a common call: such a call is one allocation. */
#define CALL_STORAGE 1024

enum call_state {
    CALL_NEW,
    CALL_REVOKED,
    CALL_RUNNING,  /* inside run() */
    CALL_FINISHED, /* finish() came, run() has not returned yet */
    CALL_PENDING,  /* run() has returned, finish() is to come */
    CALL_ENDED
};

/* An answer of context(): the same again when it is asked for again. */
struct call_answer {
    const char *key, *value;
    struct call_answer *next;
};

struct call {
    mortise_call face; /* first: this is the call that the tool sees */
    atomic_uint references;
    atomic_bool stopped;   /* shall stop, whatever the token says */
    atomic_bool abandoned; /* nobody watches any more */

    /* Set before call_run() and read only afterwards. */
    struct registry *registry; /* given back by call_take_result() */
    const struct tool *tool;
    const struct call_context *context; /* nobody's once the call was abandoned */
    struct cancel *cancel;
    int64_t deadline_ms;
    struct call_watcher watcher;
    const char *id; /* or NULL */
    const char *arguments;
    size_t arguments_length;
    unsigned index, count;
    atomic_int_least64_t entered_ns; /* 0: the tool was not entered */

    pthread_mutex_t lock;   /* for everything below */
    pthread_cond_t changed; /* the state; it shall stop; the callback or progress() has returned */
    enum call_state state;
    mortise_status early; /* CALL_FINISHED: what finish() said */
    bool late;            /* run() returned MORTISE_PENDING */
    struct arena memory;
    struct call_answer *answers; /* in `memory`, as are their strings */

    struct text reply;
    bool replied;
    bool is_json;
    struct text failure;
    bool failed;
    mortise_category category;
    int64_t retry_after_ms;
    struct tool_result result; /* its component, code and attachments grow while the tool runs */

    bool watched;                  /* on_cancel() was used */
    void (*on_cancel)(void *data); /* until it is called */
    void *on_cancel_data;
    bool calling_back;
    pthread_t caller;  /* of the callback */
    int cancel_fds[2]; /* an epoll on the token and on an eventfd of this call; -1: not made */

    size_t progress_bytes;
    bool progress_noticed;
    unsigned showing; /* threads of the tool that are inside the watcher's progress() */

    struct call *older;      /* among those that were left behind */
    char owner[2 * 64 + 32]; /* "plugin 'x': tool 'y'", once the tool may be gone before the call */
    alignas(max_align_t) char storage[CALL_STORAGE];
};

extern const mortise_call_ops call_ops;

/* Whether the tool shall stop. */
bool call_is_stopped(const struct call *call);
/* finish(), and what the return of run() comes to. */
void call_finish(struct call *call, mortise_status status);
/* Calls the callback that is set, if there is one and the call has not finished.  Takes the
 * lock; the caller has a reference. */
void call_back(struct call *call);
/* Makes the result of what the tool left in `call`; under the lock. */
void call_settle_locked(struct call *call, mortise_status status);

#endif

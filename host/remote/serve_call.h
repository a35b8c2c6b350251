/*
 * serve_call - the mortise_call that a plugin sees in its own process, for the files that make it:
 * its life and its result (serve_call.c), what it asks the host for (serve_ask.c), cancel and time
 * (serve_cancel.c).
 *
 * Reference counted: one is the call's own, one that of the thread that waits for its cancel.
 */
#ifndef REMOTE_SERVE_CALL_H
#define REMOTE_SERVE_CALL_H

#include <stdalign.h>
#include <stddef.h>

#include "remote/serve_private.h"

#define SERVED_STORAGE 1024

struct answer {
    char *key, *value; /* the value may be NULL */
    struct answer *next;
};

struct served_call {
    mortise_call face; /* first: the plugin has its address */
    atomic_uint refs;
    struct served_lane *lane;
    const struct tool *tool;
    uint64_t number;
    int64_t deadline_ms; /* -1: none */
    atomic_bool is_stopped;
    atomic_int_least64_t looked_ns;

    pthread_mutex_t lock; /* recursive, taken after the lane's */
    pthread_cond_t changed;
    bool is_open; /* the tool may have its say */
    bool is_late; /* run() returned MORTISE_PENDING */
    bool is_finished;
    mortise_status status;
    struct arena memory;
    struct answer *answers;

    struct text reply;
    uint32_t type;
    bool has_replied;
    struct text message, component, code;
    bool has_failed, has_component, has_code;
    mortise_category category;
    int64_t retry_after_ms;

    void (*on_cancel)(void *data);
    void *on_cancel_data;
    bool is_watched, is_calling_back;
    pthread_t caller;
    int over_fd; /* readable once it is over, for the thread that waits; -1 */
    alignas(max_align_t) char storage[SERVED_STORAGE];
};

/* NULL: that is no call of this process. */
struct served_call *served_call_of(mortise_call *face);
void served_call_unref(struct served_call *call); /* NULL is fine */

/* ---- what it asks the host for: mortise_call_ops ---- */

mortise_status served_attach(mortise_call *face, const mortise_attachment *attachment);
void served_emit(mortise_call *face, const char *stream, const char *text, size_t length);
void served_progress(mortise_call *face, double done, double total, const char *message);
const char *served_context(mortise_call *face, const char *key);
const void *served_service(mortise_call *face, const char *id);

/* ---- cancel and time ---- */

bool served_cancelled(mortise_call *face);
mortise_status served_on_cancel(mortise_call *face, void (*callback)(void *data), void *data);
int served_cancel_fd(mortise_call *face);
int64_t served_remaining_ms(mortise_call *face);
/* Before the call ends: until a callback of its own is through. */
void served_wait_for_callback_locked(struct served_call *call);

#endif

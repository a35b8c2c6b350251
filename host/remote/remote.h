/*
 * remote - a plugin in a process of its own, behind the same face as any other.
 *
 * remote_isolate() is for loader.isolate: it starts the process, has the plugin loaded there, and
 * makes a mortise_plugin of what the plugin says of itself.  Each call and each hook goes over a
 * lane (lane.h, exchange.h).
 *
 * WHEN IT DIES, what it was asked fails with an error that names the plugin and how it died, and the
 * next call starts it again: at once after the first time, later after a pause that doubles.  A
 * plugin whose process dies five times without a call in between that went well is set aside: it
 * is not started again, and says so, until it is loaded anew.
 *
 * CONFINED TOOLS.  What is marked MORTISE_SANDBOX_REQUIRED does not run in that process, nor in the
 * host: remote_confine() gives such tools another one, which is started when the first of them is
 * called and does nothing but fork a process in a sandbox for each call (zygote.h, confined.h).
 *
 * Everything may be called from any thread, as the marks of plugin.h say.
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/arena.h"
#include "plugin/isolation.h"
#include "plugin/loader.h"
#include "remote/lane.h"

struct remote {
    mortise_plugin face; /* first: the host has its address */
    struct arena memory; /* of all that the face leads to */
    struct plugin *confines; /* whose confined tools it is for; NULL: it is a plugin */
    uint64_t output_bytes;   /* what a call of these may send; 0: any amount */
    bool has_no_network;     /* and what it may not ask the host for either */
    struct isolation isolation;
    struct file_id file;
    const char *sha256; /* of what may be loaded; NULL: any */
    const char *path;
    struct host_api *api;
    atomic_bool is_set_aside;
    atomic_uint deaths; /* in a row */

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t started;
    struct child *child; /* NULL: none is there */
    bool is_starting;
    int64_t not_before_ms;
    char death[256];   /* the last */
    struct text words; /* PARCEL_FACE as it was said first */
};

mortise_plugin *remote_isolate(const struct isolation *isolation, const char *path,
                               const struct file_id *id, const char *sha256, struct host_api *api,
                               const atomic_bool **is_set_aside, struct error *error);

/* For loader.confine. */
bool remote_confine(struct plugin *plugin, struct error *error);

/* The process, started if need be, as a new reference.  NULL with *error; `stopped(data)` ends the
 * waiting (kind cancelled). */
struct child *remote_child(struct remote *remote, bool (*stopped)(void *data), void *data,
                           struct error *error);
/* It was used, and is over; `death` gets how. */
void remote_lost(struct remote *remote, struct child *child, char *death, size_t size);
/* A call went well. */
void remote_worked(struct remote *remote);

/* ---- what its face is made of (remote_call.c, remote_hook.c) ---- */

struct remote_tool {
    mortise_tool face; /* first */
    struct remote *remote;
    uint32_t index; /* in its plugin */
};
mortise_status remote_run(const mortise_tool *self, mortise_call *call, const void *args);

struct remote_hook {
    mortise_hooks face; /* first */
    struct remote *remote;
    uint32_t index;
};
/* Fills in the functions for the events of `mask`, bits 1 << enum hook_event. */
void remote_hook_fill(struct remote_hook *hook, uint32_t mask);

/* A remote without a process; NULL with *error. */
struct remote *remote_new(const struct isolation *isolation, const char *path,
                          const struct file_id *id, const char *sha256, struct host_api *api,
                          struct error *error);
/* Whether what a process says of the plugin fits the tools that it is for (confine.c). */
bool remote_fits(struct remote *remote, struct parcel *message, struct error *error);

/* Makes the face of what a PARCEL_FACE says.  False: it is wrong, or there is no memory. */
bool remote_read_face(struct remote *remote, struct parcel *message);

#endif

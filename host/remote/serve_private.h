/* serve_private - what the files of the child's end share. */
#ifndef REMOTE_SERVE_PRIVATE_H
#define REMOTE_SERVE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "plugin/host_api.h"
#include "plugin/registry.h"
#include "remote/serve.h"
#include "remote/parcel.h"

/* A lane, at this end.  Its thread runs what comes; what a tool asks may come from any. */
struct served_lane {
    int fd;
    int cancel_fd; /* readable once the call shall stop */
    struct parcel_in in;
    pthread_mutex_t lock; /* recursive: for an exchange of messages, and `out` */
    struct text out;
    struct plugin *plugin;
};

/* Under the lane's lock: sends `out`, and waits for the answer.  False: the host is gone or wrong,
 * which ends this process; so false never comes, but for what is too long to be sent. */
bool lane_send(struct served_lane *lane);
bool lane_ask(struct served_lane *lane, struct parcel *answer);
/* The next message; the host's end ends this thread. */
void lane_next(struct served_lane *lane, struct parcel *message);

void lane_init(struct served_lane *lane, int fd, int cancel_fd, struct plugin *plugin);
void lane_free(struct served_lane *lane); /* the block that it begins, too */
/* The first message of a call or a hook; false: the lane is not used any more. */
bool lane_first(struct served_lane *lane, struct parcel *message);

/* Whether this process is one for calls in sandboxes. */
bool serve_is_for_calls(void);

/* Runs what a PARCEL_CALL or a PARCEL_HOOK says, to its end. */
void serve_call(struct served_lane *lane, struct parcel *message);
void serve_hook(struct served_lane *lane, struct parcel *message);

/* What a plugin is given in the place of the host's services (serve_service.c); NULL: none. */
struct host_services *serve_services(void);

/* ---- the control socket (serve_control.c) ---- */

/* The host is gone, or is none. */
void serve_give_up(void) __attribute__((noreturn));
/* Releases the message. */
bool control_send(struct text *message);

/* The main thread: whether it reads from now on, and what. */
void control_serve(bool is_serving);
void control_next(struct parcel *message);
void control_answer(struct parcel *message); /* a PARCEL_ANSWER or _OWN_LANE */
int control_take_fd(void); /* the first that came and was not taken; -1: none */
struct parcel_in *control_in(void);

/* Any thread.  Asks for a secret; malloc'ed, or NULL. */
char *serve_secret(const char *name);
/* Tells that the plugin asks to be loaded anew; the host knows when it returns. */
void serve_changed(void);
/* A lane of the plugin's own (fetcher.h); -1: there is none, and why. */
#define SERVE_PROBLEM 200
int serve_own_lane(char problem[SERVE_PROBLEM]);

/* ---- a call, for services (serve_ask.c) ---- */

/* The lane of a call of this process, locked, and its memory; NULL: the call is over. */
struct served_lane *served_call_lock(mortise_call *call);
void served_call_unlock(mortise_call *call);
void *served_call_alloc(mortise_call *call, size_t bytes);
/* A service has failed, and the host keeps why: what the tool said before does not count. */
void served_call_forget_error(mortise_call *call);

#endif

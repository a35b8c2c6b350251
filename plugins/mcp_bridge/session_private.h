/*
 * session_private - a session as its own files see it: sessions.c (who has it), session.c (what is
 * asked and answered), session_call.c, era.c and tools_list.c (what the keeper asks first),
 * keeper.c.
 *
 * `lock` guards all but what is said to be another's.  What is told to the host under it (lines for
 * the log, that tools have changed) comes back by no way.
 */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include <pthread.h>

#include "link.h"
#include "rpc.h"
#include "session.h"

/* A load of the plugin that has the session. */
struct owner {
    struct owner *next;
    const mortise_host *host;
    unsigned uses; /* by requests over HTTP that are no calls */
    bool is_leaving;
    bool has_shown;        /* it has made its tools … */
    struct listing *shown; /* … of this; NULL: they were not known */
};

enum session_state {
    STATE_IDLE, /* not started yet */
    STATE_STARTING,
    STATE_READY,
    STATE_DOWN,    /* started again at `retry_ms` */
    STATE_GIVEN_UP /* too often in a row; a call after `retry_ms` tries again */
};

/* A request without an answer, of whoever waits for it. */
struct pending {
    struct pending *next;
    int64_t id;
    mortise_call *call; /* whose progress it is; or NULL */
    pthread_cond_t news;
    bool is_done, is_lost, has_no_memory;
    unsigned busy; /* threads that tell the host of its progress */
    char *result, *error;
    bool has_progress;
    double progress;
    int64_t progressed_ms;
};

/* What is sent when the keeper has time: over HTTP nobody else may wait for it. */
struct letter {
    struct letter *next;
    const char *method; /* or NULL */
    char *json;
};

struct session {
    /* of sessions.c, under its lock */
    struct session *next;
    unsigned refs;

    struct server_config *config;
    pthread_mutex_t lock;
    pthread_cond_t news; /* of anything below */
    pthread_t keeper, ear;
    bool has_keeper, has_ear;
    int stop;             /* readable: requests over HTTP that are no calls give up */
    struct owner *owners; /* the latest first */

    enum session_state state;
    bool is_wanted, is_stopping;
    unsigned attempts;      /* to start it, that have ended */
    unsigned failures;      /* in a row */
    unsigned interruptions; /* because a host had to be let go of */
    int64_t retry_ms, begin_ms, ready_ms;
    char reason[1024]; /* of the last failure */
    char noted[400];   /* the last line of a link for the operator */

    struct link *link; /* NULL: there is none */
    bool is_dead;      /* the link is */
    bool is_closing;
    unsigned senders; /* threads in its send() */
    int64_t last_id;
    struct pending *pendings;
    struct letter *letters;
    unsigned letter_count;

    /* of the link, set by the keeper before it is ready */
    bool is_modern;
    char version[32];
    bool tells_changes;
    char *server; /* what it says of itself, a JSON object, or NULL; the keeper's */

    struct listing *listing;
    int64_t changed_ms; /* when it was said to change, since it was read; 0: it was not */
    unsigned changes;   /* of it that were read, one soon after the other … */
    int64_t last_change_ms;
};

/* ---- session.c ---- */

/* A request. */
struct ask {
    const char *method;
    const char *members;
    bool is_modern; /* of what is no call: the era of the session may not be known yet */
    bool is_never_cancelled;
    int64_t timeout_ms, max_ms;
    /* of a call */
    mortise_call *call;
    const mortise_host *host;
    const char *name, *arguments, *schema;
};

struct reply {
    mortise_status status; /* as of link.send(), and MORTISE_NO_MEMORY */
    bool was_sent;
    bool is_lost; /* the link died */
    bool is_late;
    char *result, *error;
    char problem[1024];
};

/* Asks, and waits for the answer.  `reply` is released by reply_release(). */
void session_ask(struct session *session, const struct ask *ask, struct reply *reply);
void reply_release(struct reply *reply);
/* A notification; `members` as in an ask.  Without waiting, unless `at_once` over HTTP. */
void session_tell(struct session *session, const char *method, const char *members, bool is_modern,
                  bool at_once);
/* What the link is opened with. */
struct link_listener session_listener(struct session *session);
/* The link is of no use any more. */
void session_lose(struct session *session, const char *reason);
/* Has the keeper read the list of tools again. */
void session_note_change(struct session *session);
/* One line for the operator, with the name of the server before it. */
void session_log(struct session *session, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void session_log_locked(struct session *session, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The host for a request that is no call; NULL: none is there now. */
struct owner *session_use_host_locked(struct session *session);
void session_leave_host_locked(struct session *session, struct owner *owner);
/* One letter; waits for what HTTP brings. */
void session_post(struct session *session, const struct link_message *message);

/* ---- era.c, tools_list.c: for the keeper; false with the reason in `problem` ---- */

enum opened { OPENED, OPEN_FAILED, OPEN_ANEW /* the link must be opened again first */ };

/* Finds the era out and begins.  `*era` is what is known of it, and what was found. */
enum opened era_open(struct session *session, enum era_choice *era, char *problem, size_t size);
/* Reads all pages; NULL: `problem`. */
struct listing *tools_list_read(struct session *session, char *problem, size_t size);

/* ---- keeper.c ---- */

/* Starts the thread, if there is none. */
void keeper_start_locked(struct session *session);
/* Has it end all and stop. */
void keeper_stop(struct session *session);
/* Has requests over HTTP that are no calls give up, until they may go on. */
void keeper_interrupt_locked(struct session *session);
void keeper_go_on_locked(struct session *session);

#endif

/*
 * store - sessions that outlive their process: what was said, which calls were started, and
 * how the last run ended.
 *
 * The functions below work with any store; what is special to one kind of database stands
 * behind `struct store_ops` (store_sqlite.h).  A store belongs to one thread at a time and to
 * the process that opened it.  Errors: kind usage for a session that is not there, config for
 * a store that cannot be opened or written by anybody, internal for the rest.
 */
#ifndef CONVERSATION_STORE_H
#define CONVERSATION_STORE_H

#include <stdint.h>

#include "conversation/item.h"

/* How the last run ended. */
#define SESSION_STATES(X)                                                                          \
    X(IDLE, "idle")               /* finished, or there was none */                                \
    X(RUNNING, "running")         /* it goes on; SESSION_INTERRUPTED if its process is gone */      \
    X(PAUSED, "paused")                                                                            \
    X(LIMITED, "limited")                                                                          \
    X(INTERRUPTED, "interrupted") /* an error, a cancel, a hook, a crash */

enum session_state {
#define X(name, text) SESSION_##name,
    SESSION_STATES(X)
#undef X
};
const char *session_state_name(enum session_state state);

struct session {
    char *id;
    char *title;  /* "" until there was a prompt */
    char *model;  /* "PROVIDER/MODEL" */
    char *cwd;    /* the folder that it was begun in */
    char *system; /* or NULL */
    enum session_state state;
    bool crashed; /* INTERRUPTED because its process ended without a word */
    int64_t created_ms, updated_ms; /* since 1970 */
    size_t item_count;
};
void session_release(struct session *session);

/* The items of a session, ready for worker_restore(). */
struct session_items {
    struct item **items;
    size_t count, capacity;
    char **started; /* ids of calls that were started and have no result */
    size_t started_count;
    size_t skipped; /* rows that could not be read, or that made no sense without those */
};
void session_items_release(struct session_items *items);

struct store {
    const struct store_ops *ops;
};

struct store_ops {
    void (*close)(struct store *store);
    /* A new session with these items, all or nothing.  `started` are ids of calls. */
    bool (*create)(struct store *store, const struct session *session, struct item *const *items,
                   size_t count, const char *const *started, size_t started_count,
                   struct error *error);
    /* By id or the unique beginning of one. */
    bool (*find)(struct store *store, const char *id, struct session *session, struct error *error);
    /* The one that was used last; `cwd` NULL: of any folder; `open` only one whose run can be
     * gone on with.  *found tells whether there is one. */
    bool (*latest)(struct store *store, const char *cwd, bool open, struct session *session,
                   bool *found, struct error *error);
    /* Newest first; `each` returns false to end. */
    bool (*list)(struct store *store, bool (*each)(void *data, const struct session *session),
                 void *data, struct error *error);
    /* All or none of the items is stored, and on disk when this returns.  The session is running
     * from here on: what came is part of a run. */
    bool (*append)(struct store *store, const char *id, struct item *const *items, size_t count,
                   struct error *error);
    bool (*call_started)(struct store *store, const char *id, const char *call_id,
                         struct error *error);
    /* These are all items from now on. */
    bool (*replace)(struct store *store, const char *id, struct item *const *items, size_t count,
                    struct error *error);
    bool (*load)(struct store *store, const char *id, struct session_items *items,
                 struct error *error);
    /* NULL: stays as it is. */
    bool (*update)(struct store *store, const char *id, const char *title, const char *model,
                   const char *system, struct error *error);
    bool (*set_state)(struct store *store, const char *id, enum session_state state,
                      struct error *error);
    bool (*remove)(struct store *store, const char *id, struct error *error);
    /* The right to run this session, for one owner at a time: "session 'X' is busy: process
     * 1234 is running it".  It ends with its process, however that ends. */
    bool (*acquire)(struct store *store, const char *id, struct error *error);
    void (*release)(struct store *store);
};

void store_close(struct store *store); /* NULL is fine */

/* What a session is called: the first words of its first prompt.  malloc'ed. */
char *session_title(const struct item *prompt);
/* Whether a user may name a session so: [A-Za-z0-9._-], at most 64, not "-…". */
bool session_id_is_good(const char *id);

/* ---- for those who write a store ---- */

/* Takes over the reference.  Called with the rows in order; NULL: no memory. */
bool session_items_add(struct session_items *items, struct item *item, struct error *error);
/* Repairs what was damaged (repair.h), keeps of `started` what has no result, and uses a
 * response's own form only where it is whole. */
bool session_items_settle(struct session_items *items, struct error *error);
/* Copies the id. */
bool session_items_add_started(struct session_items *items, const char *call_id,
                               struct error *error);

#endif

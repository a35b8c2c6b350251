/*
 * replay_state - what the parts of a replay share; private to this folder.
 *
 * replay.c has the recording and its runs, replay_client.c answers requests, replay_calls.c calls
 * of tools, replay_hooks.c hooks, replay_plugins.c makes the stand-ins for plugins.
 */
#ifndef RECORD_REPLAY_STATE_H
#define RECORD_REPLAY_STATE_H

#include "record/record_write.h"
#include "record/recording.h"
#include "record/replay.h"

/* How far the recorded answers of one hook to one event are. */
struct hook_place {
    char *hook;
    const char *event; /* static */
    unsigned asked;
    size_t next; /* the record to look at next, in replay->recording */
};

struct replay {
    struct recording recording;
    char *name; /* of the file */
    bool is_live;
    struct hook_tape hook_tape;
    struct call_tape call_tape;

    struct replay_run run;
    size_t model; /* the record that the client is made of */
    size_t first; /* the record of the run … */
    size_t end;   /* … and its result's, or the next run's, or the count */
    bool has_result;
    size_t left;           /* records of the run that are to be used */
    struct worker *worker; /* while it runs */

    struct registry *registry; /* the stand-ins that were made last … */
    size_t registry_record;    /* … of this record */

    struct text edits; /* of the hook that is asked, live */
    struct {
        struct hook_place *items;
        size_t count, capacity;
    } places;

    unsigned requests, calls;
    bool differs, is_told;
    const char *ended; /* the recording goes no further, and why; else NULL */
    struct error difference;
};

/* The first record of this kind in the run that is not used; NULL: there is none. */
struct record *replay_find(struct replay *replay, enum record_kind kind);
/* The one whose member is this text: a call's with its id. */
struct record *replay_find_named(struct replay *replay, enum record_kind kind, const char *member,
                                 const char *text);
/* It was done again.  When it is the last before the run was cancelled, it is cancelled here. */
void replay_use(struct replay *replay, struct record *record);
/* Whether a record counts as something that is to be done again. */
bool replay_counts(const struct record *record);
/* Whether the run was cancelled or out of time, as it was recorded. */
bool replay_was_stopped(const struct replay *replay);

/* Something differs; the first one is kept. */
void replay_differ(struct replay *replay, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A record cannot be used. */
void replay_refuse(struct replay *replay, const struct record *record, const char *member);
/* Whether these members of a record are what they are in the object `now`, which is redacted
 * first; "WHAT differs: …". */
bool replay_compare(struct replay *replay, const struct record *record, struct text *now,
                    const char *const *names, const char *what);
/* What is needed was not recorded: because the recording broke off, or it differs. */
void replay_miss(struct replay *replay, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* replay_hooks.c: the edits and the verdict of a stand-in; `hook` is "PLUGIN/NAME".  And what is
 * compared in their place, live. */
mortise_verdict replay_hook(struct replay *replay, const char *hook, enum hook_event event,
                            mortise_hook *face);
void replay_init_hooks(struct replay *replay);
void replay_release_hooks(struct replay *replay);

/* replay_calls.c */
void replay_init_calls(struct replay *replay);

/* replay_plugins.c: NULL with *error. */
struct registry *replay_plugins(struct replay *replay, const struct record *record,
                                struct error *error);

#endif

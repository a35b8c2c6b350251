/*
 * conversation - what run, resume and chat share: a worker made from the settings, with its
 * model, plugins, client, session and front end.
 *
 *     struct conversation conversation = {.app = app, .keeps = KEEPS_ALWAYS};
 *     if (conversation_begin(&conversation, &error) && conversation_prepare(&conversation, &error))
 *         code = conversation_run(&conversation, prompt, length);   // as often as wanted
 *     else
 *         code = conversation_failed(&conversation, &error);
 *     conversation_release(&conversation);
 *
 * THE SESSION  --session ID goes on with that one, or begins it; -c with the latest of this
 * folder; --no-session keeps none.  Without any of them `keeps` decides.  What a session
 * remembers (model, system prompt) is used unless an option or a variable says otherwise.  A
 * new session is written with its first item, so one that nobody spoke in leaves nothing.  It
 * is this process's own from then on until conversation_release().
 */
#ifndef COMMAND_CONVERSATION_H
#define COMMAND_CONVERSATION_H

#include "command/app_context.h"
#include "command/plugin_reload.h"
#include "conversation/store_journal.h"
#include "frontend/jsonl.h"
#include "frontend/print.h"
#include "plugin/watch.h"
#include "record/replay.h"
#include "worker/worker.h"

enum conversation_keeps {
    KEEPS_IF_ASKED, /* a session only with --session or -c: run */
    KEEPS_ALWAYS,   /* unless --no-session: chat */
    KEEPS_RESUME    /* the one named by `session`, or the latest of this folder to go on with */
};

/* Everything is set by conversation_begin() and _prepare() but the first group. */
struct conversation {
    struct app *app;
    enum conversation_keeps keeps;
    const char *session; /* KEEPS_RESUME: id or the beginning of one; NULL: the latest */
    struct replay *replay; /* what a recorded run is done again with, without conversation_begin():
                            * keeps no session; NULL: none is */

    struct text model;  /* "PROVIDER/MODEL" */
    struct text system;
    struct store *store; /* NULL: no session is kept */
    struct store_journal journal;
    bool continued;      /* the session was there before, and has items */
    struct plugin_set *plugins;
    struct plugin_watch *watch; /* --watch, or NULL */
    int wake_fd;                /* conversation_wake_fd()'s; -1: not made */
    bool reload_asked;          /* by a signal, which wants an answer */
    struct client *client;
    struct pool *pool;
    struct cancel *cancel; /* Ctrl-C triggers it (signals.h) */
    struct app_context caller;
    struct worker *worker;
    struct print print;
    struct jsonl jsonl;
    struct worker_result result; /* of the last run */
};

/* Chooses session and model; starts to load what the network needs.  Quick. */
bool conversation_begin(struct conversation *conversation, struct error *error);
/* Plugins, client, worker with what the session holds, front end. */
bool conversation_prepare(struct conversation *conversation, struct error *error);

/* The session's id, or NULL. */
const char *conversation_session(const struct conversation *conversation);

/* One run, shown by the front end; the session's state is written.  Returns the exit code and
 * leaves ->result until the next one.  Without a prompt it goes on with what there is, whatever
 * the session's state. */
int conversation_run(struct conversation *conversation, const char *prompt, size_t length);
/* Goes on with what was paused, limited or interrupted. */
int conversation_resume(struct conversation *conversation);
/* Between runs.  Another model, by its name: history, tools and system prompt stay; or another
 * system prompt (NULL: none).  The session remembers both; when only that fails, it is the
 * error, and the change holds as long as this conversation. */
bool conversation_change_model(struct conversation *conversation, const char *model,
                               struct error *error);
/* The same with a client that is there already, which is taken over, also when it fails. */
bool conversation_change_client(struct conversation *conversation, struct client *client,
                                const char *model, struct error *error);
bool conversation_change_system(struct conversation *conversation, const char *system,
                                struct error *error);

/* ---- plugins that change while it lasts (conversation_plugins.c) ---- */

/* Part of conversation_prepare() and of conversation_release(). */
bool conversation_load_plugins(struct conversation *conversation, struct error *error);
void conversation_release_plugins(struct conversation *conversation);

/* Loads plugins and their configuration anew; the worker uses them from its next request on, or
 * once it is unlocked.  Each change is one line for `tell`. */
void conversation_reload(struct conversation *conversation, plugin_reload_tell *tell, void *data);

/* Whether SIGHUP, --watch or a plugin asks for a reload, and the reload, told as status events and
 * warnings.  Take a struct conversation. */
bool conversation_reload_is_due(void *conversation);
void conversation_reload_due(void *conversation);
/* Readable when conversation_reload_is_due() is to be asked; -1: never. */
int conversation_wake_fd(struct conversation *conversation);
/* For the worker, before each request: reloads what is due.  A reference. */
struct registry *conversation_latest(void *conversation);

/* ---- */

/* What begin or prepare did not do, told as the end of an event stream too with --json. */
int conversation_failed(struct conversation *conversation, const struct error *error);

void conversation_release(struct conversation *conversation);

#endif

/*
 * conversation - what chat stands on: a worker made from the settings, with its model, plugins,
 * client and front end.
 *
 *     struct conversation conversation = {.app = app};
 *     if (conversation_begin(&conversation, &error) && conversation_prepare(&conversation, &error))
 *         code = conversation_run(&conversation, prompt, length);   // as often as wanted
 *     else
 *         code = conversation_failed(&conversation, &error);
 *     conversation_release(&conversation);
 */
#ifndef COMMAND_CONVERSATION_H
#define COMMAND_CONVERSATION_H

#include "command/app.h"
#include "frontend/jsonl.h"
#include "frontend/print.h"
#include "service/artifacts.h"
#include "worker/worker.h"

/* Everything is set by conversation_begin() and _prepare() but the first group. */
struct conversation {
    struct app *app;

    struct text model;  /* "PROVIDER/MODEL" */
    struct text system;
    struct registry *registry;
    struct client *client;
    struct pool *pool;
    struct call_context context;
    char *artifact_folder;
    struct artifacts artifacts;
    struct worker *worker;
    struct print print;
    struct jsonl jsonl;
    struct worker_result result; /* of the last run */
};

/* Chooses the model; starts to load what the network needs.  Quick. */
bool conversation_begin(struct conversation *conversation, struct error *error);
/* Plugins, client, worker, front end. */
bool conversation_prepare(struct conversation *conversation, struct error *error);

/* Another model, by its name; history, tools, system prompt and front end stay.  On an error
 * nothing has changed.  Not during a run. */
bool conversation_change_model(struct conversation *conversation, const char *model,
                               struct error *error);

/* One run, shown by the front end.  Returns the exit code and leaves ->result
 * until the next one.  Who wants to end it watches worker_cancel_token(). */
int conversation_run(struct conversation *conversation, const char *prompt, size_t length);
/* What begin or prepare did not do, told as the end of an event stream too with --json. */
int conversation_failed(struct conversation *conversation, const struct error *error);

void conversation_release(struct conversation *conversation);

#endif

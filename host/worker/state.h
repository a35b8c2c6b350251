/*
 * state - what the parts of a worker share; private to this folder.
 *
 * worker.c makes and frees, change.c locks and changes between runs, run.c is the life of a
 * run, limits.c what ends it early, turn.c one request, response.c and batch.c what came of it.
 * fit.c makes a request smaller that the model cannot take, with shorten.c; whole.c keeps what is
 * cut.
 */
#ifndef WORKER_STATE_H
#define WORKER_STATE_H

#include <pthread.h>

#include "timeline/collect.h"
#include "worker/worker.h"

/* Ids of calls that an earlier process had begun (D25). */
struct started_calls {
    char **items;
    size_t count;
    size_t capacity;
};

/* The last call that had its result, to notice a model that goes in circles. */
struct repeat {
    struct text key; /* name, arguments, result */
    unsigned count;  /* turns in a row */
    unsigned turn;   /* of the last of them */
    bool reached;    /* too many */
};

struct worker {
    struct worker_options options;
    char *system; /* or NULL */
    struct cancel *cancel;         /* of the run; replaced under `cancel_lock` */
    pthread_mutex_t cancel_lock;
    enum worker_state state;
    size_t locked; /* items in front that stay as they are */
    struct request_prefix prefix;
    struct request_start start; /* emptied by every change but an append */
    struct started_calls started;
    bool has_run;
    struct timeline timeline;
    struct collect collect;
    struct history history;
    struct toolset tools;
    struct stream stream;
    struct hook_setting hooks;
    struct hook_outcome stream_outcome; /* of the hook that ended the response */
    char invocation[ID_SIZE]; /* of the run */
    struct call_context context;
    char *model;              /* "anthropic/…" */
    unsigned turn_count; /* requests so far */
    unsigned turn;       /* the number of the current one, from 0 */
    bool interrupted;

    /* of the run */
    struct worker_result *result;
    int64_t deadline_ms;
    int64_t limit_ms;     /* that the deadline comes from */
    unsigned pauses;      /* turns in a row that the model ended with "pause" */
    unsigned cut_batches; /* responses in a row that were cut in the middle of calls */
    struct repeat repeat;
};

/* worker.c: what depends on the registry, made anew.  False, and nothing changed: no memory, or
 * the worker is locked and these are other tools. */
bool worker_use_registry(struct worker *worker, struct registry *registry, struct error *error);
/* change.c: what options.latest has, if that may be. */
void worker_take_latest(struct worker *worker);

/* turn.c: what a step of the run leads to. */
enum step {
    STEP_ON,  /* another request */
    STEP_END  /* result->status is set */
};

/* One request and what follows from it. */
enum step turn_run(struct worker *worker);

/* response.c: the collected response as items of history, with the provider's own form. */
bool response_store(struct worker *worker, struct error *error);

/* batch.c: executes all calls of history that have no result, and stores the results. */
enum step batch_run(struct worker *worker);
/* Answers all such calls with an error of the host's, without running them (D3). */
bool batch_refuse(struct worker *worker, const char *why, struct error *error);

/* whole.c: what is cut from the conversation, kept as an artifact, where there is a place for that.
 * `path` is set to where it is. */
bool whole_has_place(const struct worker *worker);
bool whole_save(struct worker *worker, const char *name, const char *mime_type, const char *data,
                size_t length, struct text *path, struct error *error);
/* The newest artifact of that name, when `cut` was once made of it.  False: it was not. */
bool whole_find(const struct worker *worker, const char *name, const struct bytes *cut,
                struct text *whole, struct text *path);

/* shorten.c: the items of a request with shorter results. */
struct shortened {
    struct item **items; /* references */
    struct item *const *old;
    size_t count;
    size_t results; /* that are shorter */
    size_t bytes;   /* that are gone */
};
/* About how many bytes of text an item is worth. */
size_t shorten_weight(const struct item *item);
/* Results lose `excess` bytes together, if there are so many; the longest lose most, and what is
 * locked stays.  The whole texts are kept (D12).  False: none could be shortened. */
bool shorten_results(struct worker *worker, const struct request *request, size_t excess,
                     struct shortened *shortened);
/* History has the shorter ones from here on. */
bool shorten_history(struct worker *worker, const struct shortened *shortened, struct error *error);
void shorten_release(struct shortened *shortened);

/* fit.c: a request that the model's context cannot take is made smaller, once (FAULTS 41 to 45). */
struct fit {
    struct request_config config;
    struct shortened shortened;
};
/* Whether the last request was such a one. */
bool fit_is_needed(const struct worker *worker);
/* Either it asks for a shorter answer, where that is enough, or it has shorter results; this is
 * told.  False: nothing can be made smaller.  `fit` lives as long as the request. */
bool fit_request(struct worker *worker, struct request *request, struct fit *fit);
/* It was answered: what was shortened stays so, or every later request would not fit either. */
bool fit_keep(struct worker *worker, const struct fit *fit, struct error *error);
void fit_release(struct fit *fit);
/* Adds to an error of that kind what the user can do. */
void fit_advise(const struct worker *worker, struct error *error);

/* written_call.c: the tool that an answer calls in its text, as a model does whose server has no
 * parser for its calls; NULL: none.  Such a call is not run: text is no call (FAULTS 88). */
const char *written_call(const struct toolset *tools, const char *data, size_t length);

/* limits.c: a run begins; a call has its result; whether a limit is reached before the next
 * request, then result->error tells which. */
void limits_begin(struct worker *worker);
void limits_note_result(struct worker *worker, const struct dispatch_call *call);
bool limits_reached(struct worker *worker);

/* run.c: ends the run; all return STEP_END. */
enum step run_end(struct worker *worker, enum worker_status status);
enum step run_fail(struct worker *worker, enum worker_status status, const struct error *error);
enum step run_stopped_by_hook(struct worker *worker, const struct hook_outcome *outcome,
                              const char *event);
/* Whether the run was cancelled or its time is up; then it is ended. */
bool run_interrupted(struct worker *worker);

#endif

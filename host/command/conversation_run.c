#include <stdlib.h>

#include "base/log.h"
#include "command/account.h"
#include "command/conversation.h"
#include "command/signals.h"
#include "record/recorder.h"

/* ---- how it ended ---- */

static int exit_code_of_run(const struct worker_result *result)
{
    switch (result->status) {
    case WORKER_FINISHED:
        return EXIT_FINISHED;
    case WORKER_PAUSED:
        return EXIT_PAUSED;
    case WORKER_LIMIT:
        return EXIT_LIMIT;
    case WORKER_ABORTED:
    case WORKER_HOOK:
        return EXIT_HOOK;
    case WORKER_CANCELLED:
        return signals_received() ? 128 + signals_received() : EXIT_INTERRUPTED;
    case WORKER_TIMEOUT:
        return EXIT_TIMEOUT;
    case WORKER_FAILED:
        break;
    }
    return (int)exit_code_of(result->error.kind);
}

static struct event result_event(const struct conversation *c, const struct worker_result *result,
                                 int code, const struct account_news *news)
{
    return (struct event){
        .kind = EVENT_RESULT,
        .as.result = {.status = worker_status_name(result->status),
                      .text = {text_cstr(&result->text), result->text.length},
                      .exit_code = code,
                      .session = conversation_session(c),
                      .turns = result->turns,
                      .usage = result->usage,
                      .duration_ms = result->duration_ms,
                      .tools = news->usage,
                      .tool_count = news->count},
    };
}

/* A run that could not start ends its event stream like every other. */
static void tell_early_failure(struct conversation *c, const struct error *error)
{
    struct timeline timeline;
    struct worker_result nothing = {.status = WORKER_FAILED, .usage = USAGE_INIT};
    const struct account_news none = {0};
    struct event result = result_event(c, &nothing, (int)exit_code_of(error->kind), &none);
    jsonl_release(&c->jsonl);
    timeline_init(&timeline);
    if (jsonl_register(&c->jsonl, &c->app->out, &timeline)) {
        timeline_emit(&timeline, &(struct event){.kind = EVENT_ERROR, .as.error = error});
        timeline_emit(&timeline, &result);
    }
    timeline_release(&timeline);
}

int conversation_failed(struct conversation *c, const struct error *error)
{
    if (c->app->json)
        tell_early_failure(c, error);
    return app_fail(c->app, error);
}

/* ---- a run, and what the session is told of it ---- */

/* A run that changed nothing leaves its session as it was. */
static enum session_state state_after(const struct worker_result *result, bool changed,
                                      enum session_state before)
{
    switch (result->status) {
    case WORKER_FINISHED:
        return SESSION_IDLE;
    case WORKER_PAUSED:
        return SESSION_PAUSED;
    case WORKER_LIMIT:
        return SESSION_LIMITED;
    default:
        return changed ? SESSION_INTERRUPTED : before;
    }
}

static bool set_state(struct conversation *c, enum session_state state, struct error *error)
{
    if (c->store && !store_journal_set_state(&c->journal, state, error))
        return false;
    c->journal.session.state = state;
    return true;
}

/* A token that was triggered is not the next run's (D21). */
static void watch_signals(struct conversation *c)
{
    struct cancel *token = worker_cancel_token(c->worker);
    if (token != c->cancel)
        signals_watch(token);
    cancel_unref(c->cancel);
    c->cancel = token;
}

static void tell_how_to_go_on(const struct conversation *c, enum session_state state)
{
    if (c->store && !c->app->json && state != SESSION_IDLE)
        log_note("`mortise resume %s` goes on", conversation_session(c));
}

/* `prompt` NULL: resume. */
static int run(struct conversation *c, const char *prompt, size_t length)
{
    struct worker_result *result = &c->result;
    struct error error;
    enum session_state before = c->journal.session.state;
    size_t count = worker_history(c->worker)->count;
    /* A prompt brings the state with it, so that there is none that runs without its prompt. */
    if (!prompt && !set_state(c, SESSION_RUNNING, &error))
        return conversation_failed(c, &error);
    watch_signals(c);
    worker_result_release(result);
    if (c->app->recorder)
        recorder_run(c->app->recorder, prompt, length);
    if (c->replay)
        replay_begin(c->replay, c->worker);
    if (prompt)
        worker_run(c->worker, prompt, length, result);
    else
        worker_resume(c->worker, result);
    if (c->app->recorder)
        recorder_result(c->app->recorder, result);
    if (c->replay)
        replay_end(c->replay, result);
    int code = exit_code_of_run(result);
    enum session_state state =
        state_after(result, worker_history(c->worker)->count != count, before);
    bool stored = set_state(c, state, &error);
    if (!stored && code == EXIT_FINISHED)
        code = (int)exit_code_of(error.kind);
    struct account_news news;
    account_news_take(&news, worker_registry(c->worker));
    struct event event = result_event(c, result, code, &news);
    timeline_emit(worker_timeline(c->worker), &event);
    account_news_keep(&news, c->app);
    account_news_release(&news);
    if (result->error.kind != ERROR_NONE && !c->app->out.failed)
        log_error("%s", result->error.message);
    else if (!stored)
        log_error("%s", error.message);
    tell_how_to_go_on(c, state);
    int flushed = app_flush(c->app);
    return flushed ? flushed : code;
}

int conversation_run(struct conversation *c, const char *prompt, size_t length)
{
    return run(c, prompt, length);
}

/* ---- resuming ---- */

/* The answer that a process gave as the last thing it did, or NULL. */
static const struct item *last_answer(const struct conversation *c)
{
    const struct history *history = worker_history(c->worker);
    const struct item *last = history->count ? history->items[history->count - 1] : NULL;
    bool answered = last && last->kind == ITEM_MESSAGE && last->role == ROLE_ASSISTANT;
    return answered && history_is_paired(history) ? last : NULL;
}

/* The process ended between the last answer and the end of its run: only that is missing. */
static int end_what_was_answered(struct conversation *c, const struct item *answer)
{
    struct error error;
    c->result = (struct worker_result){.status = WORKER_FINISHED, .usage = USAGE_INIT};
    item_append_text(answer, &c->result.text);
    if (!set_state(c, SESSION_IDLE, &error))
        return conversation_failed(c, &error);
    const struct account_news none = {0};
    struct event event = result_event(c, &c->result, EXIT_FINISHED, &none);
    timeline_emit(worker_timeline(c->worker), &event);
    if (!c->app->json) {
        output_foreign(&c->app->out, text_cstr(&c->result.text), c->result.text.length);
        output_end_line(&c->app->out);
    }
    return app_flush(c->app);
}

int conversation_resume(struct conversation *c)
{
    struct error error;
    const struct session *session = &c->journal.session;
    if (session->state == SESSION_IDLE) {
        error_set(&error, ERROR_USAGE,
                  "session '%s' has nothing to resume: its last run is finished; `mortise --session "
                  "%s PROMPT` says more",
                  session->id, session->id);
        return conversation_failed(c, &error);
    }
    const struct item *answer = session->crashed ? last_answer(c) : NULL;
    return answer ? end_what_was_answered(c, answer) : run(c, NULL, 0);
}

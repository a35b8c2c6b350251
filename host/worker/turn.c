#include "base/log.h"
#include "worker/state.h"

/* Bounds of what a model may do in a row without an answer. */
enum { MAX_PAUSES = 8, MAX_CUT_BATCHES = 2 };

/* ---- the request ---- */

/* Hooks edit a list of their own; what they append is stored like any item (D18). */
static enum step ask_hooks(struct worker *worker, struct item_list *items)
{
    struct hook_outcome outcome = {0};
    struct item_list appended = {0};
    struct error error;
    enum step step = STEP_ON;
    for (size_t i = 0; i < worker->history.count; i++)
        if (!item_list_add(items, item_ref(worker->history.items[i]))) {
            error_memory(&error);
            return run_fail(worker, WORKER_FAILED, &error);
        }
    hooks_pre_llm_request(&worker->hooks, items, worker->locked, worker->turn, worker->model,
                          &appended, &outcome);
    for (size_t i = 0; i < appended.count && step == STEP_ON; i++)
        if (!history_append(&worker->history, item_ref(appended.items[i]), &error))
            step = run_fail(worker, WORKER_FAILED, &error);
    if (step == STEP_ON && (outcome.failed || outcome.verdict != MORTISE_CONTINUE))
        step = run_stopped_by_hook(worker, &outcome, "PreLlmRequest");
    item_list_release(&appended);
    return step;
}

static struct request request_of(struct worker *worker, struct item *const *items, size_t count)
{
    return (struct request){
        .system = worker->system,
        .items = items,
        .item_count = count,
        .tools = worker->tools.count ? &worker->tools : NULL,
        .config = &worker->options.config,
        .paired = items == worker->history.items && history_is_paired(&worker->history),
        .prefix = worker->state == WORKER_CACHE_LOCKED ? &worker->prefix : NULL,
        .locked_items = worker->locked,
        .start = items == worker->history.items ? &worker->start : NULL,
        .parts = &worker->options.client->parts,
    };
}

static bool ask(struct worker *worker, const struct request *request)
{
    collect_begin(&worker->collect);
    bool ok = client_complete(worker->options.client, request, &worker->stream, worker->cancel,
                              worker->deadline_ms);
    usage_add(&worker->result->usage, &worker->collect.usage);
    return ok;
}

/* False: stream.error tells why. */
static bool send(struct worker *worker, struct item *const *items, size_t count)
{
    struct request request = request_of(worker, items, count);
    struct fit fit = {0};
    worker->turn_count++;
    worker->result->turns++;
    if (ask(worker, &request))
        return true;
    bool ok = fit_is_needed(worker) && fit_request(worker, &request, &fit) &&
              ask(worker, &request) && fit_keep(worker, &fit, &worker->stream.error);
    if (!ok)
        fit_advise(worker, &worker->stream.error);
    fit_release(&fit);
    return ok;
}

/* What a lock keeps for good is known after the first request was written: for the event that
 * request is written once more than it is sent. */
static const char *prefix_hash(struct worker *worker)
{
    if (worker->state != WORKER_CACHE_LOCKED)
        return NULL;
    if (!worker->prefix.current) {
        const struct request request =
            request_of(worker, worker->history.items, worker->history.count);
        client_prepare(worker->options.client, &request);
    }
    return worker->prefix.current ? worker->prefix.sha256 : NULL;
}

static void tell_turn_start(struct worker *worker)
{
    timeline_emit(&worker->timeline,
                  &(struct event){.kind = EVENT_TURN_START,
                                  .as.turn_start = {.turn = worker->turn,
                                                    .prefix_sha256 = prefix_hash(worker)}});
}

static void tell_turn_end(struct worker *worker)
{
    timeline_emit(
        &worker->timeline,
        &(struct event){.kind = EVENT_TURN_END,
                        .as.turn_end = {.turn = worker->turn, .reason = worker->collect.stop}});
}

/* ---- what follows from the response ---- */

static enum step fail_internal(struct worker *worker, enum error_kind kind, const char *message)
{
    struct error error;
    error_set(&error, kind, "%s", message);
    return run_fail(worker, WORKER_FAILED, &error);
}

/* What a hook ended is dropped as a whole: a paused run asks again when it goes on (D5). */
static enum step drop_response(struct worker *worker)
{
    const struct hook_outcome *outcome = &worker->stream_outcome;
    if (outcome->verdict == MORTISE_PAUSE)
        return run_end(worker, WORKER_PAUSED);
    return run_stopped_by_hook(worker, outcome, outcome->event);
}

static enum step take_response(struct worker *worker, bool complete)
{
    struct error error;
    if (worker->stream.refused)
        return drop_response(worker);
    if (complete) {
        hooks_stream_complete(&worker->hooks, worker->turn, worker->stream.event_count,
                              &worker->stream_outcome);
        if (worker->stream_outcome.verdict != MORTISE_CONTINUE)
            return drop_response(worker);
        if (response_store(worker, &error))
            return STEP_ON;
    }
    if (run_interrupted(worker))
        return STEP_END;
    return run_fail(worker, WORKER_FAILED, complete ? &error : &worker->stream.error);
}

/* The calls of a response that was cut may be half of what was meant: none is run (D3). */
static enum step refuse_calls(struct worker *worker, const char *why)
{
    struct error error;
    if (!batch_refuse(worker, why, &error))
        return run_fail(worker, WORKER_FAILED, &error);
    if (++worker->cut_batches < MAX_CUT_BATCHES)
        return STEP_ON;
    return fail_internal(worker, ERROR_LIMIT,
                         worker->stream.context_full
                             ? "the model's tool calls were cut off twice in a row, because its "
                               "context is full; begin a new session"
                             : "the model's tool calls were cut off twice in a row; raise "
                               "--max-tokens");
}

static enum step go_on_after_pause(struct worker *worker)
{
    if (++worker->pauses < MAX_PAUSES)
        return STEP_ON;
    return fail_internal(worker, ERROR_LIMIT, "the model paused too often without an answer");
}

static enum step ask_turn_end_hooks(struct worker *worker)
{
    struct hook_outcome outcome = {0};
    struct item_list appended = {0};
    struct error error;
    enum step step = STEP_ON;
    hooks_turn_end(&worker->hooks, worker->history.items, worker->history.count, worker->turn,
                   &appended, &outcome);
    if (outcome.failed || outcome.verdict == MORTISE_ABORT)
        step = run_stopped_by_hook(worker, &outcome, "OnTurnEnd");
    else if (outcome.verdict == MORTISE_PAUSE)
        step = run_end(worker, WORKER_PAUSED);
    else if (outcome.verdict == MORTISE_CONTINUE)
        step = run_end(worker, WORKER_FINISHED);
    for (size_t i = 0; step == STEP_ON && i < appended.count; i++)
        if (!history_append(&worker->history, item_ref(appended.items[i]), &error))
            step = run_fail(worker, WORKER_FAILED, &error);
    item_list_release(&appended);
    return step;
}

static void tell_status(struct worker *worker, const char *text)
{
    timeline_emit(&worker->timeline,
                  &(struct event){.kind = EVENT_STATUS, .as.status.text = {text, strlen(text)}});
}

/* Only the user can switch the server's parser on. */
static void warn_of_written_call(struct worker *worker)
{
    const struct text *answer = &worker->result->text;
    struct text status = TEXT_INIT;
    const char *name = worker->collect.count
                           ? written_call(&worker->tools, text_cstr(answer), answer->length)
                           : NULL;
    if (!name)
        return;
    text_printf(&status,
                "the model wrote a call of '%s' as text, so it was not run: switch the server's "
                "tool parser on (vLLM: --enable-auto-tool-choice --tool-call-parser, llama.cpp: "
                "--jinja), or use another model",
                name);
    tell_status(worker, text_cstr(&status));
    text_release(&status);
}

static enum step after_answer(struct worker *worker)
{
    warn_of_written_call(worker);
    switch (worker->collect.stop) {
    case STOP_LENGTH:
        tell_status(worker, worker->stream.context_full
                                ? "the answer was cut because the model's context is full; begin a "
                                  "new session, or let tools return less (--result-limit)"
                                : "the answer was cut at the token limit; --max-tokens raises it");
        break;
    case STOP_REFUSAL:
        tell_status(worker, "the model refused to answer; ask in other words, or begin anew if it "
                            "goes on to refuse");
        break;
    case STOP_CONTENT_FILTER:
        return fail_internal(worker, ERROR_CONTENT_FILTER,
                             "the provider's content filter stopped the answer");
    default:
        break;
    }
    return ask_turn_end_hooks(worker);
}

static enum step follow_response(struct worker *worker)
{
    enum stop_reason stop = worker->collect.stop;
    worker->pauses = stop == STOP_PAUSE ? worker->pauses : 0;
    /* The presence of calls decides, not the label, unless the response was cut. */
    if (history_first_unanswered(&worker->history) == worker->history.count)
        return stop == STOP_PAUSE ? go_on_after_pause(worker) : after_answer(worker);
    if (stop == STOP_LENGTH)
        return refuse_calls(worker, "the response was cut at the token limit, so this call may be "
                                    "incomplete; call again, with shorter arguments if possible");
    if (stop == STOP_CONTENT_FILTER)
        return refuse_calls(worker, "the provider's content filter cut the response");
    worker->cut_batches = 0;
    return batch_run(worker);
}

/* The part of a turn that ends with the model's response. */
static enum step request_response(struct worker *worker)
{
    struct item_list edited = {0};
    enum step step = STEP_ON;
    bool hooked = hooks_take(worker->options.registry, HOOK_pre_llm_request);
    worker->collect.stop = STOP_UNKNOWN;
    if (hooked)
        step = ask_hooks(worker, &edited);
    if (step == STEP_ON)
        step = take_response(worker,
                             hooked ? send(worker, edited.items, edited.count)
                                    : send(worker, worker->history.items, worker->history.count));
    item_list_release(&edited);
    return step;
}

enum step turn_run(struct worker *worker)
{
    worker->turn = worker->turn_count;
    tell_turn_start(worker);
    enum step step = request_response(worker);
    tell_turn_end(worker);
    return step == STEP_ON ? follow_response(worker) : step;
}

#include <string.h>

#include "base/part.h"
#include "base/utf8.h"
#include "provider/overflow.h"
#include "worker/state.h"

/* An answer of fewer tokens is not worth a request. */
#define LEAST_ANSWER_TOKENS 1024

bool fit_is_needed(const struct worker *worker)
{
    const struct stream *stream = &worker->stream;
    return stream->error.kind == ERROR_CONTEXT_OVERFLOW && !stream->refused &&
           !stream_has_shown(stream);
}

/* ---- a shorter answer ---- */

/* Where it is only the tokens for the answer that do not fit: how many do; 0: that is not it. */
static int64_t room_for_answer(const struct overflow *said)
{
    if (said->limit < 0 || said->input < 0 || said->output < 0)
        return 0;
    int64_t room = said->limit - said->input;
    return room >= LEAST_ANSWER_TOKENS && room < said->output ? room : 0;
}

/* ---- shorter results ---- */

static size_t bytes_of(const struct request *request)
{
    size_t bytes = request->system ? strlen(request->system) : 0;
    for (size_t i = 0; i < request->item_count; i++)
        bytes += shorten_weight(request->items[i]);
    for (size_t i = 0; request->tools && i < request->tools->count; i++)
        bytes +=
            strlen(request->tools->items[i].description) + strlen(request->tools->items[i].schema);
    return bytes;
}

/* How many bytes are too many: as the server's numbers say, with a tenth to spare for texts that
 * are dearer than others, or else half of them. */
static size_t excess_of(const struct request *request, const struct overflow *said)
{
    double share = 0.5;
    if (said->limit > 0 && said->input > 0) {
        int64_t answer = said->output > 0 ? said->output : request->config->max_tokens;
        if (answer > said->limit / 4)
            answer = said->limit / 4;
        int64_t room = said->limit - (answer > 0 ? answer : 0);
        share = 1 - 0.9 * (double)room / (double)said->input;
        if (share < 0.1)
            share = 0.1;
    }
    return (size_t)((double)bytes_of(request) * share);
}

/* ---- once more ---- */

static void tell(struct worker *worker, const struct text *status)
{
    stream_tell_retry(&worker->stream, 1, 0);
    if (!status->failed)
        timeline_emit(&worker->timeline,
                      &(struct event){.kind = EVENT_STATUS,
                                      .as.status.text = {status->data, status->length}});
}

static void ask_for_less(struct request *request, struct fit *fit, int64_t room,
                         struct text *status)
{
    fit->config = *request->config;
    fit->config.max_tokens = room;
    request->config = &fit->config;
    text_printf(status,
                "no more than %lld tokens are left for the answer in the model's context: it is "
                "asked for one of that length",
                (long long)room);
}

static void send_less(struct request *request, struct fit *fit, struct text *status)
{
    const struct shortened *shortened = &fit->shortened;
    request->items = shortened->items;
    request->start = NULL; /* that was written with the long ones */
    text_printf(status, "%zu tool result%s shortened by ", shortened->results,
                shortened->results == 1 ? " was" : "s were");
    part_size(status, shortened->bytes);
    text_puts(status, ", because the conversation did not fit into the model's context");
}

bool fit_request(struct worker *worker, struct request *request, struct fit *fit)
{
    struct overflow said;
    struct text status = TEXT_INIT;
    overflow_read(&said, worker->stream.error.message);
    int64_t room = room_for_answer(&said);
    if (room)
        ask_for_less(request, fit, room, &status);
    else if (shorten_results(worker, request, excess_of(request, &said), &fit->shortened))
        send_less(request, fit, &status);
    else
        return false;
    tell(worker, &status);
    text_release(&status);
    return true;
}

bool fit_keep(struct worker *worker, const struct fit *fit, struct error *error)
{
    return !fit->shortened.results || shorten_history(worker, &fit->shortened, error);
}

void fit_release(struct fit *fit)
{
    shorten_release(&fit->shortened);
}

void fit_advise(const struct worker *worker, struct error *error)
{
    enum { MOST_BYTES = 600 }; /* of the server's words, so that what can be done is there too */
    struct error said = *error;
    if (said.kind != ERROR_CONTEXT_OVERFLOW)
        return;
    size_t length = utf8_cut(said.message, strlen(said.message), MOST_BYTES);
    error_set(error, said.kind,
              "%.*s; this does not fit into the model's context: %soffer fewer tools, let them "
              "return less (--result-limit), begin a new session, or use a model that takes more",
              (int)length, said.message,
              worker->locked ? "unlock the session, so that old results can be shortened, " : "");
    error->retryable = said.retryable;
    error->status = said.status;
}

#include <stdlib.h>

#include "worker/state.h"

/* ---- the same call again and again ---- */

static void put_sized(struct text *out, const char *data, size_t length)
{
    text_printf(out, "%zu:", length);
    text_append(out, data, length);
}

/* How many turns in a row this call has come with this result.  Within one response a repeat
 * counts once: a model may ask several times at once, and hears of it only then. */
static unsigned count_repeat(struct worker *worker, const struct dispatch_call *call)
{
    struct repeat *repeat = &worker->repeat;
    struct text key = TEXT_INIT;
    put_sized(&key, call->name, strlen(call->name));
    put_sized(&key, call->arguments.data, call->arguments.length);
    put_sized(&key, text_cstr(&call->result.text), call->result.text.length);
    bool same = !key.failed && repeat->count && key.length == repeat->key.length &&
                memcmp(key.data, repeat->key.data, key.length) == 0;
    if (same && repeat->turn != worker->turn)
        repeat->count++;
    if (!same)
        repeat->count = 1;
    repeat->turn = worker->turn;
    text_release(&repeat->key);
    repeat->key = key;
    return repeat->count;
}

void limits_note_result(struct worker *worker, const struct dispatch_call *call)
{
    enum { MOST_SHOWN = 200 };
    unsigned most = worker->options.max_repeats ? worker->options.max_repeats : 5;
    if (count_repeat(worker, call) <= most || worker->result->error.kind != ERROR_NONE)
        return;
    int length = call->arguments.length < MOST_SHOWN ? (int)call->arguments.length : MOST_SHOWN;
    error_set(&worker->result->error, ERROR_LIMIT,
              "stopped because '%s' was called %u times in a row with the same arguments and the "
              "same result: %.*s",
              call->name, worker->repeat.count, length, call->arguments.data);
    worker->repeat.reached = true;
}

void limits_begin(struct worker *worker)
{
    text_release(&worker->repeat.key);
    worker->repeat = (struct repeat){0};
}

/* ---- before each request ---- */

static int64_t tokens_of(const struct usage *usage)
{
    int64_t input = usage->input_tokens > 0 ? usage->input_tokens : 0;
    int64_t output = usage->output_tokens > 0 ? usage->output_tokens : 0;
    return input > INT64_MAX - output ? INT64_MAX : input + output;
}

bool limits_reached(struct worker *worker)
{
    const struct worker_options *options = &worker->options;
    struct worker_result *result = worker->result;
    int64_t tokens = tokens_of(&result->usage);
    if (worker->repeat.reached)
        return true; /* the reason is told already */
    if (result->turns >= options->max_turns)
        error_set(&result->error, ERROR_LIMIT, "stopped after %u requests in one run (--max-turns)",
                  result->turns);
    else if (options->max_run_tokens > 0 && tokens >= options->max_run_tokens)
        error_set(&result->error, ERROR_LIMIT,
                  "stopped after %lld tokens in one run (--max-run-tokens)", (long long)tokens);
    else
        return false;
    return true;
}

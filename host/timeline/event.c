#include "timeline/event.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static const char *const kind_names[EVENT_KIND_COUNT] = {
#define X(name, json) [EVENT_##name] = json,
    EVENT_KINDS(X)
#undef X
};

static const char *const block_names[] = {[BLOCK_TEXT] = "text",
                                          [BLOCK_REASONING] = "reasoning",
                                          [BLOCK_TOOL_USE] = "tool_call",
                                          [BLOCK_REFUSAL] = "refusal"};

static const char *const delta_names[] = {[BLOCK_TEXT] = "text_delta",
                                          [BLOCK_REASONING] = "reasoning_delta",
                                          [BLOCK_TOOL_USE] = "tool_call_delta",
                                          [BLOCK_REFUSAL] = "refusal_delta"};

static const char *const stop_names[] = {[STOP_UNKNOWN] = NULL,
                                         [STOP_END] = "end",
                                         [STOP_TOOL_USE] = "tool_use",
                                         [STOP_LENGTH] = "length",
                                         [STOP_CONTENT_FILTER] = "content_filter",
                                         [STOP_REFUSAL] = "refusal",
                                         [STOP_PAUSE] = "pause",
                                         [STOP_ERROR] = "error"};

const char *event_kind_name(enum event_kind kind)
{
    return kind < EVENT_KIND_COUNT ? kind_names[kind] : NULL;
}

const char *event_type_name(const struct event *event)
{
    if (event->kind == EVENT_BLOCK_DELTA)
        return delta_names[event->as.block.kind];
    if (event->kind == EVENT_BLOCK_START && event->as.block.kind == BLOCK_TOOL_USE)
        return "tool_call_start";
    return event_kind_name(event->kind);
}

const char *block_kind_name(enum block_kind kind)
{
    return block_names[kind];
}

const char *stop_reason_name(enum stop_reason reason)
{
    return stop_names[reason];
}

static void add_known(int64_t *total, int64_t more)
{
    if (more < 0)
        return;
    int64_t known = *total < 0 ? 0 : *total;
    *total = known > INT64_MAX - more ? INT64_MAX : known + more;
}

void usage_add(struct usage *total, const struct usage *more)
{
    add_known(&total->input_tokens, more->input_tokens);
    add_known(&total->output_tokens, more->output_tokens);
    add_known(&total->cached_tokens, more->cached_tokens);
    add_known(&total->cache_write_tokens, more->cache_write_tokens);
    add_known(&total->reasoning_tokens, more->reasoning_tokens);
}

/* ---- members; deltas pass here by the ten thousand, so nothing is formatted by printf ---- */

static void put_key(struct text *out, const char *key)
{
    if (out->length && out->data[out->length - 1] != '{')
        text_putc(out, ',');
    text_putc(out, '"');
    text_puts(out, key);
    text_append(out, "\":", 2);
}

static void put_slice(struct text *out, const char *key, struct slice slice)
{
    put_key(out, key);
    text_json_string(out, slice.data, slice.length);
}

/* NULL becomes null. */
static void put_string(struct text *out, const char *key, const char *string)
{
    put_key(out, key);
    if (string)
        text_json_string(out, string, strlen(string));
    else
        text_puts(out, "null");
}

static void put_boolean(struct text *out, const char *key, bool value)
{
    put_key(out, key);
    text_puts(out, value ? "true" : "false");
}

static void put_digits(struct text *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    text_append(out, digits + at, sizeof(digits) - at);
}

static void put_integer(struct text *out, const char *key, int64_t value)
{
    put_key(out, key);
    if (value < 0)
        text_putc(out, '-');
    put_digits(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Microseconds as milliseconds with three decimals. */
static void put_milliseconds(struct text *out, const char *key, int64_t microseconds)
{
    uint64_t value = microseconds < 0 ? 0 : (uint64_t)microseconds;
    put_key(out, key);
    put_digits(out, value / 1000);
    char decimals[4] = {'.', (char)('0' + value / 100 % 10), (char)('0' + value / 10 % 10),
                        (char)('0' + value % 10)};
    text_append(out, decimals, sizeof(decimals));
}

/* A tool may have set a locale: then the decimal point is a comma.  JSON has no infinity. */
static void put_real(struct text *out, const char *key, double value)
{
    put_key(out, key);
    size_t start = out->length;
    text_printf(out, "%.15g", isfinite(value) ? value : 0.0);
    char *comma = out->failed ? NULL : strchr(out->data + start, ',');
    if (comma)
        *comma = '.';
}

/* Valid JSON, but one event is one line.  Line ends in valid JSON stand between tokens only. */
static void put_json(struct text *out, const char *key, struct slice json)
{
    put_key(out, key);
    size_t start = out->length;
    text_append(out, json.length ? json.data : "{}", json.length ? json.length : 2);
    for (size_t i = start; i < out->length; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

static void put_known(struct text *out, const char *key, int64_t tokens)
{
    if (tokens >= 0)
        put_integer(out, key, tokens);
}

static void put_usage(struct text *out, const struct usage *usage)
{
    put_known(out, "input_tokens", usage->input_tokens);
    put_known(out, "output_tokens", usage->output_tokens);
    put_known(out, "cached_tokens", usage->cached_tokens);
    put_known(out, "cache_write_tokens", usage->cache_write_tokens);
    put_known(out, "reasoning_tokens", usage->reasoning_tokens);
}

/* ---- one writer per kind of event ---- */

static void write_run_start(struct text *out, const struct event *event)
{
    put_string(out, "session", event->as.run_start.session);
    put_string(out, "model", event->as.run_start.model);
    put_key(out, "tools");
    text_putc(out, '[');
    for (size_t i = 0; i < event->as.run_start.tool_count; i++) {
        const char *name = event->as.run_start.tools[i];
        if (i)
            text_putc(out, ',');
        text_json_string(out, name, strlen(name));
    }
    text_putc(out, ']');
}

static void write_turn_start(struct text *out, const struct event *event)
{
    put_integer(out, "turn", event->as.turn_start.turn);
}

static void write_block_start(struct text *out, const struct event *event)
{
    put_integer(out, "index", event->as.block.index);
    put_string(out, "id", event->as.block.id);
    put_string(out, "name", event->as.block.name);
}

static void write_block_delta(struct text *out, const struct event *event)
{
    put_integer(out, "index", event->as.block.index);
    put_slice(out, event->as.block.kind == BLOCK_TOOL_USE ? "json" : "text", event->as.block.text);
}

static void write_usage(struct text *out, const struct event *event)
{
    put_usage(out, &event->as.usage);
}

static void write_status(struct text *out, const struct event *event)
{
    put_slice(out, "text", event->as.status.text);
}

static void write_retry(struct text *out, const struct event *event)
{
    put_integer(out, "attempt", event->as.retry.attempt);
    put_integer(out, "wait_ms", event->as.retry.wait_ms);
    put_string(out, "reason", event->as.retry.reason ? event->as.retry.reason->message : NULL);
}

static void write_reset(struct text *out, const struct event *event)
{
    put_string(out, "reason", event->as.reset.reason);
}

static void write_error(struct text *out, const struct event *event)
{
    put_string(out, "kind", error_kind_name(event->as.error->kind));
    put_string(out, "message", event->as.error->message);
    put_boolean(out, "retryable", event->as.error->retryable);
}

static void write_tool_call(struct text *out, const struct event *event)
{
    put_string(out, "id", event->as.tool_call.id);
    put_string(out, "name", event->as.tool_call.name);
    if (event->as.tool_call.valid) {
        put_json(out, "arguments", event->as.tool_call.arguments);
    } else {
        put_string(out, "arguments", NULL);
        put_slice(out, "arguments_raw", event->as.tool_call.arguments);
    }
    put_boolean(out, "valid", event->as.tool_call.valid);
}

static void write_tool_progress(struct text *out, const struct event *event)
{
    put_string(out, "id", event->as.tool_progress.id);
    put_string(out, "stream", event->as.tool_progress.stream);
    put_slice(out, "text", event->as.tool_progress.text);
    if (event->as.tool_progress.stream)
        return;
    put_real(out, "done", event->as.tool_progress.done);
    if (event->as.tool_progress.total > 0)
        put_real(out, "total", event->as.tool_progress.total);
}

static void write_tool_result(struct text *out, const struct event *event)
{
    put_string(out, "id", event->as.tool_result.id);
    put_string(out, "name", event->as.tool_result.name);
    put_boolean(out, "success", event->as.tool_result.success);
    put_slice(out, "result", event->as.tool_result.result);
    if (event->as.tool_result.success) {
        put_string(out, "error", NULL);
    } else {
        put_key(out, "error");
        text_putc(out, '{');
        put_string(out, "category", event->as.tool_result.category);
        put_string(out, "code", event->as.tool_result.code);
        put_slice(out, "message", event->as.tool_result.result);
        text_putc(out, '}');
    }
    put_milliseconds(out, "duration_ms", event->as.tool_result.duration_us);
    put_integer(out, "parts", (int64_t)event->as.tool_result.parts);
}

static void write_hook(struct text *out, const struct event *event)
{
    put_string(out, "hook", event->as.hook.hook);
    put_string(out, "event", event->as.hook.event);
    put_string(out, "decision", event->as.hook.decision);
    put_string(out, "reason", event->as.hook.reason);
}

static void write_turn_end(struct text *out, const struct event *event)
{
    put_integer(out, "turn", event->as.turn_end.turn);
    put_string(out, "stop_reason", stop_reason_name(event->as.turn_end.reason));
}

static void write_result(struct text *out, const struct event *event)
{
    put_string(out, "status", event->as.result.status);
    put_slice(out, "text", event->as.result.text);
    put_integer(out, "exit_code", event->as.result.exit_code);
    put_string(out, "session", event->as.result.session);
    put_integer(out, "turns", event->as.result.turns);
    put_key(out, "usage");
    text_putc(out, '{');
    put_usage(out, &event->as.result.usage);
    text_putc(out, '}');
    put_integer(out, "duration_ms", event->as.result.duration_ms);
}

typedef void writer(struct text *out, const struct event *event);

static writer *const writers[EVENT_KIND_COUNT] = {
    [EVENT_RUN_START] = write_run_start,
    [EVENT_TURN_START] = write_turn_start,
    [EVENT_BLOCK_START] = write_block_start,
    [EVENT_BLOCK_DELTA] = write_block_delta,
    [EVENT_USAGE] = write_usage,
    [EVENT_STATUS] = write_status,
    [EVENT_RETRY] = write_retry,
    [EVENT_RESET] = write_reset,
    [EVENT_ERROR] = write_error,
    [EVENT_TOOL_CALL] = write_tool_call,
    [EVENT_TOOL_PROGRESS] = write_tool_progress,
    [EVENT_TOOL_RESULT] = write_tool_result,
    [EVENT_HOOK] = write_hook,
    [EVENT_TURN_END] = write_turn_end,
    [EVENT_RESULT] = write_result,
};

bool event_write_json(const struct event *event, struct text *out)
{
    const char *type = event_type_name(event);
    if (!type)
        return false;
    text_putc(out, '{');
    put_string(out, "type", type);
    writers[event->kind](out, event);
    text_putc(out, '}');
    return true;
}

#include "timeline/event.h"

#include <string.h>

#include "base/json_write.h"

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

const struct tool_progress *event_tool_progress(const struct event *event)
{
    return event->kind == EVENT_TOOL_PROGRESS ? &event->as.tool_progress : NULL;
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

static void put_slice(struct text *out, const char *key, struct slice slice)
{
    json_put_text(out, key, slice.data, slice.length);
}

/* Microseconds as milliseconds with three decimals. */
static void put_milliseconds(struct text *out, const char *key, int64_t microseconds)
{
    int64_t value = microseconds < 0 ? 0 : microseconds;
    char decimals[4] = {'.', (char)('0' + value / 100 % 10), (char)('0' + value / 10 % 10),
                        (char)('0' + value % 10)};
    json_put_integer(out, key, value / 1000);
    text_append(out, decimals, sizeof(decimals));
}

/* Valid JSON, but one event is one line.  Line ends in valid JSON stand between tokens only. */
static void put_json(struct text *out, const char *key, struct slice json)
{
    json_put_key(out, key);
    size_t start = out->length;
    text_append(out, json.length ? json.data : "{}", json.length ? json.length : 2);
    for (size_t i = start; i < out->length; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

static void put_known(struct text *out, const char *key, int64_t tokens)
{
    if (tokens >= 0)
        json_put_integer(out, key, tokens);
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
    json_put_string(out, "session", event->as.run_start.session);
    json_put_string(out, "model", event->as.run_start.model);
    json_put_key(out, "tools");
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
    json_put_integer(out, "turn", event->as.turn_start.turn);
    if (event->as.turn_start.prefix_sha256)
        json_put_string(out, "prefix_sha256", event->as.turn_start.prefix_sha256);
}

static void write_block_start(struct text *out, const struct event *event)
{
    json_put_integer(out, "index", event->as.block.index);
    json_put_string(out, "id", event->as.block.id);
    json_put_string(out, "name", event->as.block.name);
}

static void write_block_delta(struct text *out, const struct event *event)
{
    json_put_integer(out, "index", event->as.block.index);
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
    json_put_integer(out, "attempt", event->as.retry.attempt);
    json_put_integer(out, "wait_ms", event->as.retry.wait_ms);
    json_put_string(out, "reason", event->as.retry.reason ? event->as.retry.reason->message : NULL);
}

static void write_reset(struct text *out, const struct event *event)
{
    json_put_string(out, "reason", event->as.reset.reason);
}

static void write_error(struct text *out, const struct event *event)
{
    json_put_string(out, "kind", error_kind_name(event->as.error->kind));
    json_put_string(out, "message", event->as.error->message);
    json_put_boolean(out, "retryable", event->as.error->retryable);
}

static void write_tool_call(struct text *out, const struct event *event)
{
    json_put_string(out, "id", event->as.tool_call.id);
    json_put_string(out, "name", event->as.tool_call.name);
    if (event->as.tool_call.valid) {
        put_json(out, "arguments", event->as.tool_call.arguments);
    } else {
        json_put_string(out, "arguments", NULL);
        put_slice(out, "arguments_raw", event->as.tool_call.arguments);
    }
    json_put_boolean(out, "valid", event->as.tool_call.valid);
    if (event->as.tool_call.long_running)
        json_put_boolean(out, "long_running", true);
}

static void write_tool_progress(struct text *out, const struct event *event)
{
    const struct tool_progress *progress = event_tool_progress(event);
    json_put_string(out, "id", progress->id);
    json_put_string(out, "stream", progress->stream);
    put_slice(out, "text", progress->text);
    if (progress->stream)
        return;
    json_put_number(out, "done", progress->done);
    if (progress->total > 0)
        json_put_number(out, "total", progress->total);
}

static void put_parts(struct text *out, const struct event_part *parts, size_t count)
{
    json_put_key(out, "parts");
    text_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        text_puts(out, i ? ",{" : "{");
        json_put_string(out, "mime_type", parts[i].mime_type);
        if (parts[i].name)
            json_put_string(out, "name", parts[i].name);
        if (parts[i].uri)
            json_put_string(out, "uri", parts[i].uri);
        else
            json_put_integer(out, "bytes", (int64_t)parts[i].bytes);
        text_putc(out, '}');
    }
    text_putc(out, ']');
}

static void write_tool_result(struct text *out, const struct event *event)
{
    json_put_string(out, "id", event->as.tool_result.id);
    json_put_string(out, "name", event->as.tool_result.name);
    json_put_boolean(out, "success", event->as.tool_result.success);
    put_slice(out, "result", event->as.tool_result.result);
    if (event->as.tool_result.success) {
        json_put_string(out, "error", NULL);
    } else {
        json_put_key(out, "error");
        text_putc(out, '{');
        json_put_string(out, "component", event->as.tool_result.component);
        json_put_string(out, "category", event->as.tool_result.category);
        json_put_string(out, "code", event->as.tool_result.code);
        put_slice(out, "message", event->as.tool_result.result);
        json_put_boolean(out, "retryable", event->as.tool_result.retryable);
        if (event->as.tool_result.retry_after_ms)
            json_put_integer(out, "retry_after_ms", event->as.tool_result.retry_after_ms);
        text_putc(out, '}');
    }
    put_milliseconds(out, "duration_ms", event->as.tool_result.duration_us);
    put_parts(out, event->as.tool_result.parts, event->as.tool_result.part_count);
}

static void write_hook(struct text *out, const struct event *event)
{
    json_put_string(out, "hook", event->as.hook.hook);
    json_put_string(out, "event", event->as.hook.event);
    json_put_string(out, "decision", event->as.hook.decision);
    json_put_string(out, "reason", event->as.hook.reason);
}

static void write_turn_end(struct text *out, const struct event *event)
{
    json_put_integer(out, "turn", event->as.turn_end.turn);
    json_put_string(out, "stop_reason", stop_reason_name(event->as.turn_end.reason));
}

static void write_tool_usage(struct text *out, const struct tool_usage *tools, size_t count)
{
    json_put_key(out, "tools");
    text_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        text_puts(out, i ? ",{" : "{");
        json_put_string(out, "name", tools[i].name);
        json_put_integer(out, "calls", tools[i].calls);
        json_put_integer(out, "errors", tools[i].errors);
        put_milliseconds(out, "total_ms", tools[i].total_us);
        put_milliseconds(out, "p99_ms", tools[i].p99_us);
        text_putc(out, '}');
    }
    text_putc(out, ']');
}

static void write_result(struct text *out, const struct event *event)
{
    json_put_string(out, "status", event->as.result.status);
    put_slice(out, "text", event->as.result.text);
    json_put_integer(out, "exit_code", event->as.result.exit_code);
    json_put_string(out, "session", event->as.result.session);
    json_put_integer(out, "turns", event->as.result.turns);
    json_put_key(out, "usage");
    text_putc(out, '{');
    put_usage(out, &event->as.result.usage);
    text_putc(out, '}');
    json_put_integer(out, "duration_ms", event->as.result.duration_ms);
    write_tool_usage(out, event->as.result.tools, event->as.result.tool_count);
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
    json_put_string(out, "type", type);
    writers[event->kind](out, event);
    text_putc(out, '}');
    return true;
}

static const char *const start_names[] = {[BLOCK_TEXT] = "text_start",
                                          [BLOCK_REASONING] = "reasoning_start",
                                          [BLOCK_TOOL_USE] = "tool_call_start",
                                          [BLOCK_REFUSAL] = "refusal_start"};

static const char *const close_names[] = {[BLOCK_TEXT] = "text_stop",
                                          [BLOCK_REASONING] = "reasoning_stop",
                                          [BLOCK_TOOL_USE] = "tool_call_stop",
                                          [BLOCK_REFUSAL] = "refusal_stop"};

static const char *quiet_type_name(const struct event *event)
{
    switch (event->kind) {
    case EVENT_BLOCK_START:
        return start_names[event->as.block.kind];
    case EVENT_BLOCK_STOP:
        return close_names[event->as.block.kind];
    case EVENT_STOP:
        return "stop";
    default:
        return "ping";
    }
}

const char *event_write_chunk(const struct event *event, struct text *out)
{
    if (event_write_json(event, out))
        return event_type_name(event);
    const char *type = quiet_type_name(event);
    text_putc(out, '{');
    json_put_string(out, "type", type);
    if (event->kind == EVENT_BLOCK_START || event->kind == EVENT_BLOCK_STOP)
        json_put_integer(out, "index", event->as.block.index);
    else if (event->kind == EVENT_STOP)
        json_put_string(out, "stop_reason", stop_reason_name(event->as.stop.reason));
    text_putc(out, '}');
    return type;
}

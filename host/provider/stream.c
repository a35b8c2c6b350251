#include "provider/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void stream_init(struct stream *stream, struct timeline *timeline)
{
    *stream = (struct stream){.timeline = timeline, .usage = USAGE_INIT, .error = ERROR_INIT};
}

static void block_free(struct stream_block *block)
{
    text_release(&block->text);
    free(block->id);
    free(block);
}

void stream_begin(struct stream *stream)
{
    for (size_t i = 0; i < stream->blocks.count; i++)
        block_free(stream->blocks.items[i]);
    stream->blocks.count = 0;
    stream->usage = (struct usage)USAGE_INIT;
    stream->stop = STOP_UNKNOWN;
    error_clear(&stream->error);
    stream->event_count = 0;
    stream->refused = false;
    stream->context_full = false;
    stream->ended = false;
}

void stream_release(struct stream *stream)
{
    stream_begin(stream);
    free(stream->blocks.items);
    stream_init(stream, NULL);
}

static bool has_failed(const struct stream *stream)
{
    return stream->error.kind != ERROR_NONE;
}

static void fail(struct stream *stream, enum error_kind kind, const char *message)
{
    struct error error = ERROR_INIT;
    error_set(&error, kind, "%s", message);
    stream_fail(stream, &error);
}

static void fail_memory(struct stream *stream)
{
    struct error error = ERROR_INIT;
    error_memory(&error);
    stream_fail(stream, &error);
}

/* Shown first, asked then (W25). */
static void emit(struct stream *stream, const struct event *event)
{
    stream->event_count++;
    timeline_emit(stream->timeline, event);
    if (!stream->admits || stream->refused || stream->admits(stream->admits_context, event))
        return;
    stream->refused = true;
    fail(stream, ERROR_HOOK, "a hook ended the response");
}

/* ---- blocks ---- */

static bool is_taken(const struct stream *stream, const char *id)
{
    for (size_t i = 0; i < stream->blocks.count; i++)
        if (stream->blocks.items[i]->id && !strcmp(stream->blocks.items[i]->id, id))
            return true;
    return stream->id_taken && stream->id_taken(stream->id_context, id);
}

/* The provider's id, unless it has none or used it before: two calls with one id would get
 * each other's results (D14). */
static char *choose_id(const struct stream *stream, const char *id)
{
    if (id && *id && !is_taken(stream, id))
        return strdup(id);
    char made[ID_SIZE];
    if (stream->make_id)
        stream->make_id(stream->make_id_context, made);
    else
        id_make(made, "call");
    return strdup(made);
}

static struct stream_block *add_block(struct stream *stream, enum block_kind kind, const char *id)
{
    struct stream_block *block = calloc(1, sizeof(*block));
    if (!block)
        return NULL;
    block->kind = kind;
    block->open = true;
    if (!array_reserve(&stream->blocks, 1) ||
        (kind == BLOCK_TOOL_USE && !(block->id = choose_id(stream, id)))) {
        block_free(block);
        return NULL;
    }
    stream->blocks.items[stream->blocks.count++] = block;
    return block;
}

int stream_open(struct stream *stream, enum block_kind kind, const char *id, const char *name)
{
    size_t index = stream->blocks.count;
    if (has_failed(stream))
        return -1;
    if (index == STREAM_MAX_BLOCKS) {
        fail(stream, ERROR_SERVER, "the response has too many parts");
        return -1;
    }
    struct stream_block *block = add_block(stream, kind, id);
    if (!block) {
        fail_memory(stream);
        return -1;
    }
    struct event event = {.kind = EVENT_BLOCK_START,
                          .as.block = {.kind = kind,
                                       .index = (unsigned)index,
                                       .id = block->id,
                                       .name = kind == BLOCK_TOOL_USE ? name : NULL}};
    emit(stream, &event);
    return (int)index;
}

static struct stream_block *find_block(const struct stream *stream, int block)
{
    return block >= 0 && (size_t)block < stream->blocks.count ? stream->blocks.items[block] : NULL;
}

const char *stream_call_id(const struct stream *stream, int block)
{
    const struct stream_block *found = find_block(stream, block);
    return found ? found->id : NULL;
}

static void emit_block(struct stream *stream, enum event_kind kind, int index, size_t start,
                       bool aborted)
{
    const struct stream_block *block = stream->blocks.items[index];
    struct slice text = {text_cstr(&block->text) + start, block->text.length - start};
    struct event event = {
        .kind = kind,
        .as.block = {.kind = block->kind,
                     .index = (unsigned)index,
                     .id = block->id,
                     .text = text,
                     .aborted = aborted}};
    emit(stream, &event);
}

/* Shows what came behind `start`, unless it is nothing (half a character, say). */
static void emit_delta(struct stream *stream, int index, size_t start)
{
    const struct stream_block *block = stream->blocks.items[index];
    if (block->text.failed)
        fail_memory(stream);
    else if (block->text.length > start)
        emit_block(stream, EVENT_BLOCK_DELTA, index, start, false);
}

void stream_delta(struct stream *stream, int block, const char *data, size_t length, bool lone)
{
    struct stream_block *found = find_block(stream, block);
    if (!found || !found->open || has_failed(stream))
        return;
    size_t start = found->text.length;
    json_join_halves(&found->half, &found->text, data, length, lone);
    emit_delta(stream, block, start);
}

static void close_block(struct stream *stream, int block, bool aborted)
{
    struct stream_block *found = find_block(stream, block);
    if (!found || !found->open)
        return;
    found->open = false;
    size_t start = found->text.length;
    json_half_end(&found->half, &found->text);
    emit_delta(stream, block, start);
    emit_block(stream, EVENT_BLOCK_STOP, block, 0, aborted);
}

void stream_close(struct stream *stream, int block)
{
    close_block(stream, block, false);
}

bool stream_has_shown(const struct stream *stream)
{
    return stream->blocks.count > 0;
}

void stream_tell_retry(const struct stream *stream, unsigned attempt, int64_t wait_ms)
{
    struct event retry = {
        .kind = EVENT_RETRY,
        .as.retry = {.attempt = attempt, .wait_ms = wait_ms, .reason = &stream->error}};
    struct event reset = {.kind = EVENT_RESET, .as.reset = {.reason = "retry"}};
    timeline_emit(stream->timeline, &retry);
    if (stream->event_count)
        timeline_emit(stream->timeline, &reset);
}

/* ---- the rest of a response ---- */

/* Some servers repeat the numbers with zeros at the end: those say nothing. */
static void merge_number(int64_t *known, int64_t more)
{
    if (more > 0 || (more == 0 && *known < 0))
        *known = more;
}

void stream_usage(struct stream *stream, const struct usage *usage)
{
    merge_number(&stream->usage.input_tokens, usage->input_tokens);
    merge_number(&stream->usage.output_tokens, usage->output_tokens);
    merge_number(&stream->usage.cached_tokens, usage->cached_tokens);
    merge_number(&stream->usage.cache_write_tokens, usage->cache_write_tokens);
    merge_number(&stream->usage.reasoning_tokens, usage->reasoning_tokens);
}

static bool is_known(const struct usage *usage)
{
    return usage->input_tokens >= 0 || usage->output_tokens >= 0 || usage->cached_tokens >= 0 ||
           usage->cache_write_tokens >= 0 || usage->reasoning_tokens >= 0;
}

void stream_ping(struct stream *stream)
{
    emit(stream, &(struct event){.kind = EVENT_PING});
}

void stream_status(struct stream *stream, const char *text)
{
    struct event event = {.kind = EVENT_STATUS, .as.status.text = {text, strlen(text)}};
    emit(stream, &event);
}

void stream_verbatim(struct stream *stream, const char *json, size_t length)
{
    struct event event = {.kind = EVENT_VERBATIM, .as.verbatim.json = {json, length}};
    timeline_emit(stream->timeline, &event); /* for the collector alone */
}

void stream_stop(struct stream *stream, enum stop_reason reason)
{
    stream->stop = reason;
}

void stream_fail(struct stream *stream, const struct error *error)
{
    if (!has_failed(stream))
        stream->error = *error;
    stream->ended = true;
}

/* ---- the end ---- */

static bool is_whole(const struct stream *stream)
{
    return !has_failed(stream) && stream->stop != STOP_UNKNOWN && stream->stop != STOP_ERROR;
}

/* Only terminal evidence makes a response whole (D3), and a reason that says "error" is
 * evidence of the opposite. */
static void judge(struct stream *stream)
{
    if (has_failed(stream)) {
        bool filtered = stream->stop == STOP_CONTENT_FILTER &&
                        stream->error.kind == ERROR_CONTENT_FILTER; /* the reason says it all */
        if (stream->stop != STOP_UNKNOWN && !filtered)
            stream->stop = STOP_ERROR;
    } else if (stream->stop == STOP_UNKNOWN) {
        fail(stream, ERROR_STREAM_TRUNCATED, "the response ended before it was complete");
        stream->error.retryable = true;
    } else if (stream->stop == STOP_ERROR) {
        fail(stream, ERROR_SERVER, "the server broke the response off with an error");
        stream->error.retryable = true;
    }
}

bool stream_finish(struct stream *stream)
{
    for (size_t i = 0; i < stream->blocks.count; i++)
        close_block(stream, (int)i, !is_whole(stream));
    judge(stream);
    stream->ended = true;
    if (is_known(&stream->usage)) {
        struct event event = {.kind = EVENT_USAGE, .as.usage = stream->usage};
        emit(stream, &event);
    }
    if (stream->stop != STOP_UNKNOWN) {
        struct event event = {.kind = EVENT_STOP, .as.stop.reason = stream->stop};
        emit(stream, &event);
    }
    return !has_failed(stream);
}

void stream_settled(struct stream *stream)
{
    timeline_emit(stream->timeline, &(struct event){.kind = EVENT_SETTLED});
}

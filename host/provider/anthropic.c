/*
 * Responses of Anthropic Messages: events that build blocks, or one whole message.
 *
 * What an event is, its JSON says ("event:" lines are not looked at); what is not known is
 * passed over.  Beside the neutral blocks the response is kept as it came, so that thinking
 * goes back with its signature (FAULTS 98, 99).
 */
#include "provider/anthropic.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "provider/anthropic_block.h"
#include "provider/bedrock.h"
#include "provider/models.h"
#include "provider/wire_read.h"
#include "provider/wire_write.h"

struct wire_decoder {
    struct stream *stream;
    struct wire_input input;
    struct {
        struct anthropic_block **items; /* in the order in which they came */
        size_t count, capacity;
    } blocks;
    struct text scratch;
    bool has_message; /* something of a message came */
    bool has_stop;
    enum stop_reason stop;
};

static struct wire_decoder *decoder_new(struct stream *stream)
{
    struct wire_decoder *decoder = calloc(1, sizeof(*decoder));
    if (decoder)
        decoder->stream = stream;
    return decoder;
}

static void decoder_free(struct wire_decoder *decoder)
{
    if (!decoder)
        return;
    for (size_t i = 0; i < decoder->blocks.count; i++)
        anthropic_block_free(decoder->blocks.items[i]);
    free(decoder->blocks.items);
    text_release(&decoder->scratch);
    wire_input_release(&decoder->input);
    free(decoder);
}

/* ---- blocks ---- */

/* The last block that began under this index; without an index, the last one. */
static struct anthropic_block *find_block(const struct wire_decoder *decoder, json_int_t index)
{
    for (size_t i = decoder->blocks.count; i-- > 0;)
        if (index < 0 || decoder->blocks.items[i]->index == index)
            return decoder->blocks.items[i];
    return NULL;
}

static struct anthropic_block *add_block(struct wire_decoder *decoder, json_int_t index,
                                         const json_t *start, bool lone)
{
    struct anthropic_block *block = NULL;
    if (decoder->blocks.count == STREAM_MAX_BLOCKS)
        wire_fail(decoder->stream, ERROR_SERVER, false, "the response has too many parts");
    else if (!array_reserve(&decoder->blocks, 1) || !(block = anthropic_block_new(index)))
        wire_fail_memory(decoder->stream);
    if (!block)
        return NULL;
    decoder->blocks.items[decoder->blocks.count++] = block;
    anthropic_block_start(block, decoder->stream, start, lone);
    return block;
}

static void take_start(struct wire_decoder *decoder, const json_t *event, bool lone)
{
    json_int_t index = json_member_integer(event, "index", -1);
    struct anthropic_block *before = index < 0 ? NULL : find_block(decoder, index);
    if (before)
        anthropic_block_stop(before, decoder->stream);
    add_block(decoder, index, json_object_get(event, "content_block"), lone);
}

/* Some servers leave the start out: a delta of text or thinking says enough by itself. */
static struct anthropic_block *start_by_delta(struct wire_decoder *decoder, json_int_t index,
                                              const json_t *delta)
{
    const char *type = json_object_get(delta, "text")       ? "text"
                       : json_object_get(delta, "thinking") ? "thinking"
                                                            : NULL;
    if (!type)
        return NULL;
    json_t *start = json_pack("{ssss}", "type", type, type, "");
    struct anthropic_block *block = NULL;
    if (start)
        block = add_block(decoder, index, start, false);
    else
        wire_fail_memory(decoder->stream);
    json_decref(start);
    return block;
}

static void take_delta(struct wire_decoder *decoder, const json_t *event, bool lone)
{
    json_int_t index = json_member_integer(event, "index", -1);
    const json_t *delta = json_object_get(event, "delta");
    struct anthropic_block *block = find_block(decoder, index);
    if (!block)
        block = start_by_delta(decoder, index, delta);
    if (block)
        anthropic_block_delta(block, decoder->stream, delta, &decoder->scratch, lone);
}

static void take_block_stop(struct wire_decoder *decoder, const json_t *event)
{
    struct anthropic_block *block = find_block(decoder, json_member_integer(event, "index", -1));
    if (block)
        anthropic_block_stop(block, decoder->stream);
}

/* ---- the message ---- */

static bool has_call(const struct wire_decoder *decoder)
{
    for (size_t i = 0; i < decoder->blocks.count; i++)
        if (decoder->blocks.items[i]->type == ANTHROPIC_TOOL_USE)
            return true;
    return false;
}

static const struct {
    const char *word;
    enum stop_reason reason;
} stop_reasons[] = {
    {"end_turn", STOP_END},
    {"stop_sequence", STOP_END},
    {"tool_use", STOP_END},
    {"max_tokens", STOP_LENGTH},
    {"model_context_window_exceeded", STOP_LENGTH},
    {"pause_turn", STOP_PAUSE},
    {"refusal", STOP_REFUSAL},
    {"content_filter", STOP_CONTENT_FILTER},
    {"content_filtered", STOP_CONTENT_FILTER},
    {"sensitive", STOP_CONTENT_FILTER},
};

static enum stop_reason reason_of(struct stream *stream, const char *word)
{
    for (size_t i = 0; i < sizeof(stop_reasons) / sizeof(stop_reasons[0]); i++)
        if (!strcmp(word, stop_reasons[i].word))
            return stop_reasons[i].reason;
    wire_note(stream, "the server gave an unknown stop reason", word);
    return STOP_END;
}

/* That there are calls makes the turn go on, whatever the label says (FAULTS 107). */
static void decide_stop(struct wire_decoder *decoder)
{
    enum stop_reason reason = decoder->has_stop ? decoder->stop : STOP_END;
    if ((reason == STOP_END || reason == STOP_PAUSE) && has_call(decoder))
        reason = STOP_TOOL_USE;
    stream_stop(decoder->stream, reason);
}

/* `holder` has the stop reason: a whole message, or the delta of one. */
static void take_stop_reason(struct wire_decoder *decoder, const json_t *holder)
{
    const char *word = json_member_string(holder, "stop_reason");
    const char *category = json_member_string(json_object_get(holder, "stop_details"), "category");
    if (!word || !*word)
        return;
    decoder->has_stop = true;
    decoder->stop = reason_of(decoder->stream, word);
    if (decoder->stop == STOP_REFUSAL && category)
        wire_note(decoder->stream, "the model refused", category);
    decide_stop(decoder);
}

static void take_usage(struct wire_decoder *decoder, const json_t *usage)
{
    struct usage numbers = USAGE_INIT;
    if (!json_is_object(usage))
        return;
    numbers.input_tokens = json_member_integer(usage, "input_tokens", -1);
    numbers.output_tokens = json_member_integer(usage, "output_tokens", -1);
    numbers.cached_tokens = json_member_integer(usage, "cache_read_input_tokens", -1);
    numbers.cache_write_tokens = json_member_integer(usage, "cache_creation_input_tokens", -1);
    stream_usage(decoder->stream, &numbers);
}

static void finish(struct wire_decoder *decoder)
{
    decide_stop(decoder);
    decoder->stream->ended = true;
}

/* A message with everything in it. */
static void take_message(struct wire_decoder *decoder, const json_t *message, bool lone)
{
    size_t i;
    json_t *content = json_object_get(message, "content"), *start;
    decoder->has_message = true;
    json_array_foreach (content, i, start) {
        struct anthropic_block *block = add_block(decoder, (json_int_t)i, start, lone);
        if (block)
            anthropic_block_stop(block, decoder->stream);
    }
    take_usage(decoder, json_object_get(message, "usage"));
    take_stop_reason(decoder, message);
}

/* ---- events ---- */

static void fail_with(struct wire_decoder *decoder, const json_t *event)
{
    if (wire_fail_event(decoder->stream, event))
        stream_stop(decoder->stream, STOP_ERROR);
}

static void take_event(struct wire_decoder *decoder, const json_t *event, const char *type,
                       bool lone)
{
    if (!strcmp(type, "content_block_delta")) {
        take_delta(decoder, event, lone);
    } else if (!strcmp(type, "content_block_start")) {
        take_start(decoder, event, lone);
    } else if (!strcmp(type, "content_block_stop")) {
        take_block_stop(decoder, event);
    } else if (!strcmp(type, "message_start")) {
        take_usage(decoder, json_object_get(json_object_get(event, "message"), "usage"));
    } else if (!strcmp(type, "message_delta")) {
        take_stop_reason(decoder, json_object_get(event, "delta"));
        take_usage(decoder, json_object_get(event, "usage"));
    } else if (!strcmp(type, "message_stop")) {
        finish(decoder);
    } else if (!strcmp(type, "message")) {
        take_message(decoder, event, lone);
        finish(decoder);
    } else if (!strcmp(type, "ping")) {
        stream_ping(decoder->stream);
        return;
    } else {
        return;
    }
    decoder->has_message = true;
}

static void decoder_event(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *event = wire_read_event(&decoder->input, decoder->stream, data, length, &lone);
    const char *type = json_member_string(event, "type");
    if (event && (!type || json_object_get(event, "error") || !strcmp(type, "error")))
        fail_with(decoder, event);
    if (type && !decoder->stream->ended)
        take_event(decoder, event, type, lone);
    json_decref(event);
    if (decoder->input.done && !decoder->stream->ended && decoder->has_message)
        finish(decoder);
}

static void decoder_whole(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *document = wire_read_whole(decoder->stream, data, length, &lone);
    if (document && !wire_fail_event(decoder->stream, document)) {
        if (json_is_array(json_object_get(document, "content"))) {
            take_message(decoder, document, lone);
            finish(decoder);
        } else {
            wire_fail(decoder->stream, ERROR_SERVER, true, "the response holds no content");
        }
    }
    json_decref(document);
}

/* Everything that came, as the assistant's content of the next request. */
static void keep_verbatim(struct wire_decoder *decoder)
{
    struct text array = TEXT_INIT;
    bool whole = true;
    text_putc(&array, '[');
    for (size_t i = 0; whole && i < decoder->blocks.count; i++)
        whole = anthropic_block_write(decoder->blocks.items[i], decoder->stream, &array);
    text_putc(&array, ']');
    wire_keep_verbatim(decoder->stream, &array, whole);
}

static void decoder_end(struct wire_decoder *decoder)
{
    struct stream *stream = decoder->stream;
    for (size_t i = 0; i < decoder->blocks.count; i++)
        anthropic_block_stop(decoder->blocks.items[i], stream);
    wire_read_end(&decoder->input, stream);
    if (stream->stop != STOP_UNKNOWN && stream->error.kind == ERROR_NONE)
        keep_verbatim(decoder);
}

/* An image may have 5 MiB of base64. */
#define PARTS                                                                                      \
    .errors_are_text = true, .image_bytes = (size_t)5 * 1024 * 1024 / 4 * 3, .image_side = 8000,   \
    .many_images = 20, .many_side = 2000, .images = 100
#define DECODER                                                                                    \
    .decoder_new = decoder_new, .decoder_event = decoder_event, .decoder_whole = decoder_whole,    \
    .decoder_end = decoder_end, .decoder_free = decoder_free

static const char *const headers[] = {"anthropic-version: 2023-06-01", NULL};

const struct wire wire_anthropic = {
    .name = "anthropic",
    .format = WIRE_ANTHROPIC,
    .path = "/messages",
    .headers = headers,
    .key_header = "x-api-key: ",
    .parts = {PARTS, .total_bytes = (size_t)20 << 20}, /* a request may have 32 MB */
    .write = anthropic_write,
    DECODER,
    .models = &models_anthropic,
};

/* The same within what Amazon puts around it; what is kept of items serves both. */
const struct wire wire_bedrock = {
    .name = "bedrock",
    .format = WIRE_ANTHROPIC,
    .path = "/model/{model}/invoke-with-response-stream",
    .key_header = "Authorization: Bearer ",
    .parts = {PARTS, .total_bytes = (size_t)14 << 20}, /* a request may have 20 MB */
    .write = bedrock_write,
    DECODER,
    .open_message = bedrock_open_message,
    .advise = bedrock_advise,
};

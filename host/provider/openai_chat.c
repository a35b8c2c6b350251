/*
 * Responses of Chat Completions: chunks with deltas, or one whole completion.
 *
 * Errors are looked for in every chunk before its choices (FAULTS 28); only choice 0 counts;
 * that there are calls, not what the finish reason says, makes the turn go on (FAULTS 74, 75).
 */
#include "provider/openai_chat.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "provider/chat_calls.h"
#include "provider/models.h"
#include "provider/wire_read.h"

struct wire_decoder {
    struct stream *stream;
    struct wire_input input;
    struct chat_calls calls;
    int block;            /* of text, reasoning or refusal that is open; -1 = none */
    enum block_kind kind; /* of it */
    bool has_choice;      /* a chunk with a choice came */
    bool has_refusal;
    bool has_finish;
    enum stop_reason finish; /* what the finish reason says by itself */
};

static struct wire_decoder *decoder_new(struct stream *stream)
{
    struct wire_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->stream = stream;
    decoder->block = -1;
    chat_calls_init(&decoder->calls, stream);
    return decoder;
}

static void decoder_free(struct wire_decoder *decoder)
{
    if (!decoder)
        return;
    chat_calls_release(&decoder->calls);
    wire_input_release(&decoder->input);
    free(decoder);
}

/* ---- text ---- */

static void close_block(struct wire_decoder *decoder)
{
    if (decoder->block >= 0)
        stream_close(decoder->stream, decoder->block);
    decoder->block = -1;
}

static void show(struct wire_decoder *decoder, enum block_kind kind, const json_t *string,
                 bool lone)
{
    size_t length = json_string_length(string);
    if (!length)
        return;
    if (decoder->block < 0 || decoder->kind != kind) {
        close_block(decoder);
        decoder->block = stream_open(decoder->stream, kind, NULL, NULL);
        decoder->kind = kind;
    }
    if (kind == BLOCK_REFUSAL)
        decoder->has_refusal = true;
    if (decoder->block >= 0)
        stream_delta(decoder->stream, decoder->block, json_string_value(string), length, lone);
}

/* A string, or a list of parts with strings in them. */
static void show_parts(struct wire_decoder *decoder, enum block_kind kind, const json_t *value,
                       const char *key, bool lone)
{
    size_t i;
    json_t *part;
    show(decoder, kind, value, lone);
    json_array_foreach (value, i, part)
        show(decoder, kind, json_is_string(part) ? part : json_object_get(part, key), lone);
}

static bool has_text(const json_t *value)
{
    return json_string_length(value) || json_array_size(value);
}

/* The same thought may stand under several names: one per chunk (FAULTS 81).  False: none. */
static bool show_reasoning(struct wire_decoder *decoder, const json_t *delta, bool lone)
{
    static const char *const keys[] = {"reasoning_content", "reasoning", "thinking"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *value = json_object_get(delta, keys[i]);
        if (!has_text(value))
            continue;
        show_parts(decoder, BLOCK_REASONING, value, "text", lone);
        return true;
    }
    const json_t *details = json_object_get(delta, "reasoning_details");
    size_t i;
    json_t *detail;
    json_array_foreach (details, i, detail) {
        show(decoder, BLOCK_REASONING, json_object_get(detail, "text"), lone);
        show(decoder, BLOCK_REASONING, json_object_get(detail, "summary"), lone);
    }
    return json_array_size(details) > 0;
}

static void show_part(struct wire_decoder *decoder, const json_t *part, bool has_reasoning,
                      bool lone)
{
    const char *type = json_member_string(part, "type");
    const json_t *thought = json_object_get(part, "thinking");
    const json_t *text = json_is_string(part) ? part : json_object_get(part, "text");
    if (!thought && type && !strcmp(type, "reasoning")) {
        thought = text;
        text = NULL;
    }
    if (!has_reasoning)
        show_parts(decoder, BLOCK_REASONING, thought, "text", lone);
    show(decoder, BLOCK_TEXT, text, lone);
    show(decoder, BLOCK_REFUSAL, json_object_get(part, "refusal"), lone);
}

static void show_content(struct wire_decoder *decoder, const json_t *content, bool has_reasoning,
                         bool lone)
{
    size_t i;
    json_t *part;
    if (json_is_object(content))
        show_part(decoder, content, has_reasoning, lone);
    else
        show(decoder, BLOCK_TEXT, content, lone);
    json_array_foreach (content, i, part)
        show_part(decoder, part, has_reasoning, lone);
}

/* ---- deltas ---- */

static void take_calls(struct wire_decoder *decoder, const json_t *delta, bool lone)
{
    const json_t *entries = json_object_get(delta, "tool_calls");
    const json_t *legacy = json_object_get(delta, "function_call");
    if (json_array_size(entries) || json_is_object(entries) || json_is_object(legacy))
        close_block(decoder);
    size_t i;
    json_t *entry;
    json_array_foreach (entries, i, entry)
        chat_calls_take(&decoder->calls, entry, lone);
    if (json_is_object(entries))
        chat_calls_take(&decoder->calls, entries, lone);
    if (!json_array_size(entries))
        chat_calls_take_legacy(&decoder->calls, legacy, lone);
}

static void take_delta(struct wire_decoder *decoder, const json_t *delta, bool lone)
{
    bool has_reasoning = show_reasoning(decoder, delta, lone);
    show_content(decoder, json_object_get(delta, "content"), has_reasoning, lone);
    show(decoder, BLOCK_REFUSAL, json_object_get(delta, "refusal"), lone);
    take_calls(decoder, delta, lone);
}

/* ---- the end of a response ---- */

static const struct {
    const char *word;
    enum stop_reason reason;
} finish_reasons[] = {
    {"stop", STOP_END},
    {"tool_calls", STOP_END},
    {"tool_call", STOP_END},
    {"tool_use", STOP_END},
    {"function_call", STOP_END},
    {"eos", STOP_END},
    {"eos_token", STOP_END},
    {"end_turn", STOP_END},
    {"stop_sequence", STOP_END},
    {"complete", STOP_END},
    {"length", STOP_LENGTH},
    {"max_tokens", STOP_LENGTH},
    {"model_length", STOP_LENGTH},
    {"context_length_exceeded", STOP_LENGTH},
    {"model_context_window_exceeded", STOP_LENGTH},
    {"content_filter", STOP_CONTENT_FILTER},
    {"safety", STOP_CONTENT_FILTER},
    {"sensitive", STOP_CONTENT_FILTER},
    {"refusal", STOP_REFUSAL},
    {"error", STOP_ERROR},
    {"abort", STOP_ERROR},
    {"network_error", STOP_ERROR},
    {"insufficient_system_resource", STOP_ERROR},
    {"malformed_function_call", STOP_ERROR},
};

static enum stop_reason reason_of(struct stream *stream, const char *word)
{
    for (size_t i = 0; i < sizeof(finish_reasons) / sizeof(finish_reasons[0]); i++)
        if (!strcasecmp(word, finish_reasons[i].word))
            return finish_reasons[i].reason;
    wire_note(stream, "the server gave an unknown finish reason", word);
    return STOP_END;
}

static void decide_stop(struct wire_decoder *decoder)
{
    enum stop_reason reason = decoder->has_finish ? decoder->finish : STOP_END;
    if (reason == STOP_END && decoder->calls.count)
        reason = STOP_TOOL_USE;
    else if (reason == STOP_END && decoder->has_refusal)
        reason = STOP_REFUSAL;
    stream_stop(decoder->stream, reason);
}

/* An empty word is none: some servers send one with every chunk. */
static void take_finish(struct wire_decoder *decoder, const json_t *choice)
{
    const char *word = json_member_string(choice, "finish_reason");
    if (!word || !*word)
        return;
    decoder->has_finish = true;
    decoder->finish = reason_of(decoder->stream, word);
    decide_stop(decoder);
    if (decoder->finish != STOP_ERROR)
        return;
    bool malformed = !strcasecmp(word, "malformed_function_call");
    wire_fail(decoder->stream, malformed ? ERROR_TOOL_CALL_MALFORMED : ERROR_SERVER, true,
              "the server broke the response off: finish reason '%s'", word);
}

static json_int_t first_number(const json_t *object, const char *const *keys)
{
    json_int_t number = -1;
    for (; *keys && number < 0; keys++)
        number = json_member_integer(object, *keys, -1);
    return number;
}

static void take_usage(struct wire_decoder *decoder, const json_t *usage)
{
    static const char *const input[] = {"prompt_tokens", "input_tokens", NULL};
    static const char *const output[] = {"completion_tokens", "output_tokens", NULL};
    static const char *const cached[] = {"cached_tokens", "prompt_cache_hit_tokens", NULL};
    static const char *const written[] = {"cache_write_tokens", "cache_creation_tokens", NULL};
    static const char *const reasoning[] = {"reasoning_tokens", NULL};
    if (!json_is_object(usage))
        return;
    const json_t *prompt = json_object_get(usage, "prompt_tokens_details");
    const json_t *completion = json_object_get(usage, "completion_tokens_details");
    struct usage numbers = {
        .input_tokens = first_number(usage, input),
        .output_tokens = first_number(usage, output),
        .cached_tokens = first_number(prompt, cached),
        .cache_write_tokens = first_number(prompt, written),
        .reasoning_tokens = first_number(completion, reasoning),
    };
    if (numbers.cached_tokens < 0)
        numbers.cached_tokens = first_number(usage, cached);
    if (numbers.reasoning_tokens < 0)
        numbers.reasoning_tokens = first_number(usage, reasoning);
    stream_usage(decoder->stream, &numbers);
}

/* ---- chunks ---- */

static bool fail_with(struct wire_decoder *decoder, const json_t *holder)
{
    if (!wire_fail_event(decoder->stream, holder))
        return false;
    stream_stop(decoder->stream, STOP_ERROR);
    return true;
}

static void take_choice(struct wire_decoder *decoder, const json_t *choice, bool lone)
{
    if (json_member_integer(choice, "index", 0) != 0 || !json_is_object(choice))
        return;
    if (json_is_object(json_object_get(choice, "error")) && fail_with(decoder, choice))
        return;
    const json_t *delta = json_object_get(choice, "delta");
    decoder->has_choice = true;
    take_delta(decoder, json_is_object(delta) ? delta : json_object_get(choice, "message"), lone);
    take_usage(decoder, json_object_get(choice, "usage"));
    take_finish(decoder, choice);
}

static void take_document(struct wire_decoder *decoder, const json_t *document, bool lone)
{
    size_t i;
    json_t *choice;
    take_usage(decoder, json_object_get(document, "usage"));
    json_array_foreach (json_object_get(document, "choices"), i, choice)
        take_choice(decoder, choice, lone);
}

static void decoder_event(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *event = wire_read_event(&decoder->input, decoder->stream, data, length, &lone);
    if (event && !fail_with(decoder, event))
        take_document(decoder, event, lone);
    json_decref(event);
    if (!decoder->input.done || decoder->stream->ended)
        return;
    decoder->stream->ended = true;
    if (decoder->has_choice)
        decide_stop(decoder);
}

static void decoder_whole(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *document = wire_read_whole(decoder->stream, data, length, &lone);
    if (document && !wire_fail_event(decoder->stream, document)) {
        take_document(decoder, document, lone);
        if (!decoder->has_choice)
            wire_fail(decoder->stream, ERROR_SERVER, true, "the response holds no choice");
        else
            decide_stop(decoder);
        decoder->stream->ended = true;
    }
    json_decref(document);
}

static void decoder_end(struct wire_decoder *decoder)
{
    struct stream *stream = decoder->stream;
    close_block(decoder);
    chat_calls_open(&decoder->calls);
    if (stream->stop != STOP_UNKNOWN && stream->stop != STOP_ERROR)
        decide_stop(decoder);
    wire_read_end(&decoder->input, stream);
}

static const char *const unsupported[] = {"top_k", NULL};

const struct wire wire_openai_chat = {
    .name = "openai-chat",
    .format = WIRE_OPENAI_CHAT,
    .path = "/chat/completions",
    .key_header = "Authorization: Bearer ",
    .unsupported = unsupported,
    /* A request may have 50 MB. */
    .parts = {.image_bytes = (size_t)15 << 20, .images = 250, .total_bytes = (size_t)30 << 20},
    .write = openai_chat_write,
    .decoder_new = decoder_new,
    .decoder_event = decoder_event,
    .decoder_whole = decoder_whole,
    .decoder_end = decoder_end,
    .decoder_free = decoder_free,
    .models = &models_openai,
};

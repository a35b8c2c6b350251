/*
 * Responses of Gemini: a stream of documents with parts of one candidate, or one document, or a
 * list of them.
 *
 * There is no sentinel: the finish reason is the terminal evidence, and the bytes go on until the
 * connection ends.  Only candidate 0 counts; that there are calls, not the finish reason, makes
 * the turn go on (FAULTS 118).  Beside what is shown the parts are kept as they came.
 */
#include "provider/gemini.h"

#include <stdlib.h>
#include <string.h>

#include "provider/gemini_part.h"
#include "provider/models.h"
#include "provider/wire_read.h"

struct wire_decoder {
    struct stream *stream;
    struct wire_input input;
    struct gemini_parts parts;
    bool has_candidate;
};

static struct wire_decoder *decoder_new(struct stream *stream)
{
    struct wire_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->stream = stream;
    gemini_parts_init(&decoder->parts, stream);
    return decoder;
}

static void decoder_free(struct wire_decoder *decoder)
{
    if (!decoder)
        return;
    gemini_parts_release(&decoder->parts);
    wire_input_release(&decoder->input);
    free(decoder);
}

/* ---- the end of a response ---- */

/* What the finish reason says: `stop`, and when the response is not to be used, the error. */
struct finish {
    const char *word;
    enum stop_reason stop;
    enum error_kind error;
    bool retryable;
};

static const struct finish finishes[] = {
    {"STOP", STOP_END, ERROR_NONE, false},
    {"MAX_TOKENS", STOP_LENGTH, ERROR_NONE, false},
    {"SAFETY", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"RECITATION", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"LANGUAGE", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"BLOCKLIST", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"PROHIBITED_CONTENT", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"SPII", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"IMAGE_SAFETY", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"IMAGE_PROHIBITED_CONTENT", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"IMAGE_RECITATION", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"MODEL_ARMOR", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false},
    {"MALFORMED_FUNCTION_CALL", STOP_ERROR, ERROR_TOOL_CALL_MALFORMED, true},
    {"UNEXPECTED_TOOL_CALL", STOP_ERROR, ERROR_TOOL_CALL_MALFORMED, true},
    {"TOO_MANY_TOOL_CALLS", STOP_ERROR, ERROR_TOOL_CALL_MALFORMED, true},
    {"MISSING_THOUGHT_SIGNATURE", STOP_ERROR, ERROR_BAD_REQUEST, false},
    {"MALFORMED_RESPONSE", STOP_ERROR, ERROR_SERVER, true},
    {"NO_IMAGE", STOP_ERROR, ERROR_SERVER, true},
    {"IMAGE_OTHER", STOP_ERROR, ERROR_SERVER, true},
    {"OTHER", STOP_ERROR, ERROR_SERVER, true},
};

static const struct finish *find_finish(struct stream *stream, const char *word)
{
    for (size_t i = 0; i < sizeof(finishes) / sizeof(finishes[0]); i++)
        if (!strcmp(word, finishes[i].word))
            return &finishes[i];
    wire_note(stream, "the server gave an unknown finish reason", word);
    return &finishes[0];
}

static void end_with(struct wire_decoder *decoder, const struct finish *finish, const char *about,
                     const char *word, const char *message)
{
    enum stop_reason stop = finish->stop;
    if (stop == STOP_END && decoder->parts.has_call)
        stop = STOP_TOOL_USE;
    stream_stop(decoder->stream, stop);
    if (finish->error != ERROR_NONE)
        wire_fail(decoder->stream, finish->error, finish->retryable, "%s '%s'%s%s", about, word,
                  message ? ": " : "", message ? message : "");
}

static void take_finish(struct wire_decoder *decoder, const json_t *candidate)
{
    const char *word = json_member_string(candidate, "finishReason");
    if (!word || !*word || !strcmp(word, "FINISH_REASON_UNSPECIFIED"))
        return;
    end_with(decoder, find_finish(decoder->stream, word),
             "the server broke the response off: finish reason", word,
             json_member_string(candidate, "finishMessage"));
}

/* A prompt that is blocked gets no candidate (FAULTS 114). */
static void take_feedback(struct wire_decoder *decoder, const json_t *feedback)
{
    static const struct finish blocked = {"", STOP_CONTENT_FILTER, ERROR_CONTENT_FILTER, false};
    const char *word = json_member_string(feedback, "blockReason");
    if (word && *word && strcmp(word, "BLOCK_REASON_UNSPECIFIED") != 0)
        end_with(decoder, &blocked, "the server blocked the prompt:", word,
                 json_member_string(feedback, "blockReasonMessage"));
}

static void take_usage(struct wire_decoder *decoder, const json_t *usage)
{
    struct usage numbers = USAGE_INIT;
    if (!json_is_object(usage))
        return;
    numbers.input_tokens = json_member_integer(usage, "promptTokenCount", -1);
    numbers.output_tokens = json_member_integer(usage, "candidatesTokenCount", 0);
    numbers.reasoning_tokens = json_member_integer(usage, "thoughtsTokenCount", -1);
    numbers.cached_tokens = json_member_integer(usage, "cachedContentTokenCount", -1);
    stream_usage(decoder->stream, &numbers);
}

/* ---- documents ---- */

/* Goes through the text of a list beside its values; stands still when there is none. */
struct raw_list {
    struct json_walk walk;
    bool is_list;
};

static struct raw_list raw_list(struct json_piece list)
{
    struct raw_list raw = {.is_list = false};
    raw.is_list = json_walk_into(&raw.walk, list, '[');
    return raw;
}

static struct json_piece raw_next(struct raw_list *raw)
{
    struct json_piece piece, none = {NULL, 0};
    raw->is_list = raw->is_list && json_walk_next(&raw->walk, NULL, &piece);
    return raw->is_list ? piece : none;
}

static bool has_call(const json_t *candidate)
{
    size_t i;
    json_t *part;
    json_array_foreach (json_object_get(json_object_get(candidate, "content"), "parts"), i, part)
        if (json_object_get(part, "functionCall"))
            return true;
    return false;
}

/* Only of a call the text is needed: to find it costs another way through all of the event. */
static bool needs_text(const json_t *document)
{
    size_t i;
    json_t *candidate;
    json_array_foreach (json_object_get(document, "candidates"), i, candidate)
        if (has_call(candidate))
            return true;
    return false;
}

/* `raw` is the text of the candidate. */
static void take_parts(struct wire_decoder *decoder, const json_t *candidate, struct json_piece raw,
                       bool lone)
{
    struct raw_list list = raw_list(json_walk_member(json_walk_member(raw, "content"), "parts"));
    size_t i;
    json_t *part;
    json_array_foreach (json_object_get(json_object_get(candidate, "content"), "parts"), i, part)
        gemini_parts_take(&decoder->parts, part, raw_next(&list), lone);
}

static bool fail_with(struct wire_decoder *decoder, const json_t *document)
{
    if (!wire_fail_event(decoder->stream, document))
        return false;
    stream_stop(decoder->stream, STOP_ERROR);
    return true;
}

static void take_document(struct wire_decoder *decoder, const json_t *document,
                          struct json_piece raw, bool lone)
{
    size_t i;
    json_t *candidate;
    if (fail_with(decoder, document))
        return;
    struct raw_list list = {.is_list = false};
    if (needs_text(document))
        list = raw_list(json_walk_member(raw, "candidates"));
    take_usage(decoder, json_object_get(document, "usageMetadata"));
    json_array_foreach (json_object_get(document, "candidates"), i, candidate) {
        struct json_piece piece = raw_next(&list);
        if (!json_is_object(candidate) || json_member_integer(candidate, "index", 0) != 0)
            continue;
        decoder->has_candidate = true;
        take_parts(decoder, candidate, piece, lone);
        take_finish(decoder, candidate);
    }
    take_feedback(decoder, json_object_get(document, "promptFeedback"));
}

static void decoder_event(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *event = wire_read_event(&decoder->input, decoder->stream, data, length, &lone);
    if (event)
        take_document(decoder, event, (struct json_piece){data, length}, lone);
    json_decref(event);
}

/* Without alt=sse a stream is a list of documents, which a proxy may send all the same. */
static void take_whole(struct wire_decoder *decoder, const json_t *whole, struct json_piece raw,
                       bool lone)
{
    struct raw_list list = raw_list(raw);
    size_t i;
    json_t *document;
    take_document(decoder, whole, raw, lone);
    json_array_foreach (whole, i, document) {
        struct json_piece piece = raw_next(&list);
        if (!decoder->stream->ended)
            take_document(decoder, document, piece, lone);
    }
}

static void decoder_whole(struct wire_decoder *decoder, const char *data, size_t length)
{
    struct stream *stream = decoder->stream;
    bool lone = false;
    json_t *whole = wire_read_whole(stream, data, length, &lone);
    if (whole)
        take_whole(decoder, whole, (struct json_piece){data, length}, lone);
    json_decref(whole);
    if (!decoder->has_candidate && stream->stop == STOP_UNKNOWN && !stream->ended)
        wire_fail(stream, ERROR_SERVER, true, "the response holds no candidate");
    stream->ended = true;
}

static void keep_verbatim(struct wire_decoder *decoder)
{
    struct text array = TEXT_INIT;
    gemini_parts_write(&decoder->parts, &array);
    wire_keep_verbatim(decoder->stream, &array, true);
}

static void decoder_end(struct wire_decoder *decoder)
{
    struct stream *stream = decoder->stream;
    gemini_parts_end(&decoder->parts);
    wire_read_end(&decoder->input, stream);
    if (stream->stop == STOP_END && decoder->parts.has_call)
        stream_stop(stream, STOP_TOOL_USE);
    if (stream->stop != STOP_UNKNOWN && stream->error.kind == ERROR_NONE)
        keep_verbatim(decoder);
}

const struct wire wire_gemini = {
    .name = "gemini",
    .format = WIRE_GEMINI,
    .path = "/models/{model}:streamGenerateContent?alt=sse",
    .key_header = "x-goog-api-key: ",
    .reduced_schemas = true,
    .takes_name = gemini_takes_name,
    /* A request may have 20 MB. */
    .parts = {.no_gif = true, .images = 3000, .total_bytes = (size_t)14 << 20},
    .write = gemini_write,
    .decoder_new = decoder_new,
    .decoder_event = decoder_event,
    .decoder_whole = decoder_whole,
    .decoder_end = decoder_end,
    .decoder_free = decoder_free,
    .models = &models_gemini,
};

/*
 * Responses of OpenAI Responses: events that build output items, or one whole response.
 *
 * What an event is, its JSON says; what is not known is passed over.  An item is found by its
 * index and its id, of which servers leave out one or the other or change it on the way
 * (FAULTS 89, 92); a call is reported under its call_id.  Beside the neutral blocks the items are
 * kept as they came, so that reasoning goes back with its encrypted content (FAULTS 97).
 */
#include "provider/openai_responses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "provider/models.h"
#include "provider/responses_item.h"
#include "provider/wire_read.h"

struct wire_decoder {
    struct stream *stream;
    struct wire_input input;
    struct {
        struct responses_item **items; /* in the order in which they came */
        size_t count, capacity;
    } items;
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
    for (size_t i = 0; i < decoder->items.count; i++)
        responses_item_free(decoder->items.items[i]);
    free(decoder->items.items);
    wire_input_release(&decoder->input);
    free(decoder);
}

static bool is(const char *type, const char *name)
{
    return !strcmp(type, name);
}

/* ---- which item an event is about ---- */

struct key {
    enum responses_type type;
    json_int_t index;    /* -1: not told */
    const char *id;      /* or NULL */
    const char *call_id; /* or NULL */
};

enum likeness { DIFFERS, NOT_TOLD, EQUALS };

static enum likeness compare_strings(const struct text *known, const char *told)
{
    if (!known->length || !told || !*told)
        return NOT_TOLD;
    return strcmp(known->data, told) ? DIFFERS : EQUALS;
}

static enum likeness compare_indices(json_int_t known, json_int_t told)
{
    if (known < 0 || told < 0)
        return NOT_TOLD;
    return known == told ? EQUALS : DIFFERS;
}

/* How certain it is that this is the item; 0: it is not.  `begins`: the event begins an item, so
 * that another id is another item; later ones of some servers have an id of their own. */
static int likeness(const struct responses_item *item, const struct key *key, bool begins)
{
    enum likeness index = compare_indices(item->index, key->index);
    enum likeness id = compare_strings(&item->id, key->id);
    enum likeness call = compare_strings(&item->call_id, key->call_id);
    if (item->type != key->type || call == DIFFERS || (id == DIFFERS && (begins || item->whole)))
        return 0;
    if (id == EQUALS)
        return index == DIFFERS ? 4 : 5;
    if (call == EQUALS)
        return 3;
    if (index == EQUALS)
        return 2;
    return index == NOT_TOLD && id == NOT_TOLD && !begins ? 1 : 0;
}

/* The most likely item; of several, the last. */
static struct responses_item *find_item(const struct wire_decoder *decoder, const struct key *key,
                                        bool begins)
{
    struct responses_item *found = NULL;
    int best = 0;
    for (size_t i = decoder->items.count; i-- > 0;) {
        int now = likeness(decoder->items.items[i], key, begins);
        if (now > best) {
            best = now;
            found = decoder->items.items[i];
        }
    }
    return found;
}

static struct responses_item *add_item(struct wire_decoder *decoder, const struct key *key)
{
    struct responses_item *item = NULL;
    if (decoder->items.count == STREAM_MAX_BLOCKS)
        wire_fail(decoder->stream, ERROR_SERVER, false, "the response has too many parts");
    else if (!array_reserve(&decoder->items, 1) || !(item = responses_item_new(key->type)))
        wire_fail_memory(decoder->stream);
    if (!item)
        return NULL;
    item->index = key->index;
    decoder->items.items[decoder->items.count++] = item;
    if (key->id)
        text_puts(&item->id, key->id);
    if (item->id.failed)
        wire_fail_memory(decoder->stream);
    return item;
}

static struct responses_item *need_item(struct wire_decoder *decoder, const struct key *key,
                                        bool begins)
{
    struct responses_item *item = find_item(decoder, key, begins);
    return item ? item : add_item(decoder, key);
}

static struct key key_of(const json_t *object, json_int_t index)
{
    return (struct key){.type = responses_type_of(object),
                        .index = index,
                        .id = json_member_string(object, "id"),
                        .call_id = json_member_string(object, "call_id")};
}

/* Of an event that has only a piece of an item. */
static struct key key_of_piece(const json_t *event, enum responses_type type)
{
    return (struct key){.type = type,
                        .index = json_member_integer(event, "output_index", -1),
                        .id = json_member_string(event, "item_id"),
                        .call_id = json_member_string(event, "call_id")};
}

/* ---- pieces of items ---- */

static const struct text_event {
    const char *type;
    struct responses_place place;
    const char *index_key, *text_key;
    bool whole;
} text_events[] = {
    {"response.output_text.delta", {BLOCK_TEXT, "content", 0}, "content_index", "delta", false},
    {"response.output_text.done", {BLOCK_TEXT, "content", 0}, "content_index", "text", true},
    {"response.refusal.delta", {BLOCK_REFUSAL, "content", 0}, "content_index", "delta", false},
    {"response.refusal.done", {BLOCK_REFUSAL, "content", 0}, "content_index", "refusal", true},
    {"response.reasoning_summary_text.delta",
     {BLOCK_REASONING, "summary", 0},
     "summary_index",
     "delta",
     false},
    {"response.reasoning_summary_text.done",
     {BLOCK_REASONING, "summary", 0},
     "summary_index",
     "text",
     true},
    {"response.reasoning_text.delta",
     {BLOCK_REASONING, "content", 0},
     "content_index",
     "delta",
     false},
    {"response.reasoning_text.done",
     {BLOCK_REASONING, "content", 0},
     "content_index",
     "text",
     true},
};

static const struct text_event *find_text_event(const char *type)
{
    for (size_t i = 0; i < sizeof(text_events) / sizeof(text_events[0]); i++)
        if (is(type, text_events[i].type))
            return &text_events[i];
    return NULL;
}

static void take_text(struct wire_decoder *decoder, const json_t *event,
                      const struct text_event *kind, bool lone)
{
    struct responses_place place = kind->place;
    struct key key = key_of_piece(event, place.kind == BLOCK_REASONING ? RESPONSES_REASONING
                                                                       : RESPONSES_MESSAGE);
    struct responses_item *item = need_item(decoder, &key, false);
    place.index = json_member_integer(event, kind->index_key, 0);
    if (item)
        responses_item_text(item, decoder->stream, &place, json_object_get(event, kind->text_key),
                            kind->whole, lone);
}

static void take_arguments(struct wire_decoder *decoder, const json_t *event, const char *text_key,
                           bool whole, bool lone)
{
    struct key key = key_of_piece(event, RESPONSES_CALL);
    struct responses_item *item = need_item(decoder, &key, false);
    if (item)
        responses_item_arguments(item, decoder->stream, json_object_get(event, text_key), whole,
                                 lone);
}

/* ---- whole items ---- */

static void take_added(struct wire_decoder *decoder, const json_t *event)
{
    const json_t *object = json_object_get(event, "item");
    struct key key = key_of(object, json_member_integer(event, "output_index", -1));
    struct responses_item *item = json_is_object(object) ? need_item(decoder, &key, true) : NULL;
    if (item)
        responses_item_identify(item, decoder->stream, object);
}

static void take_done(struct wire_decoder *decoder, const json_t *event, bool lone)
{
    const json_t *object = json_object_get(event, "item");
    struct key key = key_of(object, json_member_integer(event, "output_index", -1));
    struct responses_item *item = json_is_object(object) ? need_item(decoder, &key, false) : NULL;
    if (!item)
        return;
    responses_item_done(item, decoder->stream, object, lone);
    responses_item_end(item, decoder->stream);
}

/* The item of the stream that this one of the whole response is: by id, or (`by_order`) the first
 * of its kind that is left. */
static struct responses_item *match(const struct wire_decoder *decoder, const struct key *key,
                                    bool by_order)
{
    for (size_t i = 0; i < decoder->items.count; i++) {
        struct responses_item *item = decoder->items.items[i];
        enum likeness id = compare_strings(&item->id, key->id);
        enum likeness call = compare_strings(&item->call_id, key->call_id);
        if (item->matched || item->type != key->type || call == DIFFERS)
            continue;
        if (by_order || id == EQUALS || call == EQUALS)
            return item;
    }
    return NULL;
}

static void take_output(struct wire_decoder *decoder, const json_t *output, bool lone)
{
    size_t i;
    json_t *object;
    struct responses_item *matches[STREAM_MAX_BLOCKS] = {NULL};
    for (int by_order = 0; by_order < 2; by_order++) {
        json_array_foreach (output, i, object) {
            struct key key = key_of(object, (json_int_t)i);
            if (i >= STREAM_MAX_BLOCKS || !json_is_object(object) || matches[i])
                continue;
            matches[i] = match(decoder, &key, by_order);
            if (matches[i])
                matches[i]->matched = true;
        }
    }
    json_array_foreach (output, i, object) {
        struct key key = key_of(object, (json_int_t)i);
        if (!json_is_object(object) || decoder->stream->ended)
            continue;
        struct responses_item *item = i < STREAM_MAX_BLOCKS ? matches[i] : NULL;
        if (!item)
            item = add_item(decoder, &key);
        if (item) {
            responses_item_done(item, decoder->stream, object, lone);
            responses_item_end(item, decoder->stream);
        }
    }
}

/* ---- the end of a response ---- */

static bool has_call(const struct wire_decoder *decoder)
{
    for (size_t i = 0; i < decoder->items.count; i++)
        if (decoder->items.items[i]->type == RESPONSES_CALL)
            return true;
    return false;
}

static bool has_refusal(const struct wire_decoder *decoder)
{
    for (size_t i = 0; i < decoder->stream->blocks.count; i++)
        if (decoder->stream->blocks.items[i]->kind == BLOCK_REFUSAL)
            return true;
    return false;
}

/* The format has no word for it: that there are calls makes the turn go on. */
static void stop_complete(struct wire_decoder *decoder)
{
    stream_stop(decoder->stream, has_call(decoder)      ? STOP_TOOL_USE
                                 : has_refusal(decoder) ? STOP_REFUSAL
                                                        : STOP_END);
}

/* Whatever cut it, no call of it runs. */
static void stop_incomplete(struct wire_decoder *decoder, const json_t *response)
{
    const json_t *details = json_object_get(response, "incomplete_details");
    const char *reason = json_member_string(details, "reason");
    bool filtered = reason && is(reason, "content_filter");
    if (reason && !filtered && !is(reason, "max_output_tokens") && !is(reason, "max_tokens"))
        wire_note(decoder->stream, "the response is incomplete", reason);
    stream_stop(decoder->stream, filtered ? STOP_CONTENT_FILTER : STOP_LENGTH);
}

static void take_usage(struct wire_decoder *decoder, const json_t *usage)
{
    if (!json_is_object(usage))
        return;
    const json_t *input = json_object_get(usage, "input_tokens_details");
    const json_t *output = json_object_get(usage, "output_tokens_details");
    struct usage numbers = {
        .input_tokens = json_member_integer(usage, "input_tokens", -1),
        .output_tokens = json_member_integer(usage, "output_tokens", -1),
        .cached_tokens = json_member_integer(input, "cached_tokens", -1),
        .cache_write_tokens = json_member_integer(input, "cache_write_tokens", -1),
        .reasoning_tokens = json_member_integer(output, "reasoning_tokens", -1),
    };
    stream_usage(decoder->stream, &numbers);
}

/* False: it holds no error. */
static bool fail_with(struct wire_decoder *decoder, const json_t *holder)
{
    if (!wire_fail_event(decoder->stream, holder))
        return false;
    stream_stop(decoder->stream, STOP_ERROR);
    return true;
}

/* `word` is what the event calls the end: "completed", …; the response itself may know better. */
static void take_end(struct wire_decoder *decoder, const json_t *response, const char *word,
                     bool lone)
{
    const char *status = json_member_string(response, "status");
    bool is_known =
        status && (is(status, "incomplete") || is(status, "failed") || is(status, "cancelled"));
    if (is_known && is(word, "completed"))
        word = status;
    take_usage(decoder, json_object_get(response, "usage"));
    if (json_is_object(json_object_get(response, "error")) && fail_with(decoder, response))
        return;
    if (is(word, "failed") || is(word, "cancelled")) {
        wire_fail(decoder->stream, ERROR_SERVER, true, "the server says that the response %s",
                  is(word, "failed") ? "failed, and not why" : "was cancelled");
        stream_stop(decoder->stream, STOP_ERROR);
        return;
    }
    take_output(decoder, json_object_get(response, "output"), lone);
    if (is(word, "incomplete"))
        stop_incomplete(decoder, response);
    else
        stop_complete(decoder);
    decoder->stream->ended = true;
}

/* ---- events ---- */

/* "completed" of "response.completed", or NULL. */
static const char *end_of(const char *type)
{
    static const char *const ends[] = {"completed", "incomplete", "failed", "cancelled"};
    static const char start[] = "response.";
    if (strncmp(type, start, strlen(start)) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (is(type + strlen(start), ends[i]))
            return ends[i];
    return is(type, "response.done") ? ends[0] : NULL;
}

static void take_event(struct wire_decoder *decoder, const json_t *event, const char *type,
                       bool lone)
{
    const struct text_event *text = find_text_event(type);
    const char *end = end_of(type);
    if (text)
        take_text(decoder, event, text, lone);
    else if (end)
        take_end(decoder, json_object_get(event, "response"), end, lone);
    else if (is(type, "response.function_call_arguments.delta"))
        take_arguments(decoder, event, "delta", false, lone);
    else if (is(type, "response.function_call_arguments.done"))
        take_arguments(decoder, event, "arguments", true, lone);
    else if (is(type, "response.output_item.added"))
        take_added(decoder, event);
    else if (is(type, "response.output_item.done"))
        take_done(decoder, event, lone);
    else if (is(type, "ping") || is(type, "keepalive"))
        stream_ping(decoder->stream);
}

/* The sentinel alone says that the response is whole if nothing of it was left open. */
static void take_sentinel(struct wire_decoder *decoder)
{
    decoder->stream->ended = true;
    for (size_t i = 0; i < decoder->items.count; i++)
        if (!responses_item_is_done(decoder->items.items[i]))
            return;
    if (decoder->items.count)
        stop_complete(decoder);
}

static void decoder_event(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *event = wire_read_event(&decoder->input, decoder->stream, data, length, &lone);
    const char *type = json_member_string(event, "type");
    if (event && (!type || json_object_get(event, "error") || is(type, "error")))
        fail_with(decoder, event);
    if (type && !decoder->stream->ended)
        take_event(decoder, event, type, lone);
    json_decref(event);
    if (decoder->input.done && !decoder->stream->ended)
        take_sentinel(decoder);
}

static void decoder_whole(struct wire_decoder *decoder, const char *data, size_t length)
{
    bool lone = false;
    json_t *document = wire_read_whole(decoder->stream, data, length, &lone);
    if (document && !wire_fail_event(decoder->stream, document)) {
        if (json_is_array(json_object_get(document, "output")))
            take_end(decoder, document, "completed", lone);
        else
            wire_fail(decoder->stream, ERROR_SERVER, true, "the response holds no output");
    }
    json_decref(document);
}

/* Everything that came, as input of the next request; reasoning only before what it led to, for
 * alone it is refused. */
static void keep_verbatim(struct wire_decoder *decoder)
{
    struct text array = TEXT_INIT;
    bool whole = true;
    text_putc(&array, '[');
    size_t settled = array.length;
    for (size_t i = 0; whole && i < decoder->items.count; i++) {
        const struct responses_item *item = decoder->items.items[i];
        size_t before = array.length;
        whole = responses_item_write(item, decoder->stream, &array);
        if (item->type != RESPONSES_REASONING && array.length > before)
            settled = array.length;
    }
    if (!array.failed) {
        array.length = settled;
        text_putc(&array, ']');
    }
    wire_keep_verbatim(decoder->stream, &array, whole);
}

static void decoder_end(struct wire_decoder *decoder)
{
    struct stream *stream = decoder->stream;
    for (size_t i = 0; i < decoder->items.count; i++)
        responses_item_end(decoder->items.items[i], stream);
    wire_read_end(&decoder->input, stream);
    if (stream->stop != STOP_UNKNOWN && stream->error.kind == ERROR_NONE)
        keep_verbatim(decoder);
}

static const char *const unsupported[] = {"top_k", "stop", NULL};

const struct wire wire_openai_responses = {
    .name = "openai-responses",
    .format = WIRE_OPENAI_RESPONSES,
    .path = "/responses",
    .key_header = "Authorization: Bearer ",
    .unsupported = unsupported,
    /* A request may have 50 MB. */
    .parts = {.image_bytes = (size_t)15 << 20, .images = 250, .total_bytes = (size_t)30 << 20},
    .write = openai_responses_write,
    .decoder_new = decoder_new,
    .decoder_event = decoder_event,
    .decoder_whole = decoder_whole,
    .decoder_end = decoder_end,
    .decoder_free = decoder_free,
    .models = &models_openai,
};

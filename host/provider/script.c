#include "provider/script.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"

#define MAX_BYTES     ((size_t)64 << 20)
#define DEFAULT_CHUNK 16
#define MAX_ATTEMPTS  4

struct script {
    struct client client;
    json_t *document;
    const json_t *turns; /* of the document */
    size_t next;
};

/* ---- reading: everything that can be wrong is found here, before the first request ---- */

struct member {
    const char *name;
    bool (*check)(const json_t *value);
    const char *rule; /* what the value must be */
};

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

static bool is_name(const json_t *value)
{
    return json_string_length(value) > 0;
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_delay(const json_t *value)
{
    return is_count(value) && json_integer_value(value) <= 3600 * 1000;
}

static bool is_chunk(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_arguments(const json_t *value)
{
    return json_is_object(value) || json_is_string(value);
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool is_texts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

static enum stop_reason find_stop(const char *name)
{
    for (enum stop_reason reason = STOP_END; reason < STOP_ERROR; reason++)
        if (!strcmp(stop_reason_name(reason), name))
            return reason;
    return STOP_UNKNOWN;
}

static bool is_stop(const json_t *value)
{
    return json_is_null(value) ||
           (json_is_string(value) && find_stop(json_string_value(value)) != STOP_UNKNOWN);
}

static enum error_kind find_kind(const char *name)
{
    for (enum error_kind kind = ERROR_NONE + 1; kind <= ERROR_INTERNAL; kind++)
        if (!strcmp(error_kind_name(kind), name))
            return kind;
    return ERROR_NONE;
}

static bool is_kind(const json_t *value)
{
    return json_is_string(value) && find_kind(json_string_value(value)) != ERROR_NONE;
}

static const struct member turn_members[] = {
    {"text", is_string, "a string"},
    {"reasoning", is_string, "a string"},
    {"refusal", is_string, "a string"},
    {"calls", is_list, "a list of calls"},
    {"stop", is_stop, "end, tool_use, length, content_filter, refusal, pause or null"},
    {"usage", is_object, "an object"},
    {"error", is_object, "an object"},
    {"expect", is_texts, "a list of strings"},
    {"delay_ms", is_delay, "an integer from 0 to 3600000"},
    {"chunk", is_chunk, "an integer above 0"},
    {0}};
static const struct member call_members[] = {{"id", is_string, "a string"},
                                             {"name", is_name, "a string that is not empty"},
                                             {"arguments", is_arguments, "an object or a string"},
                                             {0}};
static const struct member usage_members[] = {
    {"input_tokens", is_count, "a number of tokens"},
    {"output_tokens", is_count, "a number of tokens"},
    {"cached_tokens", is_count, "a number of tokens"},
    {"cache_write_tokens", is_count, "a number of tokens"},
    {"reasoning_tokens", is_count, "a number of tokens"},
    {0}};
static const struct member error_members[] = {{"kind", is_kind, "the kind of an error"},
                                              {"message", is_string, "a string"},
                                              {"retryable", is_boolean, "true or false"},
                                              {0}};

/* `part` is "" or where in the turn the object stands: "usage.". */
static bool check_object(json_t *object, const struct member *members, size_t turn,
                         const char *part, struct error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const struct member *member = members;
        while (member->name && strcmp(member->name, key) != 0)
            member++;
        if (!member->name)
            return error_set(error, ERROR_CONFIG, "turn %zu: member '%s%s' is not known", turn,
                             part, key);
        if (!member->check(value))
            return error_set(error, ERROR_CONFIG, "turn %zu: '%s%s' must be %s", turn, part, key,
                             member->rule);
    }
    return true;
}

static bool check_calls(const json_t *calls, size_t turn, struct error *error)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        json_t *call = json_array_get(calls, i);
        char part[40];
        snprintf(part, sizeof(part), "calls[%zu]", i);
        if (!json_is_object(call) || !json_object_get(call, "name"))
            return error_set(error, ERROR_CONFIG, "turn %zu: '%s' must be an object with a name",
                             turn, part);
        snprintf(part, sizeof(part), "calls[%zu].", i);
        if (!check_object(call, call_members, turn, part, error))
            return false;
    }
    return true;
}

static bool check_turn(json_t *turn, size_t number, struct error *error)
{
    if (!json_is_object(turn))
        return error_set(error, ERROR_CONFIG, "turn %zu: must be an object", number);
    return check_object(turn, turn_members, number, "", error) &&
           check_calls(json_object_get(turn, "calls"), number, error) &&
           check_object(json_object_get(turn, "usage"), usage_members, number, "usage.", error) &&
           check_object(json_object_get(turn, "error"), error_members, number, "error.", error);
}

static bool check_document(json_t *document, struct error *error)
{
    const json_t *turns = json_object_get(document, "turns");
    if (!json_is_array(turns) || json_object_size(document) != 1)
        return error_set(error, ERROR_CONFIG,
                         "must be an object whose only member is 'turns', a list");
    for (size_t i = 0; i < json_array_size(turns); i++)
        if (!check_turn(json_array_get(turns, i), i + 1, error))
            return false;
    return true;
}

static json_t *read_document(const char *path, struct error *error)
{
    struct text bytes = TEXT_INIT;
    if (!file_read(path, MAX_BYTES, &bytes, error)) {
        text_release(&bytes);
        return NULL;
    }
    json_t *document = json_parse(text_cstr(&bytes), bytes.length, NULL, error);
    text_release(&bytes);
    if (document && check_document(document, error))
        return document;
    json_decref(document);
    if (error->kind != ERROR_INTERNAL) /* a file that is no JSON is no bad request */
        error->kind = ERROR_CONFIG;
    error_prefix(error, "script '%s'", path);
    return NULL;
}

/* ---- playing ---- */

/* What one attempt is about. */
struct play {
    struct stream *stream;
    struct cancel *cancel;
    int64_t deadline_ms;
    int64_t delay_ms;
    size_t chunk;
};

static bool play_fail(struct play *play, enum error_kind kind, const char *message)
{
    struct error error = ERROR_INIT;
    error_set(&error, kind, "%s", message);
    error.retryable = kind == ERROR_TIMEOUT;
    stream_fail(play->stream, &error);
    return false;
}

static bool wait_delay(struct play *play)
{
    int64_t now = clock_ms();
    int64_t until = now + play->delay_ms;
    if (play->delay_ms)
        stream_settled(play->stream);
    while (!cancel_requested(play->cancel)) {
        if (play->deadline_ms >= 0 && now >= play->deadline_ms)
            return play_fail(play, ERROR_TIMEOUT, "the time limit was reached");
        if (now >= until)
            return true;
        int64_t end =
            play->deadline_ms >= 0 && play->deadline_ms < until ? play->deadline_ms : until;
        struct pollfd waiting = {.fd = cancel_fd(play->cancel), .events = POLLIN};
        poll(&waiting, 1, (int)(end - now));
        now = clock_ms();
    }
    return play_fail(play, ERROR_CANCELLED, "cancelled");
}

static size_t piece_length(const char *data, size_t length, size_t chunk)
{
    size_t piece = utf8_cut(data, length, chunk);
    return piece ? piece : utf8_cut_tail(data, length, 1);
}

static bool play_block(struct play *play, int block, const char *data, size_t length)
{
    while (length) {
        if (!wait_delay(play))
            return false;
        size_t piece = piece_length(data, length, play->chunk);
        stream_delta(play->stream, block, data, piece, false);
        data += piece;
        length -= piece;
    }
    stream_close(play->stream, block);
    return block >= 0;
}

static bool play_text(struct play *play, const json_t *turn, const char *key, enum block_kind kind)
{
    size_t length;
    const char *text = json_member_text(turn, key, &length);
    if (!text)
        return true;
    return play_block(play, stream_open(play->stream, kind, NULL, NULL), text, length);
}

static bool play_call(struct play *play, const json_t *call)
{
    const json_t *arguments = json_object_get(call, "arguments");
    struct text text = TEXT_INIT;
    if (json_is_string(arguments))
        text_append(&text, json_string_value(arguments), json_string_length(arguments));
    else if (arguments)
        text_json(&text, arguments);
    bool played = !text.failed || play_fail(play, ERROR_INTERNAL, "out of memory");
    if (played) {
        int block = stream_open(play->stream, BLOCK_TOOL_USE, json_member_string(call, "id"),
                                json_member_string(call, "name"));
        played = play_block(play, block, text_cstr(&text), text.length);
    }
    text_release(&text);
    return played;
}

static bool play_blocks(struct play *play, const json_t *turn)
{
    if (!wait_delay(play) || !play_text(play, turn, "reasoning", BLOCK_REASONING) ||
        !play_text(play, turn, "text", BLOCK_TEXT) ||
        !play_text(play, turn, "refusal", BLOCK_REFUSAL))
        return false;
    const json_t *calls = json_object_get(turn, "calls");
    for (size_t i = 0; i < json_array_size(calls); i++)
        if (!play_call(play, json_array_get(calls, i)))
            return false;
    return true;
}

static void play_usage(struct play *play, const json_t *turn)
{
    const json_t *numbers = json_object_get(turn, "usage");
    struct usage usage = {
        .input_tokens = json_member_integer(numbers, "input_tokens", -1),
        .output_tokens = json_member_integer(numbers, "output_tokens", -1),
        .cached_tokens = json_member_integer(numbers, "cached_tokens", -1),
        .cache_write_tokens = json_member_integer(numbers, "cache_write_tokens", -1),
        .reasoning_tokens = json_member_integer(numbers, "reasoning_tokens", -1),
    };
    stream_usage(play->stream, &usage);
}

static void play_error(struct play *play, const json_t *wanted)
{
    const char *kind = json_member_string(wanted, "kind");
    const char *message = json_member_string(wanted, "message");
    struct error error = ERROR_INIT;
    error_set(&error, kind ? find_kind(kind) : ERROR_SERVER, "%s",
              message ? message : "the script says so");
    error.retryable = json_member_true(wanted, "retryable");
    if (stream_has_shown(play->stream)) /* as a server's error event in the middle of a stream */
        stream_stop(play->stream, STOP_ERROR);
    stream_fail(play->stream, &error);
}

/* "stop": null is a connection that ends too early. */
static void play_end(struct play *play, const json_t *turn)
{
    const json_t *error = json_object_get(turn, "error");
    const json_t *stop = json_object_get(turn, "stop");
    play_usage(play, turn);
    if (error)
        play_error(play, error);
    else if (json_is_string(stop))
        stream_stop(play->stream, find_stop(json_string_value(stop)));
    else if (!stop)
        stream_stop(play->stream,
                    json_array_size(json_object_get(turn, "calls")) ? STOP_TOOL_USE : STOP_END);
}

/* ---- what the request must hold ---- */

static void write_request(const struct request *request, struct text *out)
{
    if (request->system)
        text_puts(out, request->system);
    text_putc(out, '\n');
    for (size_t i = 0; i < request->item_count; i++) {
        item_write_json(request->items[i], out);
        text_putc(out, '\n');
    }
    for (size_t i = 0; request->tools && i < request->tools->count; i++) {
        text_puts(out, request->tools->items[i].name);
        text_putc(out, '\n');
    }
}

static bool check_request(struct play *play, const struct request *request, const json_t *turn,
                          size_t number)
{
    const json_t *expected = json_object_get(turn, "expect");
    if (!json_array_size(expected))
        return true;
    struct text text = TEXT_INIT;
    struct error error = ERROR_INIT;
    write_request(request, &text);
    if (text.failed)
        error_memory(&error);
    for (size_t i = 0; !error.kind && i < json_array_size(expected); i++) {
        const json_t *wanted = json_array_get(expected, i);
        if (!memmem(text.data, text.length, json_string_value(wanted), json_string_length(wanted)))
            error_set(&error, ERROR_INTERNAL, "turn %zu of the script expects '%s' in the request",
                      number, json_string_value(wanted));
    }
    text_release(&text);
    if (error.kind)
        stream_fail(play->stream, &error);
    return !error.kind;
}

static bool play_turn(struct script *script, struct play *play, const struct request *request)
{
    size_t number = ++script->next;
    const json_t *turn = json_array_get(script->turns, number - 1);
    if (!turn) {
        struct error error = ERROR_INIT;
        error_set(&error, ERROR_BAD_REQUEST, "the script has no turn %zu, it ends after turn %zu",
                  number, json_array_size(script->turns));
        stream_fail(play->stream, &error);
        return false;
    }
    play->delay_ms = json_member_integer(turn, "delay_ms", 0);
    play->chunk = (size_t)json_member_integer(turn, "chunk", DEFAULT_CHUNK);
    if (!check_request(play, request, turn, number) || !play_blocks(play, turn))
        return false;
    play_end(play, turn);
    return true;
}

static void script_attempt(struct client *client, const struct request *request,
                           struct stream *stream, struct cancel *cancel, int64_t deadline_ms)
{
    struct play play = {.stream = stream, .cancel = cancel, .deadline_ms = deadline_ms};
    play_turn((struct script *)client, &play, request);
    stream_finish(stream);
}

static void script_free(struct client *client)
{
    struct script *script = (struct script *)client;
    json_decref(script->document);
    free(client->provider);
    free(client->model);
    free(script);
}

struct client *script_client_new(const char *path, struct error *error)
{
    static const struct client_ops ops = {.attempt = script_attempt, .free = script_free};
    struct error here = ERROR_INIT;
    struct script *script = calloc(1, sizeof(*script));
    if (!script) {
        error_memory(error);
        return NULL;
    }
    script->client = (struct client){
        .ops = &ops,
        .provider = strdup("script"),
        .model = strdup(path),
        .max_attempts = MAX_ATTEMPTS,
    };
    script->document = read_document(path, &here);
    script->turns = json_object_get(script->document, "turns");
    if (script->document && (!script->client.provider || !script->client.model))
        error_memory(&here);
    if (here.kind == ERROR_NONE)
        return &script->client;
    if (error)
        *error = here;
    script_free(&script->client);
    return NULL;
}

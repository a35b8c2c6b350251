/* A client that compares each request with the recorded one and answers as it was answered. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/secret.h"
#include "provider/http_response.h"
#include "record/difference.h"
#include "record/replay_state.h"

struct replay_client {
    struct client client; /* first: ops get a pointer to it */
    struct replay *replay;
    struct profile profile;
    char *host;
    struct arena memory; /* of the profile's strings */
    struct text body;
    struct http_response response;

    /* of the attempt at hand */
    struct record *answer;
    const struct stream *stream;
};

static struct replay_client *of(struct client *client)
{
    return (struct replay_client *)((char *)client - offsetof(struct replay_client, client));
}

/* ---- requests ---- */

static void fail(struct replay_client *client, const struct error *error)
{
    stream_fail(client->response.stream, error);
}

/* What is wrong with the replay ends the run here. */
static void fail_with_reason(struct replay_client *client)
{
    const struct replay *replay = client->replay;
    struct error error = ERROR_INIT;
    if (replay->differs)
        error = replay->difference;
    else
        error_set(&error, ERROR_INTERNAL, "%s", replay->ended);
    fail(client, &error);
}

static bool write_request(struct replay_client *client, const struct request *request)
{
    struct error error = ERROR_INIT;
    text_reset(&client->body);
    if (!client->profile.wire->write(&client->body, &client->profile, client->client.model, request,
                                     &error))
        fail(client, &error);
    else if (client->body.failed)
        http_response_fail_memory(&client->response);
    return !http_response_has_failed(&client->response);
}

/* The body as it was written down: as it is, or within a string. */
static void compare_request(struct replay_client *client, const struct record *record)
{
    struct replay *replay = client->replay;
    struct json_piece recorded = record_member(record, "body");
    struct text text = TEXT_INIT, where = TEXT_INIT;
    secret_redact(&client->body);
    if (*recorded.data == '"' && json_piece_text(recorded, &text))
        recorded = (struct json_piece){text.data, text.length};
    const struct json_piece now = {text_cstr(&client->body), client->body.length};
    if (text.failed || client->body.failed)
        http_response_fail_memory(&client->response);
    else if (difference_find(recorded, now, &where))
        replay_differ(replay, "the request of turn %lld, attempt %lld (line %zu) differs %s",
                      (long long)record_integer(record, "turn", 0),
                      (long long)record_integer(record, "attempt", 1), record->line,
                      text_cstr(&where));
    text_release(&text);
    text_release(&where);
}

/* False: there is no answer, and the stream has failed. */
static bool ask(struct replay_client *client, const struct request *request)
{
    struct replay *replay = client->replay;
    if (!write_request(client, request))
        return false;
    struct record *record = replay_find(replay, RECORD_REQUEST);
    if (!record)
        replay_miss(replay, "this run makes a request that was not recorded");
    else if (!replay->differs)
        compare_request(client, record);
    if (http_response_has_failed(&client->response))
        return false;
    if (record && !replay->differs) {
        replay_use(replay, record);
        replay->requests++;
        client->answer = replay_find(replay, RECORD_RESPONSE);
        if (!client->answer)
            replay_miss(replay, "line %zu: the request has no response", record->line);
        else if (record_is_true(client->answer, "withheld"))
            replay->ended = "the recording leaves this response out: it held a secret that could "
                            "not be masked";
    }
    if (!replay->differs && !replay->ended)
        return true;
    fail_with_reason(client);
    return false;
}

/* ---- responses ---- */

static struct http_hints read_hints(const struct record *answer)
{
    struct http_hints hints;
    struct text location = TEXT_INIT;
    struct json_piece piece = record_member(answer, "hints");
    http_hints_init(&hints);
    hints.retry_after_ms = json_piece_integer(json_walk_member(piece, "retry_after_ms"), -1);
    hints.should_retry = (int)json_piece_integer(json_walk_member(piece, "should_retry"), -1);
    json_piece_text(json_walk_member(piece, "location"), &location);
    snprintf(hints.location, sizeof(hints.location), "%s", text_cstr(&location));
    text_release(&location);
    return hints;
}

/* [ms, "text"] or [ms, {"base64": "…"}] */
static bool read_chunk(struct json_piece piece, struct text *bytes)
{
    struct json_walk walk;
    struct json_piece ms, data = {NULL, 0};
    text_reset(bytes);
    if (!json_walk_into(&walk, piece, '[') || !json_walk_next(&walk, NULL, &ms) ||
        !json_walk_next(&walk, NULL, &data))
        return false;
    if (json_piece_is_string(data))
        return json_piece_text(data, bytes);
    data = json_walk_member(data, "base64");
    return json_piece_is_string(data) && base64_read(bytes, data.data + 1, data.length - 2);
}

static void receive(struct replay_client *client, int status)
{
    struct text bytes = TEXT_INIT;
    struct json_walk walk;
    struct json_piece piece;
    struct stream *stream = client->response.stream;
    bool ok = json_walk_into(&walk, record_member(client->answer, "chunks"), '[');
    while (ok && !stream->ended && json_walk_next(&walk, NULL, &piece)) {
        ok = read_chunk(piece, &bytes);
        if (!ok)
            break;
        http_response_receive(&client->response, status, text_cstr(&bytes), bytes.length);
        stream_settled(stream);
    }
    if (bytes.failed)
        http_response_fail_memory(&client->response);
    else if (!ok)
        replay_refuse(client->replay, client->answer, "chunks");
    text_release(&bytes);
}

static enum error_kind kind_of(struct json_piece error)
{
    const struct record record = {.json = error};
    for (int kind = ERROR_NONE + 1; error.length && kind <= ERROR_INTERNAL; kind++)
        if (record_says(&record, "kind", error_kind_name((enum error_kind)kind)))
            return (enum error_kind)kind;
    return ERROR_NONE;
}

/* The transfer failed, or was ended: so it does again. */
static void fail_as_recorded(struct replay_client *client)
{
    struct json_piece recorded = record_member(client->answer, "error");
    struct text message = TEXT_INIT;
    struct error error = ERROR_INIT;
    json_piece_text(json_walk_member(recorded, "message"), &message);
    error_set(&error, kind_of(recorded), "%s", text_cstr(&message));
    struct json_piece retryable = json_walk_member(recorded, "retryable");
    error.retryable = retryable.length && *retryable.data == 't';
    if (error.kind == ERROR_NONE)
        replay_refuse(client->replay, client->answer, "error");
    else
        fail(client, &error);
    text_release(&message);
}

/* About a key, which is not here, the message says more than the response. */
static void say_as_recorded(struct replay_client *client)
{
    struct error *error = &client->response.stream->error;
    const struct error now = *error;
    struct text message = TEXT_INIT;
    if (json_piece_text(json_walk_member(record_member(client->answer, "error"), "message"),
                        &message)) {
        error_set(error, now.kind, "%s", text_cstr(&message));
        error->retryable = now.retryable;
        error->retry_after_ms = now.retry_after_ms;
        error->status = now.status;
    }
    text_release(&message);
}

static void answer(struct replay_client *client)
{
    struct replay *replay = client->replay;
    struct http_response *response = &client->response;
    int status = (int)record_integer(client->answer, "status", 0);
    struct http_hints hints = read_hints(client->answer);
    receive(client, status);
    if (!http_response_has_failed(response) && !replay->differs) {
        if (record_says(client->answer, "end", "whole"))
            http_response_conclude(response, status, &hints);
        else
            fail_as_recorded(client);
    }
    enum error_kind recorded = kind_of(record_member(client->answer, "error"));
    enum error_kind now = response->stream->error.kind;
    if (recorded != now)
        replay_differ(replay,
                      "the response of turn %lld, attempt %lld (line %zu) is understood in "
                      "another way: recorded error '%s', now '%s'",
                      (long long)record_integer(client->answer, "turn", 0),
                      (long long)record_integer(client->answer, "attempt", 1), client->answer->line,
                      error_kind_name(recorded), error_kind_name(now));
    else if (now == ERROR_AUTH)
        say_as_recorded(client);
    if (replay->differs && !http_response_has_failed(response))
        fail_with_reason(client);
}

/* ---- the client ---- */

/* Ids that the host made are made again as they were; `calls` has those of all calls. */
static void make_id(void *self, char id[ID_SIZE])
{
    const struct replay_client *client = self;
    struct text text = TEXT_INIT;
    struct json_walk walk;
    struct json_piece piece = {NULL, 0};
    size_t skip = 0;
    for (size_t i = 0; i < client->stream->blocks.count; i++)
        skip += client->stream->blocks.items[i]->id != NULL;
    if (json_walk_into(&walk, record_member(client->answer, "calls"), '['))
        while (json_walk_next(&walk, NULL, &piece) && skip)
            skip--;
    json_piece_text(piece, &text);
    if (text.length && text.length < ID_SIZE)
        memcpy(id, text.data, text.length + 1);
    else
        id_make(id, "call");
    text_release(&text);
}

/* Nobody waits, and there is another attempt where one was recorded. */
static void set_retry(const struct replay_client *client, struct stream *stream)
{
    struct record *next = replay_find(client->replay, RECORD_REQUEST);
    bool goes_on = next && record_integer(next, "attempt", 1) > 1;
    stream->error.retry_after_ms = 0;
    stream->error.retryable = stream->error.retryable && !client->replay->differs &&
                              (goes_on || replay_was_stopped(client->replay));
}

static void replay_attempt(struct client *base, const struct request *request,
                           struct stream *stream, struct cancel *cancel, int64_t deadline_ms)
{
    struct replay_client *client = of(base);
    (void)cancel;
    (void)deadline_ms;
    client->answer = NULL;
    client->stream = stream;
    stream->make_id = make_id;
    stream->make_id_context = client;
    if (http_response_begin(&client->response, client->profile.wire, client->host, stream) &&
        ask(client, request))
        answer(client);
    http_response_end(&client->response);
    stream->make_id = NULL;
    if (client->answer)
        replay_use(client->replay, client->answer);
    set_retry(client, stream);
}

static void replay_prepare(struct client *base, const struct request *request)
{
    struct replay_client *client = of(base);
    struct error ignored;
    text_reset(&client->body);
    client->profile.wire->write(&client->body, &client->profile, base->model, request, &ignored);
}

static void replay_client_free(struct client *base)
{
    struct replay_client *client = of(base);
    http_response_release(&client->response);
    text_release(&client->body);
    arena_release(&client->memory);
    free(client->client.provider);
    free(client->client.model);
    free(client->host);
    free(client);
}

static const struct client_ops ops = {
    .attempt = replay_attempt, .free = replay_client_free, .prepare = replay_prepare};

/* ---- what it is made of ---- */

static char *copy_member(const struct record *record, const char *name)
{
    struct text text = TEXT_INIT;
    record_text(record, name, &text);
    return text_take(&text, NULL);
}

static bool read_unsupported(struct replay_client *client, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **names = arena_alloc(&client->memory, (count + 1) * sizeof(*names));
    if (!names)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        names[i] = arena_copy(&client->memory, name ? name : "", name ? strlen(name) : 0);
        if (!names[i])
            return false;
    }
    names[count] = NULL;
    client->profile.unsupported = names;
    client->client.unsupported = names;
    return true;
}

static bool read_profile(struct replay_client *client, const json_t *facts)
{
    for (const struct profile_fact *fact = profile_facts; fact->name; fact++) {
        char *member = (char *)&client->profile + fact->offset;
        const char *string = json_member_string(facts, fact->name);
        if (!fact->is_string) {
            *(bool *)member = json_member_true(facts, fact->name);
        } else if (string) {
            string = arena_copy(&client->memory, string, strlen(string));
            if (!string)
                return false;
            memcpy(member, &string, sizeof(string));
        }
    }
    return read_unsupported(client, json_object_get(facts, "unsupported"));
}

/* What is in objects of its own. */
static bool read_facts(struct replay_client *client, const struct record *record,
                       struct error *error)
{
    json_t *value = record_value(record, error);
    if (!value) {
        error_prefix(error, "%s: line %zu", client->replay->name, record->line);
        return false;
    }
    const json_t *parts = json_object_get(value, "parts");
    for (const struct part_fact *fact = part_facts; fact->name; fact++)
        fact->set(&client->client.parts, json_member_integer(parts, fact->name, 0));
    bool ok = read_profile(client, json_object_get(value, "profile")) || error_memory(error);
    json_decref(value);
    return ok;
}

static bool read_model(struct replay_client *client, const struct record *record,
                       struct error *error)
{
    struct text format = TEXT_INIT;
    client->client.provider = copy_member(record, "provider");
    client->client.model = copy_member(record, "model");
    client->host = copy_member(record, "host");
    client->client.max_attempts = (unsigned)record_integer(record, "attempts", 1);
    record_text(record, "format", &format);
    client->profile.name = client->client.provider;
    client->profile.wire = record_wire(text_cstr(&format));
    bool ok = client->client.provider && client->client.model && client->host && !format.failed;
    if (!ok)
        error_memory(error);
    else if (!client->profile.wire)
        ok = error_set(error, ERROR_USAGE, "%s: line %zu: format '%s' is not known",
                       client->replay->name, record->line, text_cstr(&format));
    text_release(&format);
    return ok && read_facts(client, record, error);
}

struct client *replay_client(struct replay *replay, struct error *error)
{
    struct replay_client *client = calloc(1, sizeof(*client));
    if (!client) {
        error_memory(error);
        return NULL;
    }
    client->client.ops = &ops;
    client->replay = replay;
    arena_init(&client->memory, NULL, 0);
    if (read_model(client, &replay->recording.items[replay->model], error))
        return &client->client;
    replay_client_free(&client->client);
    return NULL;
}

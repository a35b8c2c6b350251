/* Requests and responses, as they go over the wire. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/json_check.h"
#include "base/json_write.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "provider/http_host.h"
#include "provider/http_response.h"
#include "record/recorder_state.h"

/* ---- requests ---- */

/* Their values are nobody's business, and one of them is the key. */
static void write_header_names(const struct curl_slist *headers, struct text *line)
{
    json_put_key(line, "headers");
    text_putc(line, '[');
    for (; headers; headers = headers->next) {
        json_put_comma(line);
        text_json_string(line, headers->data, strcspn(headers->data, ":"));
    }
    text_putc(line, ']');
}

/* The bytes themselves, where they can stand in a line. */
static void write_body(const struct text *body, struct text *line)
{
    struct text clean = TEXT_INIT;
    text_append(&clean, body->data, body->length);
    secret_redact(&clean);
    json_put_key(line, "body");
    if (!clean.failed && !memchr(clean.data, '\n', clean.length) &&
        json_is_valid(clean.data, clean.length) && *clean.data == '{')
        text_append(line, clean.data, clean.length);
    else
        text_json_string(line, text_cstr(&clean), clean.length);
    line->failed |= clean.failed;
    text_release(&clean);
}

/* Without the user and the password that may stand before the host: a short one is not known as a
 * secret. */
static void write_url(const char *url, struct text *line)
{
    struct text shown = TEXT_INIT;
    size_t length;
    const char *scheme = strstr(url, "://");
    text_append(&shown, url, scheme ? (size_t)(scheme + 3 - url) : 0);
    text_puts(&shown, http_find_name(url, &length));
    json_put_text(line, "url", text_cstr(&shown), shown.length);
    line->failed |= shown.failed;
    text_release(&shown);
}

static void on_request(void *self, const char *url, const struct curl_slist *headers,
                       const struct text *body)
{
    struct recorder *recorder = self;
    struct text *line = &recorder->line;
    record_begin(line, RECORD_REQUEST);
    json_put_integer(line, "turn", recorder->turn);
    json_put_integer(line, "attempt", ++recorder->attempt);
    write_url(url, line);
    write_header_names(headers, line);
    write_body(body, line);
    recorder_write(recorder);
    recorder->start_ms = clock_ms();
    text_reset(&recorder->body);
    recorder->chunks.count = 0;
}

/* ---- responses ---- */

static void on_received(void *self, const char *data, size_t length)
{
    struct recorder *recorder = self;
    if (recorder->fd < 0)
        return;
    text_append(&recorder->body, data, length);
    if (recorder->body.failed || !array_reserve(&recorder->chunks, 1)) {
        recorder_fail_memory(recorder);
        return;
    }
    recorder->chunks.items[recorder->chunks.count++] =
        (struct chunk){.ms = clock_ms() - recorder->start_ms, .end = recorder->body.length};
}

/* Replaces the body by one without secrets.  A secret that lies across two chunks makes them, and
 * all others, one: where they were cut cannot be told any more. */
static void mask(struct recorder *recorder)
{
    struct text whole = TEXT_INIT, pieces = TEXT_INIT, piece = TEXT_INIT;
    struct text *body = &recorder->body;
    text_append(&whole, body->data, body->length);
    secret_redact(&whole);
    size_t start = 0;
    for (size_t i = 0; i < recorder->chunks.count; i++) {
        struct chunk *chunk = &recorder->chunks.items[i];
        text_reset(&piece);
        text_append(&piece, body->data + start, chunk->end - start);
        secret_redact(&piece);
        pieces.failed |= piece.failed;
        text_append(&pieces, text_cstr(&piece), piece.length);
        start = chunk->end;
        chunk->end = pieces.length;
    }
    bool is_same = pieces.length == whole.length &&
                   memcmp(text_cstr(&pieces), text_cstr(&whole), whole.length) == 0;
    if (!is_same && recorder->chunks.count) {
        recorder->chunks.items[0] = (struct chunk){recorder->chunks.items[0].ms, whole.length};
        recorder->chunks.count = 1;
    }
    whole.failed |= pieces.failed;
    text_release(&pieces);
    text_release(&piece);
    text_release(body);
    *body = whole;
}

static bool holds_secret(const struct stream *stream)
{
    bool holds = false;
    for (size_t i = 0; !holds && i < stream->blocks.count; i++) {
        const struct text *said = &stream->blocks.items[i]->text;
        struct text clean = TEXT_INIT;
        text_append(&clean, said->data, said->length);
        secret_redact(&clean);
        holds = clean.failed || clean.length != said->length ||
                memcmp(text_cstr(&clean), text_cstr(said), said->length) != 0;
        text_release(&clean);
    }
    return holds;
}

/* Whether the masked body means what the real one meant, and says no secret.  A model may say one in
 * the pieces of its own events, also in those that came when a hook had ended the response; and
 * what comes in frames cannot be read once a secret was taken out of one. */
static bool is_good_masked(const struct recorder *recorder, int status,
                           const struct http_hints *hints, bool whole, const struct stream *real)
{
    struct client_facts facts;
    struct http_response response = {0};
    struct timeline timeline;
    struct stream stream;
    bool good = false;
    recorder->client->ops->facts(recorder->client, &facts);
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    if (http_response_begin(&response, facts.profile->wire, "", &stream)) {
        http_response_receive(&response, status, text_cstr(&recorder->body), recorder->body.length);
        if (whole)
            http_response_conclude(&response, status, hints);
        enum error_kind kind = stream.error.kind;
        good = (kind == real->error.kind || (!whole && kind == ERROR_NONE)) &&
               kind != ERROR_INTERNAL && !holds_secret(&stream);
    }
    http_response_end(&response);
    http_response_release(&response);
    stream_release(&stream);
    timeline_release(&timeline);
    return good;
}

static void write_bytes(struct text *line, const char *data, size_t length)
{
    if (utf8_valid(data, length) == length) {
        text_json_string(line, data, length);
        return;
    }
    text_puts(line, "{\"base64\":\"");
    base64_append(line, data, length);
    text_puts(line, "\"}");
}

static void write_chunks(const struct recorder *recorder, struct text *line)
{
    size_t start = 0;
    json_put_key(line, "chunks");
    text_putc(line, '[');
    for (size_t i = 0; i < recorder->chunks.count; i++) {
        const struct chunk *chunk = &recorder->chunks.items[i];
        json_put_comma(line);
        text_printf(line, "[%lld,", (long long)chunk->ms);
        write_bytes(line, recorder->body.data + start, chunk->end - start);
        text_putc(line, ']');
        start = chunk->end;
    }
    text_putc(line, ']');
}

static void write_hints(const struct http_hints *hints, struct text *line)
{
    json_put_key(line, "hints");
    text_putc(line, '{');
    json_put_integer(line, "retry_after_ms", hints->retry_after_ms);
    json_put_integer(line, "should_retry", hints->should_retry);
    json_put_string(line, "location", hints->location);
    text_putc(line, '}');
}

static void write_call_ids(const struct stream *stream, struct text *line)
{
    json_put_key(line, "calls");
    text_putc(line, '[');
    for (size_t i = 0; i < stream->blocks.count; i++) {
        const char *id = stream->blocks.items[i]->id;
        if (!id)
            continue;
        json_put_comma(line);
        text_json_string(line, id, strlen(id));
    }
    text_putc(line, ']');
}

static void on_response(void *self, int status, const struct http_hints *hints, bool whole,
                        const struct stream *stream)
{
    struct recorder *recorder = self;
    struct text *line = &recorder->line;
    mask(recorder);
    record_begin(line, RECORD_RESPONSE);
    json_put_integer(line, "turn", recorder->turn);
    json_put_integer(line, "attempt", recorder->attempt);
    json_put_integer(line, "status", status);
    write_hints(hints, line);
    line->failed |= recorder->body.failed;
    if (is_good_masked(recorder, status, hints, whole, stream))
        write_chunks(recorder, line);
    else
        json_put_boolean(line, "withheld", true);
    write_call_ids(stream, line);
    json_put_string(line, "end", whole ? "whole" : "cut");
    if (stream->error.kind != ERROR_NONE)
        record_write_error(line, &stream->error);
    recorder_write(recorder);
    text_release(&recorder->body);
}

void recorder_init_wire(struct recorder *recorder)
{
    recorder->wire_tape = (struct wire_tape){
        .request = on_request, .received = on_received, .response = on_response, .self = recorder};
}

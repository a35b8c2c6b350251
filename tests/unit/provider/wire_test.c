#include "wire_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "provider/http_response.h"
#include "provider/wire_error.h"

/* ---- reading ---- */

static void on_event(void *self, const struct event *event)
{
    struct answer *answer = self;
    if (event->kind == EVENT_PING)
        answer->pings++;
    if (event->kind == EVENT_BLOCK_DELTA)
        answer->deltas++;
    if (event->kind != EVENT_STATUS)
        return;
    text_append(&answer->status, event->as.status.text.data, event->as.status.text.length);
    text_putc(&answer->status, '\n');
}

static void begin(struct answer *answer)
{
    *answer = (struct answer){.deltas = 0};
    timeline_init(&answer->timeline);
    collect_init(&answer->collect);
    assert_true(collect_register(&answer->collect, &answer->timeline));
    assert_true(timeline_add(&answer->timeline, EVENT_ALL, on_event, answer));
    stream_init(&answer->stream, &answer->timeline);
    stream_begin(&answer->stream);
}

struct feeding {
    const struct wire *wire;
    struct wire_decoder *decoder;
    struct stream *stream;
};

static void on_data(void *context, const char *data, size_t length)
{
    struct feeding *feeding = context;
    if (!feeding->stream->ended)
        feeding->wire->decoder_event(feeding->decoder, data, length);
}

static void conclude(struct answer *answer, struct feeding *feeding)
{
    if (answer->stream.error.kind == ERROR_NONE)
        feeding->wire->decoder_end(feeding->decoder);
    answer->succeeded = stream_finish(&answer->stream);
    feeding->wire->decoder_free(feeding->decoder);
}

void answer_read(struct answer *answer, const struct wire *wire, const char *body, size_t length,
                 size_t step, bool clean)
{
    begin(answer);
    struct feeding feeding = {wire, wire->decoder_new(&answer->stream), &answer->stream};
    struct error error = ERROR_INIT;
    struct sse sse;
    assert_non_null(feeding.decoder);
    sse_init(&sse, on_data, &feeding);
    for (size_t at = 0; at < length; at += step) {
        step = step ? step : length;
        assert_true(sse_feed(&sse, body + at, step < length - at ? step : length - at, &error));
    }
    if (clean)
        assert_true(sse_end(&sse, &error));
    sse_release(&sse);
    conclude(answer, &feeding);
}

void answer_read_body(struct answer *answer, const struct wire *wire, int status, const char *body,
                      size_t length, size_t step)
{
    struct http_response response = {0};
    struct http_hints hints;
    http_hints_init(&hints);
    begin(answer);
    if (http_response_begin(&response, wire, "host", &answer->stream)) {
        for (size_t at = 0; at < length; at += step) {
            step = step ? step : length;
            http_response_receive(&response, status, body + at,
                                  step < length - at ? step : length - at);
        }
        http_response_conclude(&response, status, &hints);
    }
    http_response_end(&response);
    http_response_release(&response);
    answer->succeeded = answer->stream.error.kind == ERROR_NONE;
}

void answer_read_whole(struct answer *answer, const struct wire *wire, const char *body,
                       size_t length)
{
    begin(answer);
    struct feeding feeding = {wire, wire->decoder_new(&answer->stream), &answer->stream};
    assert_non_null(feeding.decoder);
    wire->decoder_whole(feeding.decoder, body, length);
    conclude(answer, &feeding);
}

void answer_read_events(struct answer *answer, const struct wire *wire, const char *const *lines)
{
    struct text body = TEXT_INIT;
    for (; *lines; lines++)
        text_printf(&body, "data: %s\n\n", *lines);
    answer_read(answer, wire, text_cstr(&body), body.length, 0, true);
    text_release(&body);
}

void answer_release(struct answer *answer)
{
    stream_release(&answer->stream);
    collect_release(&answer->collect);
    timeline_release(&answer->timeline);
    text_release(&answer->status);
}

/* ---- comparing ---- */

static void put_kind(struct text *out, const struct collect *collect, enum block_kind kind,
                     const char *label)
{
    struct text text = TEXT_INIT;
    collect_text(collect, kind, &text);
    if (text.length)
        text_printf(out, "%s%s=%s", out->length ? " " : "", label, text.data);
    text_release(&text);
}

static void put_calls(struct text *out, const struct collect *collect)
{
    for (size_t i = 0; i < collect->count; i++) {
        const struct collected_block *block = &collect->items[i];
        if (block->kind == BLOCK_TOOL_USE)
            text_printf(out, "%s%s(%s)", out->length ? " " : "", block->name,
                        text_cstr(&block->text));
    }
}

void answer_equals(const struct answer *answer, const char *expected)
{
    struct text got = TEXT_INIT;
    put_kind(&got, &answer->collect, BLOCK_TEXT, "text");
    put_kind(&got, &answer->collect, BLOCK_REASONING, "reasoning");
    put_kind(&got, &answer->collect, BLOCK_REFUSAL, "refusal");
    put_calls(&got, &answer->collect);
    const char *stop = stop_reason_name(answer->collect.stop);
    text_printf(&got, "%sstop=%s", got.length ? " " : "", stop ? stop : "null");
    if (!answer->succeeded)
        text_printf(&got, " error=%s", error_kind_name(answer->stream.error.kind));
    assert_string_equal(text_cstr(&got), expected);
    text_release(&got);
}

/* ---- fixtures ---- */

char *fixture_read(const char *name, const char *file, size_t *length)
{
    char path[4096];
    struct text text = TEXT_INIT;
    struct error error = ERROR_INIT;
    snprintf(path, sizeof(path), "%s/%s/%s", FIXTURES, name, file);
    if (!file_read(path, 16u << 20, &text, &error)) {
        text_release(&text);
        return NULL;
    }
    return text_take(&text, length);
}

static void check_text(const struct answer *answer, enum block_kind kind, const json_t *expected)
{
    struct text text = TEXT_INIT;
    collect_text(&answer->collect, kind, &text);
    const char *string = json_string_value(expected);
    assert_string_equal(text_cstr(&text), string ? string : "");
    text_release(&text);
}

/* Texts that tool/arguments.h repairs later are not looked into here. */
static void check_arguments(const struct text *text, const json_t *expected)
{
    const char *raw = json_member_string(expected, "arguments_raw");
    json_t *arguments = json_object_get(expected, "arguments");
    if (raw)
        assert_string_equal(text_cstr(text), raw);
    json_t *got = json_parse(text_cstr(text), text->length, NULL, NULL);
    if (json_is_object(got))
        assert_true(json_equal(got, arguments));
    else if (!text->length)
        assert_int_equal(json_object_size(arguments), 0);
    else
        assert_true(raw || strstr(text->data, "Oslo"));
    json_decref(got);
}

static void check_calls(const struct answer *answer, const json_t *expected)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->collect.count; i++) {
        const struct collected_block *block = &answer->collect.items[i];
        if (block->kind != BLOCK_TOOL_USE)
            continue;
        const json_t *call = json_array_get(expected, count++);
        const char *id = json_member_string(call, "id");
        assert_non_null(id);
        if (!strcmp(id, "*"))
            assert_true(*block->id);
        else
            assert_string_equal(block->id, id);
        assert_string_equal(block->name, json_member_string(call, "name"));
        check_arguments(&block->text, call);
    }
    assert_int_equal(count, json_array_size(expected));
}

static void check_usage(const struct usage *usage, const json_t *expected)
{
    if (!json_is_object(expected))
        return;
    assert_int_equal(usage->input_tokens, json_member_integer(expected, "input", -1));
    assert_int_equal(usage->output_tokens, json_member_integer(expected, "output", -1));
    if (json_object_get(expected, "cached"))
        assert_int_equal(usage->cached_tokens, json_member_integer(expected, "cached", -1));
}

static void check_error(const struct error *error, const json_t *expected)
{
    if (!json_is_object(expected)) {
        assert_string_equal(error->message, "");
        assert_int_equal(error->kind, ERROR_NONE);
        return;
    }
    assert_string_equal(error_kind_name(error->kind), json_member_string(expected, "kind"));
    assert_int_equal(error->retryable, json_member_true(expected, "retryable"));
    assert_non_null(strstr(error->message, json_member_string(expected, "message_contains")));
}

static void check(const struct answer *answer, const json_t *expect)
{
    const char *stop = stop_reason_name(answer->collect.stop);
    const char *expected = json_member_string(expect, "stop_reason");
    check_error(&answer->stream.error, json_object_get(expect, "error"));
    check_text(answer, BLOCK_TEXT, json_object_get(expect, "text"));
    check_text(answer, BLOCK_REASONING, json_object_get(expect, "reasoning"));
    check_text(answer, BLOCK_REFUSAL, json_object_get(expect, "refusal"));
    check_calls(answer, json_object_get(expect, "tool_calls"));
    check_usage(&answer->collect.usage, json_object_get(expect, "usage"));
    assert_string_equal(stop ? stop : "null", expected ? expected : "null");
}

static void check_events(const char *name, const struct wire *wire, const json_t *meta)
{
    static const size_t steps[] = {0, 1, 2, 3, 7, 64};
    size_t length;
    char *body = fixture_read(name, "response.sse", &length);
    bool clean = !json_object_get(meta, "abort");
    assert_non_null(body);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct answer answer;
        answer_read(&answer, wire, body, length, steps[i], clean);
        check(&answer, json_object_get(meta, "expect"));
        answer_release(&answer);
    }
    free(body);
}

static void check_document(const char *name, const struct wire *wire, const json_t *meta)
{
    size_t length;
    char *body = fixture_read(name, "response.http", &length);
    json_int_t status = json_member_integer(meta, "http_status", 200);
    const json_t *expect = json_object_get(meta, "expect");
    assert_non_null(body);
    if (status >= 400) {
        struct error error = ERROR_INIT;
        wire_error_from_body(&error, (int)status, body, length);
        check_error(&error, json_object_get(expect, "error"));
        assert_int_equal(error.status, status);
    } else {
        struct answer answer;
        answer_read_whole(&answer, wire, body, length);
        check(&answer, expect);
        answer_release(&answer);
    }
    free(body);
}

/* What needs a server to be seen: compression, silence. */
static bool is_for_server(const json_t *meta)
{
    return json_object_get(json_object_get(meta, "headers"), "Content-Encoding") ||
           json_object_get(meta, "stall_ms");
}

static bool check_fixture(const char *name, const char *provider, const struct wire *wire)
{
    size_t length;
    char *text = fixture_read(name, "meta.json", &length);
    if (!text)
        return false;
    json_t *meta = json_parse(text, length, NULL, NULL);
    free(text);
    assert_non_null(meta);
    bool mine = !strcmp(json_member_string(meta, "provider"), provider) && !is_for_server(meta);
    char *events = mine ? fixture_read(name, "response.sse", &length) : NULL;
    if (mine)
        print_message("fixture %s\n", name);
    if (events)
        check_events(name, wire, meta);
    else if (mine)
        check_document(name, wire, meta);
    free(events);
    json_decref(meta);
    return mine;
}

size_t fixtures_check(const char *provider, const struct wire *wire)
{
    DIR *folder = opendir(FIXTURES);
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && check_fixture(entry->d_name, provider, wire))
            count++;
    closedir(folder);
    return count;
}

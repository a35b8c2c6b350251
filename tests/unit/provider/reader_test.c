#include "reader_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DELTAS       20000

/* ---- what was said ---- */

void reader_takes_fixtures(void **state)
{
    const struct reader *reader = *state;
    assert_int_equal(fixtures_check(reader->provider, reader->wire), reader->fixture_count);
}

static void put_events(struct text *body, const char *const *events)
{
    for (; *events; events++)
        text_printf(body, "data: %s\n\n", *events);
}

/* However the bytes are cut. */
void reader_takes_samples(void **state)
{
    static const size_t steps[] = {0, 1, 7};
    const struct reader *reader = *state;
    for (size_t i = 0; i < reader->samples.count; i++) {
        struct text body = TEXT_INIT;
        print_message("%s\n", reader->samples.items[i].about);
        put_events(&body, reader->samples.items[i].events);
        for (size_t step = 0; step < COUNT(steps); step++) {
            struct answer answer;
            answer_read(&answer, reader->wire, text_cstr(&body), body.length, steps[step], true);
            answer_equals(&answer, reader->samples.items[i].expected);
            answer_release(&answer);
        }
        text_release(&body);
    }
}

void reader_takes_documents(void **state)
{
    const struct reader *reader = *state;
    for (size_t i = 0; i < reader->documents.count; i++) {
        const char *body = reader->documents.items[i].body;
        struct answer answer;
        print_message("%s\n", body);
        answer_read_whole(&answer, reader->wire, body, strlen(body));
        answer_equals(&answer, reader->documents.items[i].expected);
        assert_true(answer.stream.ended);
        answer_release(&answer);
    }
}

static void check_part(const char *text, const struct sample *sample)
{
    if (!strstr(text, sample->expected))
        fail_msg("%s: '%s' is not in '%s'", sample->about, sample->expected, text);
}

void reader_tells_what_is_odd(void **state)
{
    const struct reader *reader = *state;
    assert_true(reader->notes.count > 0);
    for (size_t i = 0; i < reader->notes.count; i++) {
        struct answer answer;
        answer_read_events(&answer, reader->wire, reader->notes.items[i].events);
        check_part(text_cstr(&answer.status), &reader->notes.items[i]);
        answer_release(&answer);
    }
}

void reader_tells_what_failed(void **state)
{
    const struct reader *reader = *state;
    assert_true(reader->failures.count > 0);
    for (size_t i = 0; i < reader->failures.count; i++) {
        struct answer answer;
        answer_read_events(&answer, reader->wire, reader->failures.items[i].events);
        check_part(answer.stream.error.message, &reader->failures.items[i]);
        answer_release(&answer);
    }
}

void reader_adds_up_usage(void **state)
{
    const struct reader *reader = *state;
    const struct usage *total = &reader->usage.total;
    struct answer answer;
    answer_read_events(&answer, reader->wire, reader->usage.events);
    const struct usage *usage = &answer.collect.usage;
    assert_int_equal(usage->input_tokens, total->input_tokens);
    assert_int_equal(usage->output_tokens, total->output_tokens);
    assert_int_equal(usage->cached_tokens, total->cached_tokens);
    assert_int_equal(usage->cache_write_tokens, total->cache_write_tokens);
    assert_int_equal(usage->reasoning_tokens, total->reasoning_tokens);
    assert_int_equal(answer.pings, reader->usage.pings);
    answer_release(&answer);
}

void reader_takes_many_deltas(void **state)
{
    const struct reader *reader = *state;
    struct text body = TEXT_INIT;
    struct answer answer;
    for (int i = 0; i < DELTAS; i++)
        text_printf(&body, "data: %s\n\n", reader->delta);
    text_printf(&body, "data: %s\n\n", reader->last);
    answer_read(&answer, reader->wire, body.data, body.length, 0, true);
    assert_true(answer.succeeded);
    assert_int_equal(answer.deltas, DELTAS);
    assert_int_equal(answer.stream.blocks.count, 1);
    assert_int_equal(answer.stream.blocks.items[0]->text.length, DELTAS * strlen("word "));
    answer_release(&answer);
    text_release(&body);
}

void reader_refuses(const struct wire *wire, const struct text *body, const char *message)
{
    struct answer answer;
    answer_read(&answer, wire, text_cstr(body), body->length, 0, true);
    assert_false(answer.succeeded);
    assert_int_equal(answer.stream.error.kind, ERROR_SERVER);
    assert_non_null(strstr(answer.stream.error.message, message));
    answer_release(&answer);
}

/* ---- what goes back to the letter ---- */

void reader_keeps_verbatim(void **state)
{
    const struct reader *reader = *state;
    assert_true(reader->verbatims.count > 0);
    for (size_t i = 0; i < reader->verbatims.count; i++) {
        struct answer answer;
        print_message("%s\n", reader->verbatims.items[i].about);
        answer_read_events(&answer, reader->wire, reader->verbatims.items[i].events);
        assert_string_equal(text_cstr(&answer.collect.verbatim),
                            reader->verbatims.items[i].expected);
        answer_release(&answer);
    }
}

static json_t *parse_verbatim(const struct answer *answer)
{
    const struct text *verbatim = &answer->collect.verbatim;
    return json_parse(text_cstr(verbatim), verbatim->length, NULL, NULL);
}

static void check_replay(const struct wire *wire, const struct replay *replay)
{
    size_t length, meta_length;
    char *body = fixture_read(replay->fixture, "response.sse", &length);
    char *text = fixture_read(replay->fixture, "meta.json", &meta_length);
    assert_non_null(body);
    json_t *meta = json_parse(text, meta_length, NULL, NULL);
    const json_t *expect = json_object_get(meta, "expect");
    const json_t *expected = json_object_get(json_object_get(expect, "replay"), replay->member);
    struct answer answer;
    answer_read(&answer, wire, body, length, 1, true);
    json_t *verbatim = parse_verbatim(&answer);
    assert_true(json_is_array(expected));
    assert_true(json_equal(verbatim, expected));
    json_decref(verbatim);
    json_decref(meta);
    answer_release(&answer);
    free(body);
    free(text);
}

void reader_keeps_fixtures(void **state)
{
    const struct reader *reader = *state;
    assert_true(reader->replays.count > 0);
    for (size_t i = 0; i < reader->replays.count; i++) {
        print_message("fixture %s\n", reader->replays.items[i].fixture);
        check_replay(reader->wire, &reader->replays.items[i]);
    }
}

/* D14 */
void reader_keeps_the_sessions_ids(void **state)
{
    const struct reader *reader = *state;
    struct answer answer;
    answer_read_events(&answer, reader->wire, reader->odd_ids);
    json_t *verbatim = parse_verbatim(&answer);
    assert_int_equal(json_array_size(verbatim), reader->ids_asked);
    for (size_t i = 0; i < reader->ids_asked; i++) {
        const char *id = reader->id_of(json_array_get(verbatim, i));
        if (i < reader->ids_given)
            assert_string_equal(id, answer.collect.items[i].id);
        else
            assert_null(id);
        assert_true(*answer.collect.items[i].id);
        assert_true(!reader->no_id || strcmp(answer.collect.items[i].id, reader->no_id) != 0);
        for (size_t before = 0; before < i; before++)
            assert_string_not_equal(answer.collect.items[before].id, answer.collect.items[i].id);
    }
    assert_string_equal(answer.collect.items[0].id, "7");
    json_decref(verbatim);
    answer_release(&answer);
}

/* ---- one event after the other ---- */

void reading_begin(struct reading *reading, const struct wire *wire)
{
    timeline_init(&reading->timeline);
    stream_init(&reading->stream, &reading->timeline);
    stream_begin(&reading->stream);
    reading->wire = wire;
    reading->decoder = wire->decoder_new(&reading->stream);
}

void reading_take(struct reading *reading, const char *event)
{
    reading->wire->decoder_event(reading->decoder, event, strlen(event));
}

void reading_release(struct reading *reading)
{
    reading->wire->decoder_free(reading->decoder);
    stream_release(&reading->stream);
    timeline_release(&reading->timeline);
}

static void try_to_read(const struct wire *wire, const char *const *events)
{
    struct reading reading;
    reading_begin(&reading, wire);
    for (; reading.decoder && *events; events++)
        reading_take(&reading, *events);
    if (reading.decoder)
        wire->decoder_end(reading.decoder);
    stream_finish(&reading.stream);
    reading_release(&reading);
}

static void fail_each_allocation(const struct wire *wire, const struct samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        bool failed = true;
        for (int allowed = 0; failed; allowed++) {
            fail_after(allowed);
            try_to_read(wire, samples->items[i].events);
            failed = fail_never();
        }
    }
}

void reader_bears_a_lack_of_memory(void **state)
{
    const struct reader *reader = *state;
    fail_each_allocation(reader->wire, &reader->samples);
    fail_each_allocation(reader->wire, &reader->verbatims);
}

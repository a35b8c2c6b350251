/* What responses of Anthropic Messages mean (FAULTS 1e; D14, D15). */
#include "wire_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_fixtures(void **state)
{
    (void)state;
    assert_int_equal(fixtures_check("anthropic", &wire_anthropic), 12);
}

#define START(index, block)                                                                        \
    "{\"type\":\"content_block_start\",\"index\":" #index ",\"content_block\":{" block "}}"
#define DELTA(index, delta)                                                                        \
    "{\"type\":\"content_block_delta\",\"index\":" #index ",\"delta\":{" delta "}}"
#define TEXT(index, text)  DELTA(index, "\"type\":\"text_delta\",\"text\":\"" text "\"")
#define THINK(index, text) DELTA(index, "\"type\":\"thinking_delta\",\"thinking\":\"" text "\"")
#define INPUT(index, json)                                                                         \
    DELTA(index, "\"type\":\"input_json_delta\",\"partial_json\":\"" json "\"")
#define END(index)     "{\"type\":\"content_block_stop\",\"index\":" #index "}"
#define STOP(reason)   "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason "\"}}"
#define LAST           "{\"type\":\"message_stop\"}"
#define USE(id, input) "\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"f\",\"input\":" input

struct sample {
    const char *about;
    const char *events[10];
    const char *expected;
};

static const struct sample samples[] = {
    {"text in the start",
     {START(0, "\"type\":\"text\",\"text\":\"a\""), TEXT(0, "b"), LAST},
     "text=ab stop=end"},
    {"102: input in the start",
     {START(0, USE("x", "{\"a\":1}")), END(0), STOP("tool_use")},
     "f({\"a\":1}) stop=tool_use"},
    {"102: and no stop of the block",
     {START(0, USE("x", "{\"a\":1}")), STOP("tool_use")},
     "f({\"a\":1}) stop=tool_use"},
    {"103: deltas win",
     {START(0, USE("x", "{\"b\":2}")), INPUT(0, "{\\\"a\\\":1}"), END(0), LAST},
     "f({\"a\":1}) stop=tool_use"},
    {"103: an empty delta is none",
     {START(0, USE("x", "{\"b\":2}")), INPUT(0, ""), END(0), LAST},
     "f({\"b\":2}) stop=tool_use"},
    {"101: empty input",
     {START(0, USE("x", "{}")), INPUT(0, ""), END(0), LAST},
     "f() stop=tool_use"},
    {"input that is text already",
     {START(0, USE("x", "\"{\\\"a\\\":1}\"")), END(0), LAST},
     "f({\"a\":1}) stop=tool_use"},
    {"109: gaps, unknown events, no start",
     {"{\"type\":\"vllm_note\",\"message\":\"x\"}", TEXT(3, "a"),
      START(7, "\"type\":\"text\",\"text\":\"\""), TEXT(7, "b"), END(9), STOP("end_turn")},
     "text=ab stop=end"},
    {"109: an index again",
     {START(0, "\"type\":\"text\",\"text\":\"\""), TEXT(0, "a"), START(0, USE("x", "{}")),
      INPUT(0, "{}"), LAST},
     "text=a f({}) stop=tool_use"},
    {"109: no index",
     {"{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
      "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
      LAST},
     "text=a stop=end"},
    {"input for a block that never began", {INPUT(0, "{}"), TEXT(1, "a"), LAST}, "text=a stop=end"},
    {"interleaved blocks",
     {START(0, USE("x", "{}")), START(1, USE("y", "{}")), INPUT(0, "{\\\"a\\\""),
      INPUT(1, "{\\\"b\\\""), INPUT(0, ":1}"), INPUT(1, ":2}"), LAST},
     "f({\"a\":1}) f({\"b\":2}) stop=tool_use"},
    {"15: a pair over two deltas",
     {TEXT(0, "\\ud83d"), TEXT(0, "\\ude00"), LAST},
     "text=\xF0\x9F\x98\x80 stop=end"},
    {"15: halves in two blocks",
     {TEXT(0, "\\ud83d"), TEXT(1, "\\ude00"), LAST},
     "text=\xEF\xBF\xBD\xEF\xBF\xBD stop=end"},
    {"44: context as a stop reason",
     {TEXT(0, "a"), STOP("model_context_window_exceeded")},
     "text=a stop=length"},
    {"105: unknown reason", {TEXT(0, "a"), STOP("bored")}, "text=a stop=end"},
    {"105: a server's tool is not ours",
     {START(0, "\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\",\"input\":{}"),
      INPUT(0, "{}"), END(0), STOP("pause_turn")},
     "stop=pause"},
    {"106: refusal with a call", {START(0, USE("x", "{}")), STOP("refusal")}, "f() stop=refusal"},
    {"tool_use without a call", {TEXT(0, "a"), STOP("tool_use"), LAST}, "text=a stop=end"},
    {"34: error in the stream",
     {TEXT(0, "a"), "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}",
      TEXT(0, "b"), LAST},
     "text=a stop=error error=server"},
    {"error without a type", {TEXT(0, "a"), "{\"error\":\"m\"}"}, "text=a stop=error error=server"},
    {"73: no end",
     {START(0, USE("x", "{}")), INPUT(0, "{}"), END(0)},
     "f({}) stop=null error=stream_truncated"},
    {"12: nothing counts after the end", {TEXT(0, "a"), LAST, TEXT(0, "b")}, "text=a stop=end"},
    {"a foreign sentinel", {TEXT(0, "a"), "[DONE]"}, "text=a stop=end"},
    {"a message as an event",
     {"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":"
      "\"end_turn\"}"},
     "text=a stop=end"},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct answer answer;
        print_message("%s\n", samples[i].about);
        answer_read_events(&answer, &wire_anthropic, samples[i].events);
        answer_equals(&answer, samples[i].expected);
        answer_release(&answer);
    }
}

static void test_usage(void **state)
{
    (void)state;
    static const char *const events[] = {
        "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,"
        "\"output_tokens\":1,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":2}}}",
        "{\"type\":\"ping\"}",
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
        "\"usage\":{\"input_tokens\":0,\"output_tokens\":7}}", /* 108 */
        LAST, NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_anthropic, events);
    assert_int_equal(answer.collect.usage.input_tokens, 10);
    assert_int_equal(answer.collect.usage.output_tokens, 7);
    assert_int_equal(answer.collect.usage.cached_tokens, 4);
    assert_int_equal(answer.collect.usage.cache_write_tokens, 2);
    assert_int_equal(answer.pings, 1);
    answer_release(&answer);
}

/* 105, 106: what is odd is said. */
static void test_status(void **state)
{
    (void)state;
    static const char *const unknown[] = {TEXT(0, "a"), STOP("bored"), NULL};
    static const char *const refused[] = {
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\","
        "\"stop_details\":{\"category\":\"cyber\"}}}",
        NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_anthropic, unknown);
    assert_non_null(strstr(text_cstr(&answer.status), "'bored'"));
    answer_release(&answer);
    answer_read_events(&answer, &wire_anthropic, refused);
    assert_non_null(strstr(text_cstr(&answer.status), "'cyber'"));
    answer_release(&answer);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *expected;
    } cases[] = {
        {"{\"type\":\"message\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\"},"
         "{\"type\":\"text\",\"text\":\"a\"},{" USE("x",
                                                    "{\"a\":1}") "}],\"stop_reason\":\"end_turn\"}",
         "text=a reasoning=t f({\"a\":1}) stop=tool_use"},
        {"{\"content\":[]}", "stop=end"},
        {"{\"id\":\"x\"}", "stop=null error=server"}, /* 32 */
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}",
         "stop=null error=overloaded"},
        {"{\"content\":[", "stop=null error=stream_truncated"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_whole(&answer, &wire_anthropic, cases[i].body, strlen(cases[i].body));
        answer_equals(&answer, cases[i].expected);
        answer_release(&answer);
    }
}

/* ---- what goes back to the letter (D15) ---- */

static void test_verbatim_of_fixtures(void **state)
{
    (void)state;
    static const char *const names[] = {"68-anth-thinking-parallel",
                                        "72-anth-redacted-and-sig-only", "76-anth-pause-turn"};
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t length, meta_length;
        char *body = fixture_read(names[i], "response.sse", &length);
        char *text = fixture_read(names[i], "meta.json", &meta_length);
        json_t *meta = json_parse(text, meta_length, NULL, NULL);
        json_t *expected = json_object_get(
            json_object_get(json_object_get(meta, "expect"), "replay"), "assistant_content");
        struct answer answer;
        answer_read(&answer, &wire_anthropic, body, length, 1, true);
        json_t *verbatim =
            json_parse(answer.collect.verbatim.data, answer.collect.verbatim.length, NULL, NULL);
        assert_true(json_is_array(expected) && json_equal(verbatim, expected));
        json_decref(verbatim);
        json_decref(meta);
        answer_release(&answer);
        free(body);
        free(text);
    }
}

static void test_verbatim(void **state)
{
    (void)state;
    static const struct {
        const char *events[8];
        const char *expected;
    } cases[] = {
        /* an empty text is not kept; input that is no object becomes one; names are made valid */
        {{START(0, "\"type\":\"text\",\"text\":\"\""), TEXT(0, " \\n"), END(0),
          START(1, "\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"a.b\",\"input\":{}"),
          INPUT(1, "{\\\"a\\\": oops"), END(1), LAST},
         "[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"a_b_mT1oAGIN\",\"input\":{}}]"},
        /* numbers keep their digits; lone surrogates do not survive (15) */
        {{START(0, USE("x", "{}")), INPUT(0, "{\\\"n\\\": 2512292042121000001}"), END(0),
          START(1, USE("y", "{}")), INPUT(1, "{\\\"s\\\":\\\"\\\\ud83d\\\"}"), LAST},
         "[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"f\",\"input\":{\"n\": "
         "2512292042121000001}},"
         "{\"type\":\"tool_use\",\"id\":\"y\",\"name\":\"f\",\"input\":{\"s\":\"\xEF\xBF\xBD\"}}]"},
        /* what is not known comes back as it came, citations with their text */
        {{START(0, "\"type\":\"web_search_tool_result\",\"content\":[{\"encrypted\":\"e\"}]"),
          END(0), START(1, "\"citations\":null,\"type\":\"text\",\"text\":\"\""), TEXT(1, "a"),
          DELTA(1, "\"type\":\"citations_delta\",\"citation\":{\"url\":\"u\"}"), LAST},
         "[{\"type\":\"web_search_tool_result\",\"content\":[{\"encrypted\":\"e\"}]},"
         "{\"citations\":[{\"url\":\"u\"}],\"type\":\"text\",\"text\":\"a\"}]"},
        /* a delta that is not known: not to the letter any more, so not at all */
        {{START(0, "\"type\":\"new\""), DELTA(0, "\"type\":\"new_delta\",\"new\":1"), TEXT(1, "a"),
          LAST},
         ""},
        /* nothing of a failed response */
        {{TEXT(0, "a"), END(0)}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_events(&answer, &wire_anthropic, cases[i].events);
        assert_string_equal(text_cstr(&answer.collect.verbatim), cases[i].expected);
        answer_release(&answer);
    }
}

/* D14: the verbatim form has the id that the session uses. */
static void test_verbatim_has_the_sessions_id(void **state)
{
    (void)state;
    static const char *const events[] = {
        START(0, "\"type\":\"tool_use\",\"id\":7,\"name\":\"f\",\"input\":{}"),
        START(1, "\"type\":\"tool_use\",\"id\":\"7\",\"name\":\"f\",\"input\":{}"),
        START(2, "\"type\":\"tool_use\",\"name\":\"f\",\"input\":{}"), LAST, NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_anthropic, events);
    json_t *verbatim =
        json_parse(answer.collect.verbatim.data, answer.collect.verbatim.length, NULL, NULL);
    assert_int_equal(json_array_size(verbatim), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(json_member_string(json_array_get(verbatim, i), "id"),
                            answer.collect.items[i].id);
    assert_string_equal(answer.collect.items[0].id, "7");
    assert_string_not_equal(answer.collect.items[1].id, "7");
    json_decref(verbatim);
    answer_release(&answer);
}

static void try_to_read(const char *const *events, size_t count)
{
    struct timeline timeline;
    struct stream stream;
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    struct wire_decoder *decoder = wire_anthropic.decoder_new(&stream);
    for (size_t i = 0; decoder && i < count && events[i]; i++)
        wire_anthropic.decoder_event(decoder, events[i], strlen(events[i]));
    if (decoder)
        wire_anthropic.decoder_end(decoder);
    stream_finish(&stream);
    wire_anthropic.decoder_free(decoder);
    stream_release(&stream);
    timeline_release(&timeline);
}

static void test_reading_without_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        bool failed = true;
        for (int allowed = 0; failed; allowed++) {
            fail_after(allowed);
            try_to_read(samples[i].events, COUNT(samples[i].events));
            failed = fail_never();
        }
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_verbatim_of_fixtures),
        cmocka_unit_test(test_verbatim),
        cmocka_unit_test(test_verbatim_has_the_sessions_id),
        cmocka_unit_test(test_reading_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

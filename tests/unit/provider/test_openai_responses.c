/* What responses of OpenAI Responses mean: FAULTS 12, 15, 16, 24, 71, 73, 81, 89-91, 93-97, 146; D3,
 * D14, D15. */
#include "wire_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_fixtures(void **state)
{
    (void)state;
    assert_int_equal(fixtures_check("openai-responses", &wire_openai_responses), 7);
}

#define EVENT(type, more) "{\"type\":\"response." type "\"," more "}"
#define AT(index, id)     "\"output_index\":" #index ",\"item_id\":\"" id "\""
#define TEXT(index, text)                                                                          \
    EVENT("output_text.delta", AT(index, "m" #index) ",\"delta\":\"" text "\"")
#define TEXT_DONE(index, text)                                                                     \
    EVENT("output_text.done", AT(index, "m" #index) ",\"text\":\"" text "\"")
#define ADDED(index, item)                                                                         \
    EVENT("output_item.added", "\"output_index\":" #index ",\"item\":{" item "}")
#define DONE(index, item)                                                                          \
    EVENT("output_item.done", "\"output_index\":" #index ",\"item\":{" item "}")
#define ARGS(index, id, text)                                                                      \
    EVENT("function_call_arguments.delta", AT(index, id) ",\"delta\":\"" text "\"")
#define ARGS_DONE(index, id, value)                                                                \
    EVENT("function_call_arguments.done", AT(index, id) ",\"arguments\":" value)
#define CALL(id, call_id, arguments)                                                               \
    "\"type\":\"function_call\",\"id\":\"" id "\",\"call_id\":\"" call_id                          \
    "\",\"name\":\"f\",\"arguments\":" arguments
#define MESSAGE(id, text)                                                                          \
    "\"type\":\"message\",\"id\":\"" id "\",\"role\":\"assistant\",\"content\":[{\"type\":"        \
    "\"output_text\",\"text\":\"" text "\"}]"
#define THOUGHT(id, more) "\"type\":\"reasoning\",\"id\":\"" id "\"" more
#define END(kind, output) EVENT(kind, "\"response\":{\"output\":[" output "]}")
#define COMPLETED         END("completed", "")
#define INCOMPLETE(reason)                                                                         \
    EVENT("incomplete", "\"response\":{\"incomplete_details\":{\"reason\":\"" reason "\"}}")
#define A        "{\\\"a\\\":1}"
#define B        "{\\\"b\\\":2}"
#define SENTINEL "[DONE]"

struct sample {
    const char *about;
    const char *events[10];
    const char *expected;
};

static const struct sample samples[] = {
    /* text */
    {"deltas alone", {TEXT(0, "a"), TEXT(0, "b"), COMPLETED}, "text=ab stop=end"},
    {"done alone", {TEXT_DONE(0, "ab"), COMPLETED}, "text=ab stop=end"},
    {"done adds what is missing",
     {TEXT(0, "a"), TEXT_DONE(0, "ab"), DONE(0, MESSAGE("m0", "abc")),
      END("completed", "{" MESSAGE("m0", "abcd") "}")},
     "text=abcd stop=end"},
    {"what was shown stays",
     {TEXT(0, "a"), TEXT_DONE(0, "b"), DONE(0, MESSAGE("m0", "b")), COMPLETED},
     "text=a stop=end"},
    {"the item alone", {DONE(0, MESSAGE("m0", "a")), COMPLETED}, "text=a stop=end"},
    {"the response alone",
     {END("completed", "{" MESSAGE("m0", "a") "},{" CALL("i", "x", "\"" A "\"") "}")},
     "text=a f({\"a\":1}) stop=tool_use"},
    {"two messages",
     {TEXT(0, "a"), DONE(0, MESSAGE("m0", "a")), TEXT(1, "b"), DONE(1, MESSAGE("m1", "b")),
      END("completed", "{" MESSAGE("m0", "a") "},{" MESSAGE("m1", "b") "}")},
     "text=ab stop=end"},
    {"two messages under one index",
     {TEXT(0, "a"), DONE(0, MESSAGE("m0", "a")), DONE(0, MESSAGE("m1", "b")), COMPLETED},
     "text=ab stop=end"},
    {"ids that change",
     {ADDED(0, MESSAGE("p", "")), TEXT(0, "a"), TEXT(0, "b"), DONE(0, MESSAGE("q", "ab")),
      END("completed", "{" MESSAGE("r", "ab") "}")},
     "text=ab stop=end"},
    {"two parts of a message",
     {TEXT(0, "a"), EVENT("output_text.delta", AT(0, "m0") ",\"content_index\":1,\"delta\":\"b\""),
      DONE(0, MESSAGE("m0", "ab")), COMPLETED},
     "text=ab stop=end"},
    {"15: a pair over two deltas",
     {TEXT(0, "\\ud83d"), TEXT(0, "\\ude00"), TEXT_DONE(0, "\\ud83d\\ude00"), COMPLETED},
     "text=\xF0\x9F\x98\x80 stop=end"},
    {"15: a half alone",
     {TEXT(0, "\\ud83d"), TEXT(0, "b"),
      TEXT_DONE(0, "\\ud83d"
                   "b"),
      COMPLETED},
     "text=\xEF\xBF\xBD"
     "b stop=end"},
    {"unknown events",
     {EVENT("new.delta", "\"delta\":7"), TEXT(0, "a"), COMPLETED},
     "text=a stop=end"},

    /* refusal, reasoning */
    {"refusal",
     {EVENT("refusal.delta", AT(0, "m0") ",\"delta\":\"no\""),
      EVENT("refusal.done", AT(0, "m0") ",\"refusal\":\"no!\""), COMPLETED},
     "refusal=no! stop=refusal"},
    {"refusal in the item",
     {DONE(0, "\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"no\"}]"),
      COMPLETED},
     "refusal=no stop=refusal"},
    {"parts of a summary",
     {EVENT("reasoning_summary_text.delta", AT(0, "r") ",\"summary_index\":0,\"delta\":\"a\""),
      EVENT("reasoning_summary_text.done", AT(0, "r") ",\"summary_index\":0,\"text\":\"a\""),
      EVENT("reasoning_summary_text.delta", AT(0, "r") ",\"summary_index\":1,\"delta\":\"b\""),
      DONE(0, THOUGHT("r", ",\"summary\":[{\"text\":\"a\"},{\"text\":\"b\"}]")), COMPLETED},
     "reasoning=ab stop=end"},
    {"81: one of two lists",
     {EVENT("reasoning_text.delta", AT(0, "r") ",\"delta\":\"long\""),
      EVENT("reasoning_summary_text.delta", AT(0, "r") ",\"delta\":\"short\""),
      DONE(0,
           THOUGHT("r", ",\"summary\":[{\"text\":\"short\"}],\"content\":[{\"text\":\"long\"}]")),
      COMPLETED},
     "reasoning=long stop=end"},

    /* calls */
    {"90: done replaces the buffer",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS_DONE(0, "i", "\"" A "\""), COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"90: an empty done replaces nothing",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A), ARGS_DONE(0, "i", "\"\""),
      DONE(0, CALL("i", "x", "\"\"")), COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"91: no done at all, the response knows",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", "{\\\"a\\\""),
      END("completed", "{\"type\":\"function_call\",\"call_id\":\"x\",\"name\":\"f\",\"arguments\":"
                       "\"" A "\"}")},
     "f({\"a\":1}) stop=tool_use"},
    {"91: other arguments than were streamed are not guessed",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A), DONE(0, CALL("i", "x", "\"" B "\"")),
      COMPLETED},
     "f({\"a\":1}{\"b\":2}) stop=tool_use"},
    {"the same in other words is the same",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A),
      DONE(0, CALL("i", "x", "\"{ \\\"a\\\" : 1 }\"")), COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"89: interleaved, by index alone",
     {ADDED(0, CALL("", "x", "\"\"")), ADDED(1, CALL("", "y", "\"\"")), ARGS(0, "", "{\\\"a\\\""),
      ARGS(1, "", "{\\\"b\\\""), ARGS(0, "", ":1}"), ARGS(1, "", ":2}"), COMPLETED},
     "f({\"a\":1}) f({\"b\":2}) stop=tool_use"},
    {"89: by id, all under one index",
     {ADDED(0, CALL("i", "x", "\"\"")), ADDED(0, CALL("j", "y", "\"\"")), ARGS(0, "i", A),
      ARGS(0, "j", B), DONE(0, CALL("j", "y", "\"" B "\"")), DONE(0, CALL("i", "x", "\"" A "\"")),
      COMPLETED},
     "f({\"a\":1}) f({\"b\":2}) stop=tool_use"},
    {"arguments before the item",
     {ARGS(0, "i", "{\\\"a\\\""), ARGS(0, "i", ":1}"), DONE(0, CALL("i", "x", "\"" A "\"")),
      COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"93: any value",
     {ADDED(0, CALL("i", "x", "{}")), ARGS_DONE(0, "i", "{\"a\":1}"),
      DONE(0, CALL("i", "x", "{\"a\":1}")), COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"93: a placeholder replaces nothing",
     {ADDED(0, CALL("i", "x", "{}")), ARGS(0, "i", A), DONE(0, CALL("i", "x", "{}")), COMPLETED},
     "f({\"a\":1}) stop=tool_use"},
    {"no arguments", {DONE(0, CALL("i", "x", "\"\"")), COMPLETED}, "f() stop=tool_use"},
    {"no name at all", {ARGS(0, "i", A), COMPLETED}, "({\"a\":1}) stop=tool_use"},
    {"a server's tool is not ours",
     {DONE(0, "\"type\":\"web_search_call\",\"id\":\"w\",\"name\":\"f\",\"arguments\":\"{}\""),
      TEXT(1, "a"), COMPLETED},
     "text=a stop=end"},

    /* the end */
    {"73: a call without an end",
     {DONE(0, CALL("i", "x", "\"" A "\""))},
     "f({\"a\":1}) stop=null error=stream_truncated"},
    {"the sentinel alone, all is there",
     {TEXT_DONE(0, "a"), DONE(1, CALL("i", "x", "\"" A "\"")), SENTINEL},
     "text=a f({\"a\":1}) stop=tool_use"},
    {"the sentinel alone, a call is open",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A), SENTINEL},
     "f({\"a\":1}) stop=null error=stream_truncated"},
    {"the sentinel alone, a text is open",
     {TEXT(0, "a"), SENTINEL},
     "text=a stop=null error=stream_truncated"},
    {"24: a sentinel and nothing else", {SENTINEL}, "stop=null error=stream_truncated"},
    {"a sentinel behind the end", {TEXT(0, "a"), COMPLETED, SENTINEL}, "text=a stop=end"},
    {"12: nothing counts after the end",
     {TEXT(0, "a"), COMPLETED, TEXT(0, "b")},
     "text=a stop=end"},
    {"71: no call of a cut response runs",
     {DONE(0, CALL("i", "x", "\"" A "\"")), INCOMPLETE("max_output_tokens")},
     "f({\"a\":1}) stop=length"},
    {"95: filtered", {TEXT(0, "a"), INCOMPLETE("content_filter")}, "text=a stop=content_filter"},
    {"95: unknown reason", {TEXT(0, "a"), INCOMPLETE("bored")}, "text=a stop=length"},
    {"95: said by the status alone",
     {TEXT(0, "a"), EVENT("completed", "\"response\":{\"status\":\"incomplete\"}")},
     "text=a stop=length"},
    {"94: failed without a reason",
     {TEXT(0, "a"), EVENT("failed", "\"response\":{\"error\":null}")},
     "text=a stop=error error=server"},
    {"94: completed with an error",
     {EVENT("completed", "\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"m\"}}")},
     "stop=error error=server"},
    {"94: refused for its prompt",
     {EVENT("failed", "\"response\":{\"error\":{\"code\":\"invalid_prompt\",\"message\":\"m\"}}")},
     "stop=error error=bad_request"},
    {"cancelled", {EVENT("cancelled", "\"response\":{}")}, "stop=error error=server"},
    {"96: an error without details", {"{\"type\":\"error\"}"}, "stop=error error=server"},
    {"96: an error as an object",
     {TEXT(0, "a"),
      "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":"
      "\"context_length_exceeded\",\"message\":\"m\"}}",
      TEXT(0, "b"), COMPLETED},
     "text=a stop=error error=context_overflow"},
    {"16: an error without a type", {"{\"error\":\"m\"}"}, "stop=error error=server"},
    {"items that are none",
     {EVENT("output_item.added", "\"item\":7"), EVENT("output_item.done", "\"output_index\":0"),
      EVENT("completed", "\"response\":{\"output\":[null,7,{}]}")},
     "stop=end"},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct answer answer;
        print_message("%s\n", samples[i].about);
        answer_read_events(&answer, &wire_openai_responses, samples[i].events);
        answer_equals(&answer, samples[i].expected);
        answer_release(&answer);
    }
}

static void test_usage(void **state)
{
    (void)state;
    static const char *const events[] = {
        EVENT("created", "\"response\":{\"usage\":null}"), "{\"type\":\"keepalive\"}",
        EVENT("completed", "\"response\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":5,"
                           "\"input_tokens_details\":{\"cached_tokens\":4},"
                           "\"output_tokens_details\":{\"reasoning_tokens\":3}}}"),
        NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_responses, events);
    assert_int_equal(answer.collect.usage.input_tokens, 10);
    assert_int_equal(answer.collect.usage.output_tokens, 5);
    assert_int_equal(answer.collect.usage.cached_tokens, 4);
    assert_int_equal(answer.collect.usage.reasoning_tokens, 3);
    assert_int_equal(answer.pings, 1);
    answer_release(&answer);
}

static void test_unknown_reason_is_visible(void **state)
{
    (void)state;
    static const char *const events[] = {TEXT(0, "a"), INCOMPLETE("bored"), NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_responses, events);
    assert_non_null(strstr(text_cstr(&answer.status), "'bored'"));
    answer_release(&answer);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *expected;
    } cases[] = {
        {"{\"object\":\"response\",\"status\":\"completed\",\"error\":null,\"output\":[{" THOUGHT(
             "r", ",\"summary\":[{\"text\":\"t\"}]") "},{" MESSAGE("m", "a") "},{" CALL("i", "x",
                                                                                        "\"" A
                                                                                        "\"") "}]}",
         "text=a reasoning=t f({\"a\":1}) stop=tool_use"},
        {"{\"status\":\"incomplete\",\"output\":[{" MESSAGE("m", "a") "}]}", "text=a stop=length"},
        {"{\"status\":\"failed\",\"output\":[]}", "stop=error error=server"},
        {"{\"output\":[]}", "stop=end"},
        {"{\"id\":\"x\"}", "stop=null error=server"}, /* 32 */
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}}",
         "stop=null error=rate_limit"},
        {"{\"output\":[", "stop=null error=stream_truncated"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_whole(&answer, &wire_openai_responses, cases[i].body, strlen(cases[i].body));
        answer_equals(&answer, cases[i].expected);
        assert_true(answer.stream.ended);
        answer_release(&answer);
    }
}

/* Deltas are shown at once, and the connection is not waited on after the end (10). */
static void test_at_once(void **state)
{
    (void)state;
    static const char *const events[] = {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", "{"),
                                         COMPLETED};
    struct timeline timeline;
    struct stream stream;
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    struct wire_decoder *decoder = wire_openai_responses.decoder_new(&stream);
    for (size_t i = 0; i < COUNT(events); i++) {
        assert_false(stream.ended);
        wire_openai_responses.decoder_event(decoder, events[i], strlen(events[i]));
        assert_int_equal(stream.blocks.count, 1);
        assert_string_equal(text_cstr(&stream.blocks.items[0]->text), i ? "{" : "");
    }
    assert_true(stream.ended);
    assert_int_equal(stream.stop, STOP_TOOL_USE);
    wire_openai_responses.decoder_free(decoder);
    stream_release(&stream);
    timeline_release(&timeline);
}

static void test_many_deltas(void **state)
{
    (void)state;
    struct text body = TEXT_INIT;
    struct answer answer;
    for (int i = 0; i < 20000; i++)
        text_puts(&body, "data: " TEXT(0, "word ") "\n\n");
    text_puts(&body, "data: " COMPLETED "\n\n");
    answer_read(&answer, &wire_openai_responses, body.data, body.length, 0, true);
    assert_true(answer.succeeded);
    assert_int_equal(answer.deltas, 20000);
    assert_int_equal(answer.stream.blocks.items[0]->text.length, 100000);
    answer_release(&answer);
    text_release(&body);
}

/* 146: neither many items nor many parts, nor odd indices, take more than their share. */
static void test_too_many(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"type\":\"response.output_item.done\",\"output_index\":%d,\"item\":{\"type\":\"new\"}}",
        "{\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":%d,"
        "\"delta\":\"a\"}",
        "{\"type\":\"response.output_item.added\",\"output_index\":-1,\"item\":{\"type\":"
        "\"function_call\",\"call_id\":\"c%d\",\"name\":\"f\"}}",
    };
    for (size_t line = 0; line < COUNT(lines); line++) {
        struct text body = TEXT_INIT;
        struct answer answer;
        for (int i = 0; i < 3000; i++) {
            const char *number = strstr(lines[line], "%d");
            text_puts(&body, "data: ");
            text_append(&body, lines[line], (size_t)(number - lines[line]));
            text_printf(&body, "%d%s\n\n", i, number + 2);
        }
        answer_read(&answer, &wire_openai_responses, body.data, body.length, 0, true);
        assert_false(answer.succeeded);
        assert_int_equal(answer.stream.error.kind, ERROR_SERVER);
        assert_non_null(strstr(answer.stream.error.message, "too many parts"));
        answer_release(&answer);
        text_release(&body);
    }
}

/* ---- what goes back to the letter (D15) ---- */

#define OPAQUE ",\"summary\":[],\"encrypted_content\":\"e\""

static void test_verbatim(void **state)
{
    (void)state;
    static const struct {
        const char *events[8];
        const char *expected;
    } cases[] = {
        /* ids, phases and what is not known stay as they are */
        {{DONE(0, THOUGHT("r", OPAQUE)), DONE(1, MESSAGE("m", "a") ",\"phase\":\"final_answer\""),
          DONE(2, "\"type\":\"new\",\"n\":[1.5]"), COMPLETED},
         "[{" THOUGHT("r", OPAQUE) "},{" MESSAGE("m", "a") ",\"phase\":\"final_answer\"},"
                                                           "{\"type\":\"new\",\"n\":[1.5]}]"},
        {{DONE(0, CALL("i", "x", "{\"a\":1}")), COMPLETED},
         "[{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"x\",\"name\":\"f\","
         "\"arguments\":\"" A "\"}]"},
        /* what cannot be read is not sent */
        {{DONE(0, CALL("i", "x", "\"{oops\"")), COMPLETED},
         "[{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"x\",\"name\":\"f\","
         "\"arguments\":\"{}\"}]"},
        /* of items that were not done, the response has the form */
        {{TEXT(0, "a"), END("completed", "{" MESSAGE("m0", "a") "}")},
         "[{" MESSAGE("m0", "a") "}]"},
        /* 97: the summary is wanted */
        {{DONE(0, THOUGHT("r", ",\"encrypted_content\":\"e\"")), DONE(1, MESSAGE("m", "a")),
          COMPLETED},
         "[{" THOUGHT("r", ",\"encrypted_content\":\"e\",\"summary\":[]") "},{" MESSAGE("m",
                                                                                        "a") "}]"},
        /* 97: reasoning alone is refused; so is an empty text */
        {{DONE(0, MESSAGE("m", "a")), DONE(1, THOUGHT("r", OPAQUE)), DONE(2, MESSAGE("n", " ")),
          COMPLETED},
         "[{" MESSAGE("m", "a") "}]"},
        {{DONE(0, THOUGHT("r", OPAQUE)), INCOMPLETE("max_output_tokens")}, ""},
        /* reasoning that the server would have to look up */
        {{DONE(0, THOUGHT("r", ",\"summary\":[],\"encrypted_content\":null")),
          DONE(1, MESSAGE("m", "a")), COMPLETED},
         ""},
        /* not whole */
        {{DONE(0, MESSAGE("m", "a")), TEXT(1, "b"), COMPLETED}, ""},
        {{ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A), DONE(0, CALL("i", "x", "\"" B "\"")),
          COMPLETED},
         ""},
        /* nothing of a failed response */
        {{DONE(0, MESSAGE("m", "a"))}, ""},
        {{DONE(0, MESSAGE("m", "a")), "{\"type\":\"error\"}"}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_events(&answer, &wire_openai_responses, cases[i].events);
        assert_string_equal(text_cstr(&answer.collect.verbatim), cases[i].expected);
        answer_release(&answer);
    }
}

static void test_verbatim_of_a_fixture(void **state)
{
    (void)state;
    size_t length, meta_length;
    char *body = fixture_read("60-resp-parallel-reasoning", "response.sse", &length);
    char *text = fixture_read("60-resp-parallel-reasoning", "meta.json", &meta_length);
    json_t *meta = json_parse(text, meta_length, NULL, NULL);
    json_t *replay = json_object_get(json_object_get(meta, "expect"), "replay");
    struct answer answer;
    answer_read(&answer, &wire_openai_responses, body, length, 1, true);
    json_t *verbatim =
        json_parse(answer.collect.verbatim.data, answer.collect.verbatim.length, NULL, NULL);
    assert_true(json_equal(verbatim, json_object_get(replay, "input_items_in_order")));
    json_decref(verbatim);
    answer_release(&answer);
    json_decref(meta);
    free(text);
    free(body);
}

/* D14: the verbatim form has the id that the session uses. */
static void test_verbatim_has_the_sessions_id(void **state)
{
    (void)state;
    static const char *const events[] = {
        DONE(0, "\"type\":\"function_call\",\"call_id\":7,\"name\":\"f\",\"arguments\":\"{}\""),
        DONE(1, "\"type\":\"function_call\",\"id\":\"i\",\"name\":\"f\",\"arguments\":\"{}\""),
        COMPLETED, NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_responses, events);
    json_t *verbatim =
        json_parse(answer.collect.verbatim.data, answer.collect.verbatim.length, NULL, NULL);
    assert_int_equal(json_array_size(verbatim), 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(json_member_string(json_array_get(verbatim, i), "call_id"),
                            answer.collect.items[i].id);
    assert_string_equal(answer.collect.items[0].id, "7");
    assert_string_not_equal(answer.collect.items[1].id, "i");
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
    struct wire_decoder *decoder = wire_openai_responses.decoder_new(&stream);
    for (size_t i = 0; decoder && i < count && events[i]; i++)
        wire_openai_responses.decoder_event(decoder, events[i], strlen(events[i]));
    if (decoder)
        wire_openai_responses.decoder_end(decoder);
    stream_finish(&stream);
    wire_openai_responses.decoder_free(decoder);
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
        cmocka_unit_test(test_unknown_reason_is_visible),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_many_deltas),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_verbatim),
        cmocka_unit_test(test_verbatim_of_a_fixture),
        cmocka_unit_test(test_verbatim_has_the_sessions_id),
        cmocka_unit_test(test_reading_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

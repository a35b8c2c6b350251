/* What responses of OpenAI Responses mean: FAULTS 12, 15, 16, 24, 71, 73, 81, 89-91, 93-97, 146;
 * D3, D14, D15. */
#include "reader_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

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

static const struct document documents[] = {
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

static const struct sample notes[] = {
    {"an unknown reason", {TEXT(0, "a"), INCOMPLETE("bored")}, "'bored'"},
};

static const struct sample failures[] = {
    {"what the server says", {"{\"type\":\"error\",\"message\":\"it broke\"}"}, "it broke"},
};

/* Deltas are shown at once, and the connection is not waited on after the end (10). */
static void test_at_once(void **state)
{
    (void)state;
    static const char *const events[] = {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", "{"),
                                         COMPLETED};
    struct reading reading;
    const struct stream *stream = &reading.stream;
    reading_begin(&reading, &wire_openai_responses);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        assert_false(stream->ended);
        reading_take(&reading, events[i]);
        assert_int_equal(stream->blocks.count, 1);
        assert_string_equal(text_cstr(&stream->blocks.items[0]->text), i ? "{" : "");
    }
    assert_true(stream->ended);
    assert_int_equal(stream->stop, STOP_TOOL_USE);
    reading_release(&reading);
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
    for (size_t line = 0; line < sizeof(lines) / sizeof(lines[0]); line++) {
        struct text body = TEXT_INIT;
        for (int i = 0; i < 3000; i++) {
            const char *number = strstr(lines[line], "%d");
            text_puts(&body, "data: ");
            text_append(&body, lines[line], (size_t)(number - lines[line]));
            text_printf(&body, "%d%s\n\n", i, number + 2);
        }
        reader_refuses(&wire_openai_responses, &body, "too many parts");
        text_release(&body);
    }
}

/* ---- what goes back to the letter (D15) ---- */

#define OPAQUE ",\"summary\":[],\"encrypted_content\":\"e\""

static const struct sample verbatims[] = {
    {"ids, phases and what is not known stay as they are",
     {DONE(0, THOUGHT("r", OPAQUE)), DONE(1, MESSAGE("m", "a") ",\"phase\":\"final_answer\""),
      DONE(2, "\"type\":\"new\",\"n\":[1.5]"), COMPLETED},
     "[{" THOUGHT("r", OPAQUE) "},{" MESSAGE("m", "a") ",\"phase\":\"final_answer\"},"
                                                       "{\"type\":\"new\",\"n\":[1.5]}]"},
    {"ids, phases and what is not known stay as they are",
     {DONE(0, CALL("i", "x", "{\"a\":1}")), COMPLETED},
     "[{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"x\",\"name\":\"f\","
     "\"arguments\":\"" A "\"}]"},
    {"what cannot be read is not sent",
     {DONE(0, CALL("i", "x", "\"{oops\"")), COMPLETED},
     "[{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"x\",\"name\":\"f\","
     "\"arguments\":\"{}\"}]"},
    {"of items that were not done, the response has the form",
     {TEXT(0, "a"), END("completed", "{" MESSAGE("m0", "a") "}")},
     "[{" MESSAGE("m0", "a") "}]"},
    {"97: the summary is wanted",
     {DONE(0, THOUGHT("r", ",\"encrypted_content\":\"e\"")), DONE(1, MESSAGE("m", "a")), COMPLETED},
     "[{" THOUGHT("r", ",\"encrypted_content\":\"e\",\"summary\":[]") "},{" MESSAGE("m", "a") "}]"},
    {"97: reasoning alone is refused; so is an empty text",
     {DONE(0, MESSAGE("m", "a")), DONE(1, THOUGHT("r", OPAQUE)), DONE(2, MESSAGE("n", " ")),
      COMPLETED},
     "[{" MESSAGE("m", "a") "}]"},
    {"97: reasoning alone is refused; so is an empty text",
     {DONE(0, THOUGHT("r", OPAQUE)), INCOMPLETE("max_output_tokens")},
     ""},
    {"reasoning that the server would have to look up",
     {DONE(0, THOUGHT("r", ",\"summary\":[],\"encrypted_content\":null")),
      DONE(1, MESSAGE("m", "a")), COMPLETED},
     ""},
    {"not whole", {DONE(0, MESSAGE("m", "a")), TEXT(1, "b"), COMPLETED}, ""},
    {"not whole",
     {ADDED(0, CALL("i", "x", "\"\"")), ARGS(0, "i", A), DONE(0, CALL("i", "x", "\"" B "\"")),
      COMPLETED},
     ""},
    {"nothing of a failed response", {DONE(0, MESSAGE("m", "a"))}, ""},
    {"nothing of a failed response", {DONE(0, MESSAGE("m", "a")), "{\"type\":\"error\"}"}, ""},
};

static const struct replay replays[] = {
    {"60-resp-parallel-reasoning", "input_items_in_order"},
};

static const char *id_of(const json_t *item)
{
    return json_member_string(item, "call_id");
}

static struct reader reader = {
    .wire = &wire_openai_responses,
    .provider = "openai-responses",
    .fixture_count = 7,
    .samples = TABLE(samples),
    .documents = TABLE(documents),
    .notes = TABLE(notes),
    .failures = TABLE(failures),
    .usage = {{EVENT("created", "\"response\":{\"usage\":null}"), "{\"type\":\"keepalive\"}",
               EVENT("completed",
                     "\"response\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":5,"
                     "\"input_tokens_details\":{\"cached_tokens\":4},"
                     "\"output_tokens_details\":{\"reasoning_tokens\":3}}}")},
              {.input_tokens = 10,
               .output_tokens = 5,
               .cached_tokens = 4,
               .cache_write_tokens = -1,
               .reasoning_tokens = 3},
              1},
    .delta = TEXT(0, "word "),
    .last = COMPLETED,
    .verbatims = TABLE(verbatims),
    .replays = TABLE(replays),
    .odd_ids =
        {DONE(0, "\"type\":\"function_call\",\"call_id\":7,\"name\":\"f\",\"arguments\":\"{}\""),
         DONE(1, "\"type\":\"function_call\",\"id\":\"i\",\"name\":\"f\",\"arguments\":\"{}\""),
         COMPLETED},
    .id_of = id_of,
    .no_id = "i",
    .ids_asked = 2,
    .ids_given = 2,
};

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        READER_TESTS(&reader),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_too_many),
        READER_TEST(reader_keeps_verbatim, &reader),
        READER_TEST(reader_keeps_fixtures, &reader),
        READER_TEST(reader_keeps_the_sessions_ids, &reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

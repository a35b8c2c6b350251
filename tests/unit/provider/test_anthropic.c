/* What responses of Anthropic Messages mean: FAULTS 12, 15, 34, 44, 73, 101-103, 105, 106, 108;
 * FAULTS 109; D14, D15. */
#include "reader_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

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

static const struct document documents[] = {
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

/* 105, 106 */
static const struct sample notes[] = {
    {"an unknown reason", {TEXT(0, "a"), STOP("bored")}, "'bored'"},
    {"why it refused",
     {"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\","
      "\"stop_details\":{\"category\":\"cyber\"}}}"},
     "'cyber'"},
};

static const struct sample failures[] = {
    {"what the server says",
     {"{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"it broke\"}}"},
     "it broke"},
};

/* ---- what goes back to the letter (D15) ---- */

static const struct sample verbatims[] = {
    {"an empty text is not kept; input that is no object becomes one; names are made valid",
     {START(0, "\"type\":\"text\",\"text\":\"\""), TEXT(0, " \\n"), END(0),
      START(1, "\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"a.b\",\"input\":{}"),
      INPUT(1, "{\\\"a\\\": oops"), END(1), LAST},
     "[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"a_b_mT1oAGIN\",\"input\":{}}]"},
    {"numbers keep their digits; lone surrogates do not survive (15)",
     {START(0, USE("x", "{}")), INPUT(0, "{\\\"n\\\": 2512292042121000001}"), END(0),
      START(1, USE("y", "{}")), INPUT(1, "{\\\"s\\\":\\\"\\\\ud83d\\\"}"), LAST},
     "[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"f\",\"input\":{\"n\": "
     "2512292042121000001}},"
     "{\"type\":\"tool_use\",\"id\":\"y\",\"name\":\"f\",\"input\":{\"s\":\"\xEF\xBF\xBD\"}}]"},
    {"what is not known comes back as it came, citations with their text",
     {START(0, "\"type\":\"web_search_tool_result\",\"content\":[{\"encrypted\":\"e\"}]"), END(0),
      START(1, "\"citations\":null,\"type\":\"text\",\"text\":\"\""), TEXT(1, "a"),
      DELTA(1, "\"type\":\"citations_delta\",\"citation\":{\"url\":\"u\"}"), LAST},
     "[{\"type\":\"web_search_tool_result\",\"content\":[{\"encrypted\":\"e\"}]},"
     "{\"citations\":[{\"url\":\"u\"}],\"type\":\"text\",\"text\":\"a\"}]"},
    {"a delta that is not known: not to the letter any more, so not at all",
     {START(0, "\"type\":\"new\""), DELTA(0, "\"type\":\"new_delta\",\"new\":1"), TEXT(1, "a"),
      LAST},
     ""},
    {"nothing of a failed response", {TEXT(0, "a"), END(0)}, ""},
};

static const struct replay replays[] = {
    {"68-anth-thinking-parallel", "assistant_content"},
    {"72-anth-redacted-and-sig-only", "assistant_content"},
    {"76-anth-pause-turn", "assistant_content"},
};

static const char *id_of(const json_t *item)
{
    return json_member_string(item, "id");
}

static struct reader reader = {
    .wire = &wire_anthropic,
    .provider = "anthropic",
    .fixture_count = 12,
    .samples = TABLE(samples),
    .documents = TABLE(documents),
    .notes = TABLE(notes),
    .failures = TABLE(failures),
    .usage = {{"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,"
               "\"output_tokens\":1,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":"
               "2}}}",
               "{\"type\":\"ping\"}",
               "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
               "\"usage\":{\"input_tokens\":0,\"output_tokens\":7}}", /* 108 */
               LAST},
              {.input_tokens = 10,
               .output_tokens = 7,
               .cached_tokens = 4,
               .cache_write_tokens = 2,
               .reasoning_tokens = -1},
              1},
    .delta = TEXT(0, "word "),
    .last = LAST,
    .verbatims = TABLE(verbatims),
    .replays = TABLE(replays),
    .odd_ids = {START(0, "\"type\":\"tool_use\",\"id\":7,\"name\":\"f\",\"input\":{}"),
                START(1, USE("7", "{}")),
                START(2, "\"type\":\"tool_use\",\"name\":\"f\",\"input\":{}"), LAST},
    .id_of = id_of,
    .ids_asked = 3,
    .ids_given = 3,
};

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        READER_TESTS(&reader),
        READER_TEST(reader_keeps_verbatim, &reader),
        READER_TEST(reader_keeps_fixtures, &reader),
        READER_TEST(reader_keeps_the_sessions_ids, &reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What responses of Gemini mean: FAULTS 15, 28, 31, 62, 70, 73, 84, 110, 112-114, 117, 118; D3,
 * D14, D15, D22. */
#include "reader_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define PARTS(parts) "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}"
#define LAST(parts, word)                                                                          \
    "{\"candidates\":[{\"content\":{\"parts\":[" parts "]},\"finishReason\":\"" word "\"}]}"
#define END(word)          "{\"candidates\":[{\"finishReason\":\"" word "\"}]}"
#define TEXT(text)         "{\"text\":\"" text "\"}"
#define THOUGHT(text)      "{\"text\":\"" text "\",\"thought\":true}"
#define SIGNED(text, sign) "{\"text\":\"" text "\",\"thoughtSignature\":\"" sign "\"}"
#define CALL(members)      "{\"functionCall\":{" members "}}"
#define F(args)            CALL("\"name\":\"f\",\"args\":" args)

static const struct sample samples[] = {
    {"thoughts and text",
     {PARTS(THOUGHT("t") "," THOUGHT("u")), PARTS(TEXT("a")), LAST(TEXT("b"), "STOP")},
     "text=ab reasoning=tu stop=end"},
    {"110: calls in one event and in several",
     {PARTS(F("{\"a\":1}") "," F("{\"a\":2}")), LAST(F("{\"a\":1}"), "STOP")},
     "f({\"a\":1}) f({\"a\":2}) f({\"a\":1}) stop=tool_use"},
    {"118: presence of calls decides, in whatever event",
     {PARTS(F("{}")), LAST(TEXT(""), "STOP")},
     "f({}) stop=tool_use"},
    {"118: a call behind the reason", {END("STOP"), PARTS(F("{}"))}, "f({}) stop=tool_use"},
    {"117: no arguments", {LAST(CALL("\"name\":\"f\""), "STOP")}, "f() stop=tool_use"},
    {"117: null", {LAST(F("null"), "STOP")}, "f() stop=tool_use"},
    {"62: arguments as text", {LAST(F("\"{\\\"a\\\":1}\""), "STOP")}, "f({\"a\":1}) stop=tool_use"},
    {"70: digits stay as they are",
     {LAST(F("{\"n\": 123456789012345678901234567890, \"x\":0.1000000000000000055}"), "STOP")},
     "f({\"n\": 123456789012345678901234567890, \"x\":0.1000000000000000055}) stop=tool_use"},
    {"a name is missing", {LAST(CALL("\"args\":{}"), "STOP")}, "({}) stop=tool_use"},
    {"a call that is none", {LAST("{\"functionCall\":7}", "STOP")}, "stop=end"},
    {"15: a pair over two events",
     {PARTS(TEXT("\\ud83d")), LAST(TEXT("\\ude00"), "STOP")},
     "text=\xF0\x9F\x98\x80 stop=end"},
    {"15: halves in text and thought",
     {PARTS(TEXT("\\ud83d")), LAST(THOUGHT("\\ude00"), "STOP")},
     "text=\xEF\xBF\xBD reasoning=\xEF\xBF\xBD stop=end"},
    {"cut by length runs nothing", {PARTS(F("{}")), END("MAX_TOKENS")}, "f({}) stop=length"},
    {"73: no finish reason", {PARTS(F("{}"))}, "f({}) stop=null error=stream_truncated"},
    {"no finish reason that says so",
     {PARTS(TEXT("a")), END("FINISH_REASON_UNSPECIFIED")},
     "text=a stop=null error=stream_truncated"},
    {"113: unexpected call", {END("UNEXPECTED_TOOL_CALL")}, "stop=error error=tool_call_malformed"},
    {"114: no text and no reason given", {END("OTHER")}, "stop=error error=server"},
    {"114: a filter after a call",
     {PARTS(F("{}")), END("RECITATION")},
     "f({}) stop=content_filter error=content_filter"},
    {"114: prompt feedback without a reason",
     {"{\"promptFeedback\":{\"safetyRatings\":[]}}", LAST(TEXT("a"), "STOP")},
     "text=a stop=end"},
    {"84: another candidate",
     {"{\"candidates\":[{\"index\":1,\"content\":{\"parts\":[" TEXT(
         "b") "]}},{\"index\":0,"
              "\"content\":{\"parts\":[" F("{\"a\":1}") "]},\"finishReason\":\"STOP\"}]}"},
     "f({\"a\":1}) stop=tool_use"},
    {"odd kinds of everything",
     {"{\"candidates\":[7,{\"content\":[]},{\"content\":{\"parts\":{}}},"
      "{\"content\":{\"parts\":[null,1,{}]},\"finishReason\":\"\"}],\"usageMetadata\":[]}",
      "{\"candidates\":{}}", "{}", "7", LAST(TEXT("a"), "STOP")},
     "text=a stop=end"},
    {"28: an error beside text",
     {PARTS(TEXT("a")), "{\"error\":{\"code\":500,\"status\":\"INTERNAL\",\"message\":\"m\"}}",
      LAST(TEXT("b"), "STOP")},
     "text=a stop=error error=server"},
    {"31: an error in a list",
     {"[{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"m\"}}]"},
     "stop=error error=bad_request"},
    {"unknown reason", {LAST(TEXT("a"), "BORED")}, "text=a stop=end"},
    {"what is not known is no text",
     {PARTS("{\"executableCode\":{\"code\":\"1\"}}"), LAST(TEXT("a"), "STOP")},
     "text=a stop=end"},
};

static const struct document documents[] = {
    {LAST(THOUGHT("t") "," TEXT("a") "," F("{\"a\":1}"), "STOP"),
     "text=a reasoning=t f({\"a\":1}) stop=tool_use"},
    {"[" PARTS(TEXT("a")) ",\n" LAST(F("{\"n\":1.50}"), "STOP") "]",
     "text=a f({\"n\":1.50}) stop=tool_use"},
    {"[" PARTS(TEXT("a")) ",{\"error\":{\"code\":429,\"message\":\"m\"}}]",
     "text=a stop=error error=rate_limit"},
    {PARTS(TEXT("a")), "text=a stop=null error=stream_truncated"},
    {"{\"id\":\"x\"}", "stop=null error=server"}, /* 32 */
    {"[]", "stop=null error=server"},
    {"{\"promptFeedback\":{\"blockReason\":\"OTHER\"}}",
     "stop=content_filter error=content_filter"},
    {"{\"candidates\":[", "stop=null error=stream_truncated"},
};

static const struct sample notes[] = {
    {"an unknown reason", {LAST(TEXT("a"), "BORED")}, "'BORED'"},
};

static const struct sample failures[] = {
    {"why it broke off",
     {"{\"candidates\":[{\"finishReason\":\"SPII\",\"finishMessage\":\"a number\"}]}"},
     "the server broke the response off: finish reason 'SPII': a number"},
    {"why it blocked",
     {"{\"promptFeedback\":{\"blockReason\":\"SAFETY\",\"blockReasonMessage\":\"m\"}}"},
     "the server blocked the prompt: 'SAFETY': m"},
};

/* ---- what goes back to the letter (D15) ---- */

static const struct sample verbatims[] = {
    {"pieces are one part, and a signature stays on its own (111, 112)",
     {PARTS(THOUGHT("t")), PARTS(THOUGHT("u") "," TEXT("a")), PARTS(TEXT("b")),
      LAST(SIGNED("", "s1"), "STOP")},
     "[{\"text\":\"tu\",\"thought\":true},{\"text\":\"ab\"},"
     "{\"text\":\"\",\"thoughtSignature\":\"s1\"}]"},
    {"pieces are one part, and a signature stays on its own (111, 112)",
     {PARTS(SIGNED("a", "s1") "," TEXT("b")), LAST(SIGNED("c", "s2") "," TEXT(""), "STOP")},
     "[{\"text\":\"a\",\"thoughtSignature\":\"s1\"},{\"text\":\"b\"},"
     "{\"text\":\"c\",\"thoughtSignature\":\"s2\"}]"},
    {"an empty text is not kept; the order of members is",
     {LAST("{\"thoughtSignature\":\"s\",\"functionCall\":{\"id\":\"x\",\"args\":{\"a\": 1.0},"
           "\"name\":\"f\"}}," F("{}") "," TEXT(""),
           "STOP")},
     "[{\"thoughtSignature\":\"s\",\"functionCall\":{\"id\":\"x\",\"name\":\"f\",\"args\":"
     "{\"a\": 1.0}}},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]"},
    {"arguments that are no object become one; names are made valid",
     {LAST(CALL("\"name\":\"a b\",\"args\":\"oops\"") "," CALL("\"name\":\"3d\"") "," CALL(
               "\"name\":\"functions.3d\""),
           "STOP")},
     "[{\"functionCall\":{\"name\":\"a_b_YpMdTwgD\",\"args\":{}}},"
     "{\"functionCall\":{\"name\":\"functions.3d\",\"args\":{}}},"
     "{\"functionCall\":{\"name\":\"functions.3d\",\"args\":{}}}]"},
    {"lone surrogates do not survive (15)",
     {PARTS(TEXT("\\ud83d")), PARTS(TEXT("\\ude00")),
      LAST(F("{\"s\":\"\\ud83d\"}") ",{\"new\":\"\\ud83d\"}", "STOP")},
     "[{\"text\":\"\xF0\x9F\x98\x80\"},"
     "{\"functionCall\":{\"name\":\"f\",\"args\":{\"s\":\"\xEF\xBF\xBD\"}}},"
     "{\"new\":\"\xEF\xBF\xBD\"}]"},
    {"nothing of a failed response (D22)", {PARTS(TEXT("a"))}, ""},
    {"nothing of a failed response (D22)", {PARTS(TEXT("a")), END("SAFETY")}, ""},
};

static const char *id_of(const json_t *item)
{
    return json_member_string(json_object_get(item, "functionCall"), "id");
}

static struct reader reader = {
    .wire = &wire_gemini,
    .provider = "gemini",
    .fixture_count = 7,
    .samples = TABLE(samples),
    .documents = TABLE(documents),
    .notes = TABLE(notes),
    .failures = TABLE(failures),
    .usage = {{"{\"usageMetadata\":{\"promptTokenCount\":10,\"cachedContentTokenCount\":4}}",
               "{\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":5,"
               "\"thoughtsTokenCount\":3}}",
               END("STOP")},
              {.input_tokens = 10,
               .output_tokens = 5,
               .cached_tokens = 4,
               .cache_write_tokens = -1,
               .reasoning_tokens = 3},
              0},
    .delta = PARTS(TEXT("word ")),
    .last = END("STOP"),
    .verbatims = TABLE(verbatims),
    .odd_ids = {LAST(
        CALL("\"id\":7,\"name\":\"f\"") "," CALL("\"id\":\"7\",\"name\":\"f\"") "," CALL(
            "\"name\":\"f\"") "," CALL("\"id\":\"\",\"name\":\"f\""),
        "STOP")},
    .id_of = id_of,
    .ids_asked = 4,
    .ids_given = 2, /* what had none goes back without one */
};

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        READER_TESTS(&reader),
        READER_TEST(reader_keeps_verbatim, &reader),
        READER_TEST(reader_keeps_the_sessions_ids, &reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What responses of Gemini mean (FAULTS 1f; D3, D14, D15, D22). */
#include "wire_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_fixtures(void **state)
{
    (void)state;
    assert_int_equal(fixtures_check("gemini", &wire_gemini), 7);
}

#define PARTS(parts) "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}"
#define LAST(parts, word)                                                                          \
    "{\"candidates\":[{\"content\":{\"parts\":[" parts "]},\"finishReason\":\"" word "\"}]}"
#define END(word)          "{\"candidates\":[{\"finishReason\":\"" word "\"}]}"
#define TEXT(text)         "{\"text\":\"" text "\"}"
#define THOUGHT(text)      "{\"text\":\"" text "\",\"thought\":true}"
#define SIGNED(text, sign) "{\"text\":\"" text "\",\"thoughtSignature\":\"" sign "\"}"
#define CALL(members)      "{\"functionCall\":{" members "}}"
#define F(args)            CALL("\"name\":\"f\",\"args\":" args)

struct sample {
    const char *about;
    const char *events[6];
    const char *expected;
};

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

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct answer answer;
        print_message("%s\n", samples[i].about);
        answer_read_events(&answer, &wire_gemini, samples[i].events);
        answer_equals(&answer, samples[i].expected);
        answer_release(&answer);
    }
}

static void test_messages(void **state)
{
    (void)state;
    static const struct {
        const char *events[2];
        const char *message;
    } cases[] = {
        {{"{\"candidates\":[{\"finishReason\":\"SPII\",\"finishMessage\":\"a number\"}]}"},
         "the server broke the response off: finish reason 'SPII': a number"},
        {{"{\"promptFeedback\":{\"blockReason\":\"SAFETY\",\"blockReasonMessage\":\"m\"}}"},
         "the server blocked the prompt: 'SAFETY': m"},
    };
    struct answer answer;
    for (size_t i = 0; i < COUNT(cases); i++) {
        answer_read_events(&answer, &wire_gemini, cases[i].events);
        assert_string_equal(answer.stream.error.message, cases[i].message);
        answer_release(&answer);
    }
    static const char *const unknown[] = {LAST(TEXT("a"), "BORED"), NULL};
    answer_read_events(&answer, &wire_gemini, unknown);
    assert_non_null(strstr(text_cstr(&answer.status), "'BORED'"));
    answer_release(&answer);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *expected;
    } cases[] = {
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
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_whole(&answer, &wire_gemini, cases[i].body, strlen(cases[i].body));
        answer_equals(&answer, cases[i].expected);
        answer_release(&answer);
    }
}

/* ---- what goes back to the letter (D15) ---- */

static void test_verbatim(void **state)
{
    (void)state;
    static const struct {
        const char *events[6];
        const char *expected;
    } cases[] = {
        /* pieces are one part, and a signature stays on its own (111, 112) */
        {{PARTS(THOUGHT("t")), PARTS(THOUGHT("u") "," TEXT("a")), PARTS(TEXT("b")),
          LAST(SIGNED("", "s1"), "STOP")},
         "[{\"text\":\"tu\",\"thought\":true},{\"text\":\"ab\"},"
         "{\"text\":\"\",\"thoughtSignature\":\"s1\"}]"},
        {{PARTS(SIGNED("a", "s1") "," TEXT("b")), LAST(SIGNED("c", "s2") "," TEXT(""), "STOP")},
         "[{\"text\":\"a\",\"thoughtSignature\":\"s1\"},{\"text\":\"b\"},"
         "{\"text\":\"c\",\"thoughtSignature\":\"s2\"}]"},
        /* an empty text is not kept; the order of members is */
        {{LAST("{\"thoughtSignature\":\"s\",\"functionCall\":{\"id\":\"x\",\"args\":{\"a\": 1.0},"
               "\"name\":\"f\"}}," F("{}") "," TEXT(""),
               "STOP")},
         "[{\"thoughtSignature\":\"s\",\"functionCall\":{\"id\":\"x\",\"name\":\"f\",\"args\":"
         "{\"a\": 1.0}}},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]"},
        /* arguments that are no object become one; names are made valid */
        {{LAST(CALL("\"name\":\"a b\",\"args\":\"oops\"") "," CALL("\"name\":\"3d\"") "," CALL(
                   "\"name\":\"functions.3d\""),
               "STOP")},
         "[{\"functionCall\":{\"name\":\"a_b_YpMdTwgD\",\"args\":{}}},"
         "{\"functionCall\":{\"name\":\"functions.3d\",\"args\":{}}},"
         "{\"functionCall\":{\"name\":\"functions.3d\",\"args\":{}}}]"},
        /* lone surrogates do not survive (15) */
        {{PARTS(TEXT("\\ud83d")), PARTS(TEXT("\\ude00")),
          LAST(F("{\"s\":\"\\ud83d\"}") ",{\"new\":\"\\ud83d\"}", "STOP")},
         "[{\"text\":\"\xF0\x9F\x98\x80\"},"
         "{\"functionCall\":{\"name\":\"f\",\"args\":{\"s\":\"\xEF\xBF\xBD\"}}},"
         "{\"new\":\"\xEF\xBF\xBD\"}]"},
        /* nothing of a failed response (D22) */
        {{PARTS(TEXT("a"))}, ""},
        {{PARTS(TEXT("a")), END("SAFETY")}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct answer answer;
        answer_read_events(&answer, &wire_gemini, cases[i].events);
        assert_string_equal(text_cstr(&answer.collect.verbatim), cases[i].expected);
        answer_release(&answer);
    }
}

/* D14: ids are the session's, and what had none gets none. */
static void test_ids(void **state)
{
    (void)state;
    static const char *const events[] = {
        LAST(CALL("\"id\":7,\"name\":\"f\"") "," CALL("\"id\":\"7\",\"name\":\"f\"") "," CALL(
                 "\"name\":\"f\"") "," CALL("\"id\":\"\",\"name\":\"f\""),
             "STOP"),
        NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_gemini, events);
    json_t *verbatim =
        json_parse(answer.collect.verbatim.data, answer.collect.verbatim.length, NULL, NULL);
    assert_int_equal(json_array_size(verbatim), 4);
    for (size_t i = 0; i < 4; i++) {
        const char *id =
            json_member_string(json_object_get(json_array_get(verbatim, i), "functionCall"), "id");
        if (i < 2)
            assert_string_equal(id, answer.collect.items[i].id);
        else
            assert_null(id);
        assert_true(*answer.collect.items[i].id);
    }
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
    struct wire_decoder *decoder = wire_gemini.decoder_new(&stream);
    for (size_t i = 0; decoder && i < count && events[i]; i++)
        wire_gemini.decoder_event(decoder, events[i], strlen(events[i]));
    if (decoder)
        wire_gemini.decoder_end(decoder);
    stream_finish(&stream);
    wire_gemini.decoder_free(decoder);
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
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_verbatim),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_reading_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

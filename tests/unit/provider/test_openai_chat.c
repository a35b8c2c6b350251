/* What responses of Chat Completions mean: FAULTS 9-12, 15, 17, 23, 24, 28, 29, 31, 46, 49-51, 53,
 * FAULTS 55-57, 59, 62, 66, 67, 71, 73, 77, 81-84 and 146. */
#include "wire_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_fixtures(void **state)
{
    (void)state;
    assert_int_equal(fixtures_check("openai-chat", &wire_openai_chat), 51);
}

#define CHUNK(delta)         "{\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}"
#define TEXT(text)           CHUNK("\"content\":\"" text "\"")
#define CALLS(entries)       CHUNK("\"tool_calls\":[" entries "]")
#define FINISH(reason)       "{\"choices\":[{\"delta\":{},\"finish_reason\":\"" reason "\"}]}"
#define FUNCTION(name, args) "\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define ARGUMENTS(args)      "\"function\":{\"arguments\":\"" args "\"}"
#define DONE                 "[DONE]"
#define A                    "{\\\"a\\\":1}"
#define B                    "{\\\"b\\\":2}"

struct sample {
    const char *about;
    const char *events[8];
    const char *expected;
};

static const struct sample samples[] = {
    /* the end of a stream */
    {"10, 11: padded sentinel", {TEXT("hi"), FINISH("stop"), "  [DONE] "}, "text=hi stop=end"},
    {"12: nothing counts after it",
     {TEXT("hi"), DONE, TEXT("!"), FINISH("length")},
     "text=hi stop=end"},
    {"23: only the sentinel", {TEXT("hi"), DONE}, "text=hi stop=end"},
    {"23: only the sentinel, with a call",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"24: a sentinel and nothing else", {DONE}, "stop=null error=stream_truncated"},
    {"51: no choice at all", {"{\"choices\":[]}", DONE}, "stop=null error=stream_truncated"},
    {"73: a call without an end",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}")},
     "f({\"a\":1}) stop=null error=stream_truncated"},
    {"an empty reason is none",
     {"{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}"},
     "text=a stop=null error=stream_truncated"},
    {"cut JSON in the middle",
     {TEXT("a"), "{\"choices\":[{", TEXT("b"), FINISH("stop")},
     "text=a stop=null error=server"},
    {"cut JSON at the end",
     {TEXT("a"), "{\"choices\":[{"},
     "text=a stop=null error=stream_truncated"},
    {"9: cut JSON behind the end", {TEXT("a"), FINISH("stop"), "{\"usage\":{"}, "text=a stop=end"},
    {"words between", {TEXT("a"), "keep-alive", TEXT("b"), FINISH("stop")}, "text=ab stop=end"},
    {"words at the end",
     {TEXT("a"), "Internal Server Error"},
     "text=a stop=null error=stream_truncated"},
    {"other reasons", {TEXT("a"), FINISH("model_length")}, "text=a stop=length"},
    {"other reasons", {TEXT("a"), FINISH("content_filter")}, "text=a stop=content_filter"},
    {"28: reason error", {TEXT("a"), FINISH("error")}, "text=a stop=error error=server"},
    {"46: malformed call",
     {FINISH("malformed_function_call")},
     "stop=error error=tool_call_malformed"},
    {"unknown reason", {TEXT("a"), FINISH("bored")}, "text=a stop=end"},
    {"71: length beats calls",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}"), FINISH("length")},
     "f({\"a\":1}) stop=length"},
    {"29: error alone",
     {"{\"error\":{\"message\":\"m\",\"code\":429}}"},
     "stop=error error=rate_limit"},
    {"28: error in the choice",
     {TEXT("a"), "{\"choices\":[{\"delta\":{},\"error\":{\"code\":502,\"message\":\"m\"}}]}", DONE},
     "text=a stop=error error=server"},
    {"empty error",
     {"{\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"}}]}", DONE},
     "text=a stop=end"},

    /* text */
    {"15: a pair over two deltas",
     {TEXT("a\\ud83d"), TEXT("\\ude00b"), DONE},
     "text=a\xF0\x9F\x98\x80"
     "b stop=end"},
    {"15: a half alone",
     {TEXT("a\\ud83d"), TEXT("b"), DONE},
     "text=a\xEF\xBF\xBD"
     "b stop=end"},
    {"15: in arguments",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", "\\ud83d") "}"),
      CALLS("{\"index\":0," ARGUMENTS("\\ude00") "}"), DONE},
     "f(\xF0\x9F\x98\x80) stop=tool_use"},
    {"15: in arguments before the name",
     {CALLS("{\"index\":0,\"id\":\"x\"," ARGUMENTS("\\ud83d\\ude00\\ud83d") "}"),
      CALLS("{\"index\":0," FUNCTION("f", "\\ude00") "}"), DONE},
     "f(\xF0\x9F\x98\x80\xF0\x9F\x98\x80) stop=tool_use"},
    {"77: no choices", {"{}", "{\"choices\":null}", TEXT("a"), DONE}, "text=a stop=end"},
    {"84: only choice 0",
     {"{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"}},{\"delta\":{\"content\":\"A\"}}]}",
      DONE},
     "text=A stop=end"},
    {"a whole message as an event",
     {"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}", DONE},
     "text=a stop=end"},
    {"a delta beside the whole so far",
     {"{\"choices\":[{\"delta\":{\"content\":\"a\"},\"message\":{\"content\":\"a\"}}]}",
      "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"message\":{\"content\":\"ab\"}}]}", DONE},
     "text=ab stop=end"},
    {"83: refusal beats stop",
     {CHUNK("\"refusal\":\"no\""), FINISH("stop")},
     "refusal=no stop=refusal"},

    /* reasoning */
    {"81: details alone",
     {CHUNK("\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"},"
            "{\"type\":\"reasoning.summary\",\"summary\":\"b\"},"
            "{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]"),
      DONE},
     "reasoning=ab stop=end"},
    {"81: one of two",
     {CHUNK("\"reasoning\":\"a\",\"reasoning_content\":\"a\""), DONE},
     "reasoning=a stop=end"},
    {"82: parts beside a field",
     {CHUNK("\"reasoning\":\"a\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\"},"
            "{\"type\":\"text\",\"text\":\"b\"},\"c\"]"),
      DONE},
     "text=bc reasoning=a stop=end"},

    /* which call a fragment belongs to */
    {"49, 50: index reused, fragments without id",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", "") "}"),
      CALLS("{\"index\":0," ARGUMENTS(A) "}"),
      CALLS("{\"index\":0,\"id\":\"y\"," FUNCTION("f", "") "}"),
      CALLS("{\"index\":0," ARGUMENTS(B) "}"), FINISH("tool_calls")},
     "f({\"a\":1}) f({\"b\":2}) stop=tool_use"},
    {"49: without ids, other names",
     {CALLS("{\"index\":0," FUNCTION("f", A) "}"), CALLS("{\"index\":0," FUNCTION("g", B) "}"),
      DONE},
     "f({\"a\":1}) g({\"b\":2}) stop=tool_use"},
    {"49: without ids, one name",
     {CALLS("{\"index\":0," FUNCTION("f", A) "}"), CALLS("{\"index\":0," FUNCTION("f", B) "}"),
      DONE},
     "f({\"a\":1}) f({\"b\":2}) stop=tool_use"},
    {"51: neither index nor id",
     {CALLS("{" FUNCTION("f", A) "}"), CALLS("{" FUNCTION("g", B) "}"), DONE},
     "f({\"a\":1}) g({\"b\":2}) stop=tool_use"},
    {"51: neither, without arguments",
     {CALLS("{" FUNCTION("f", "") "}"), CALLS("{" FUNCTION("g", "") "}"), DONE},
     "f() g() stop=tool_use"},
    {"53: fragment of nothing",
     {CALLS("{\"index\":0," ARGUMENTS(A) "}"), TEXT("a"), FINISH("tool_calls")},
     "text=a stop=end"},
    {"55: all in every chunk, no index",
     {CALLS("{\"id\":\"x\"," FUNCTION("f", "{\\\"a\\\"") "}"),
      CALLS("{\"id\":\"x\"," FUNCTION("f", ":1}") "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"55: name in every chunk, no id",
     {CALLS("{\"index\":0," FUNCTION("f", "{\\\"a\\\"") "}"),
      CALLS("{\"index\":0," FUNCTION("f", ":1}") "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"a new id in every chunk",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", "") "}"),
      CALLS("{\"index\":0,\"id\":\"y\"," ARGUMENTS("{\\\"a\\\"") "}"),
      CALLS("{\"index\":0,\"id\":\"z\"," ARGUMENTS(":1}") "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"56: name in pieces, with the id",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("get_", "") "}"),
      CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("it", "") "}"), DONE},
     "get_it() stop=tool_use"},
    {"56: name longer every time",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("get_", "") "}"),
      CALLS("{\"index\":0," FUNCTION("get_it", A) "}"), DONE},
     "get_it({\"a\":1}) stop=tool_use"},
    {"57: the id comes late",
     {CALLS("{\"index\":0," FUNCTION("f", "") "}"),
      CALLS("{\"index\":0,\"id\":\"x\"," ARGUMENTS(A) "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"the name comes after the arguments",
     {CALLS("{\"index\":0,\"id\":\"x\"," ARGUMENTS("{\\\"a\\\"") "}"),
      CALLS("{\"index\":0," FUNCTION("f", ":1}") "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"62: any value",
     {CALLS("{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"f\",\"arguments\":[1,null]}}"),
      DONE},
     "f([1,null]) stop=tool_use"},
    {"66: the same object again",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}"),
      CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}"), DONE},
     "f({\"a\":1}{\"a\":1}) stop=tool_use"},
    {"67: another object without a name",
     {CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", A) "}"),
      CALLS("{\"index\":0," ARGUMENTS(B) "}"), DONE},
     "f({\"a\":1}{\"b\":2}) stop=tool_use"},
    {"146: odd indices",
     {CALLS("{\"index\":-1,\"id\":\"x\"," FUNCTION("f", A) "}"),
      CALLS("{\"index\":4294967295,\"id\":\"y\"," FUNCTION("g", B) "}"), DONE},
     "f({\"a\":1}) g({\"b\":2}) stop=tool_use"},
    {"one entry that is no list",
     {CHUNK("\"tool_calls\":{\"id\":\"x\"," FUNCTION("f", A) "}"), DONE},
     "f({\"a\":1}) stop=tool_use"},
    {"entries that are none", {CALLS("null,7,\"x\",{}"), TEXT("a"), DONE}, "text=a stop=end"},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct answer answer;
        print_message("%s\n", samples[i].about);
        answer_read_events(&answer, &wire_openai_chat, samples[i].events);
        answer_equals(&answer, samples[i].expected);
        answer_release(&answer);
    }
}

/* D14: two calls under one id get two ids, and the fragments still find their call (59). */
static void test_one_id_twice(void **state)
{
    (void)state;
    static const char *const events[] = {
        CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", "{\\\"a\\\"") "}"),
        CALLS("{\"index\":1,\"id\":\"x\"," FUNCTION("f", "{\\\"b\\\"") "}"),
        CALLS("{\"index\":0," ARGUMENTS(":1}") "},{\"index\":1," ARGUMENTS(":2}") "}"), DONE, NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_chat, events);
    answer_equals(&answer, "f({\"a\":1}) f({\"b\":2}) stop=tool_use");
    assert_string_equal(answer.collect.items[0].id, "x");
    assert_string_not_equal(answer.collect.items[1].id, "x");
    answer_release(&answer);
}

static void test_usage(void **state)
{
    (void)state;
    static const char *const events[] = {
        TEXT("a"),
        FINISH("stop"),
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,"
        "\"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":2},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}",
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}",
        DONE,
        NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_chat, events);
    const struct usage *usage = &answer.collect.usage;
    assert_int_equal(usage->input_tokens, 10);
    assert_int_equal(usage->output_tokens, 5);
    assert_int_equal(usage->cached_tokens, 4);
    assert_int_equal(usage->cache_write_tokens, 2);
    assert_int_equal(usage->reasoning_tokens, 3);
    answer_release(&answer);
}

static void test_unknown_reason_is_visible(void **state)
{
    (void)state;
    static const char *const events[] = {TEXT("a"), FINISH("bored"), NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_chat, events);
    assert_non_null(strstr(text_cstr(&answer.status), "'bored'"));
    answer_release(&answer);
}

/* What the server said is part of the message. */
static void test_words_at_the_end(void **state)
{
    (void)state;
    static const char *const events[] = {TEXT("a"), "Internal Server Error", NULL};
    struct answer answer;
    answer_read_events(&answer, &wire_openai_chat, events);
    assert_non_null(strstr(answer.stream.error.message, "Internal Server Error"));
    assert_true(answer.stream.error.retryable);
    answer_release(&answer);
}

static const struct {
    const char *body;
    const char *expected;
} documents[] = {
    {"{\"choices\":[{\"message\":{\"content\":\"a\",\"reasoning_content\":\"r\"},"
     "\"finish_reason\":\"stop\"}]}",
     "text=a reasoning=r stop=end"},
    {"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}", "text=a stop=end"},
    {"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
     "text=a stop=end"}, /* 17 */
    {"{\"choices\":[]}", "stop=null error=server"},
    {"{\"id\":\"x\"}", "stop=null error=server"},
    {"{\"choices\":[{\"mess", "stop=null error=stream_truncated"},
    {"[{\"error\":{\"code\":400,\"message\":\"m\"}}]", "stop=null error=bad_request"}, /* 31 */
    {"", "stop=null error=stream_truncated"},
};

static void test_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(documents); i++) {
        struct answer answer;
        answer_read_whole(&answer, &wire_openai_chat, documents[i].body, strlen(documents[i].body));
        answer_equals(&answer, documents[i].expected);
        assert_true(answer.stream.ended);
        answer_release(&answer);
    }
}

/* Deltas are shown at once, and the connection is not waited on after the sentinel (10). */
static void test_at_once(void **state)
{
    (void)state;
    struct timeline timeline;
    struct stream stream;
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    struct wire_decoder *decoder = wire_openai_chat.decoder_new(&stream);
    const char *call = CALLS("{\"index\":0,\"id\":\"x\"," FUNCTION("f", "{") "}");
    wire_openai_chat.decoder_event(decoder, call, strlen(call));
    assert_int_equal(stream.blocks.count, 1);
    assert_string_equal(stream.blocks.items[0]->text.data, "{");
    wire_openai_chat.decoder_event(decoder, FINISH("stop"), strlen(FINISH("stop")));
    assert_int_equal(stream.stop, STOP_TOOL_USE);
    assert_false(stream.ended);
    wire_openai_chat.decoder_event(decoder, DONE, strlen(DONE));
    assert_true(stream.ended);
    wire_openai_chat.decoder_free(decoder);
    stream_release(&stream);
    timeline_release(&timeline);
}

static void test_many_deltas(void **state)
{
    (void)state;
    struct text body = TEXT_INIT;
    struct answer answer;
    for (int i = 0; i < 20000; i++)
        text_puts(&body, "data: " TEXT("word ") "\n\n");
    text_puts(&body, "data: [DONE]\n\n");
    answer_read(&answer, &wire_openai_chat, body.data, body.length, 0, true);
    assert_true(answer.succeeded);
    assert_int_equal(answer.deltas, 20000);
    assert_int_equal(answer.stream.blocks.items[0]->text.length, 100000);
    answer_release(&answer);
    text_release(&body);
}

static void test_too_many_calls(void **state)
{
    (void)state;
    struct text body = TEXT_INIT;
    struct answer answer;
    for (int i = 0; i < 5000; i++)
        text_printf(&body,
                    "data: " CALLS("{\"index\":%d,\"id\":\"c%d\"," FUNCTION("f", A) "}") "\n\n", i,
                    i);
    answer_read(&answer, &wire_openai_chat, body.data, body.length, 0, true);
    assert_false(answer.succeeded);
    assert_int_equal(answer.stream.error.kind, ERROR_SERVER);
    answer_release(&answer);
    text_release(&body);
}

static void try_to_read(const char *const *events, size_t count)
{
    struct timeline timeline;
    struct stream stream;
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    struct wire_decoder *decoder = wire_openai_chat.decoder_new(&stream);
    for (size_t i = 0; decoder && i < count && events[i]; i++)
        wire_openai_chat.decoder_event(decoder, events[i], strlen(events[i]));
    if (decoder)
        wire_openai_chat.decoder_end(decoder);
    stream_finish(&stream);
    wire_openai_chat.decoder_free(decoder);
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
        cmocka_unit_test(test_one_id_twice),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_unknown_reason_is_visible),
        cmocka_unit_test(test_words_at_the_end),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_many_deltas),
        cmocka_unit_test(test_too_many_calls),
        cmocka_unit_test(test_reading_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Claude on Amazon Bedrock: what is around its events, errors and requests (W125; D11, D15,
 * D17). */
#include "wire_history.h"

#include "provider/http_response.h"
#include "unit/base/failing.h"
#include "unit/provider/frame.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const events[] = {
    "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7}}}",
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
    "\"thinking\":\"\",\"signature\":\"\"}}",
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
    "\"thinking\":\"Hm\xE2\x80\xA6\"}}",
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
    "\"signature\":\"c2ln\"}}",
    "{\"type\":\"content_block_stop\",\"index\":0}",
    "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\","
    "\"id\":\"t1\",\"name\":\"add\",\"input\":{}}}",
    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{\\\"n\\\":1}\"}}",
    "{\"type\":\"content_block_stop\",\"index\":1}",
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{"
    "\"output_tokens\":9}}",
    "{\"type\":\"message_stop\",\"amazon-bedrock-invocationMetrics\":{\"inputTokenCount\":7}}",
};

#define ANSWER "reasoning=Hm\xE2\x80\xA6 add({\"n\":1}) stop=tool_use"
#define TEXT                                                                                       \
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","            \
    "\"text\":\"hello\"}}"

static struct text frame_all(size_t count)
{
    struct text body = TEXT_INIT;
    for (size_t i = 0; i < count; i++)
        frame_put_event(&body, events[i]);
    return body;
}

static void read_frames(struct answer *answer, const struct text *body, size_t step)
{
    answer_read_body(answer, &wire_bedrock, 200, body->data, body->length, step);
}

/* ---- events ---- */

static void test_a_response_in_any_pieces(void **state)
{
    (void)state;
    struct text body = frame_all(COUNT(events));
    for (size_t step = 0; step < 200; step++) {
        struct answer answer;
        read_frames(&answer, &body, step);
        answer_equals(&answer, ANSWER);
        assert_int_equal(answer.stream.usage.input_tokens, 7);
        assert_int_equal(answer.stream.usage.output_tokens, 9);
        assert_string_equal(text_cstr(&answer.collect.verbatim),
                            "[{\"type\":\"thinking\",\"signature\":\"c2ln\","
                            "\"thinking\":\"Hm\xE2\x80\xA6\"},{\"type\":\"tool_use\",\"id\":\"t1\","
                            "\"name\":\"add\",\"input\":{\"n\":1}}]");
        answer_release(&answer);
    }
    text_release(&body);
}

/* D3: what is cut off is no response, whatever was complete before. */
static void test_every_end_before_the_end(void **state)
{
    (void)state;
    struct text body = frame_all(COUNT(events));
    struct text evidence = frame_all(COUNT(events) - 1); /* the stop reason is in it */
    for (size_t length = 1; length < body.length; length++) {
        struct answer answer;
        answer_read_body(&answer, &wire_bedrock, 200, body.data, length, 0);
        bool is_whole = length >= evidence.length;
        assert_int_equal(answer.succeeded, is_whole);
        if (!is_whole) {
            assert_int_equal(answer.stream.error.kind, ERROR_STREAM_TRUNCATED);
            assert_true(answer.stream.error.retryable);
        }
        answer_release(&answer);
    }
    text_release(&body);
    text_release(&evidence);
}

/* Of a gateway that opened the messages itself. */
static void test_other_bodies(void **state)
{
    (void)state;
    static const char stream[] = "data: " TEXT "\n\ndata: {\"type\":\"message_stop\"}\n\n";
    static const char document[] = "{\"type\":\"message\",\"content\":[{\"type\":\"text\","
                                   "\"text\":\"hello\"}],\"stop_reason\":\"end_turn\"}";
    static const char page[] = "<html>";
    struct answer answer;
    answer_read_body(&answer, &wire_bedrock, 200, stream, strlen(stream), 1);
    answer_equals(&answer, "text=hello stop=end");
    answer_release(&answer);
    answer_read_body(&answer, &wire_bedrock, 200, document, strlen(document), 1);
    answer_equals(&answer, "text=hello stop=end");
    answer_release(&answer);
    answer_read_body(&answer, &wire_bedrock, 200, page, strlen(page), 1);
    assert_int_equal(answer.stream.error.kind, ERROR_BAD_REQUEST);
    answer_release(&answer);
    answer_read_body(&answer, &wire_bedrock, 200, "", 0, 0);
    assert_int_equal(answer.stream.error.kind, ERROR_STREAM_TRUNCATED);
    answer_release(&answer);
}

/* Other servers send no such messages. */
static void test_zeros_of_other_servers(void **state)
{
    (void)state;
    struct text body = frame_all(COUNT(events));
    struct answer answer;
    answer_read_body(&answer, &wire_anthropic, 200, body.data, body.length, 0);
    answer_equals(&answer, "stop=null error=stream_truncated");
    answer_release(&answer);
    text_release(&body);
}

static void put_unknown(struct text *body)
{
    static const char headers[] = "\x0d:message-type\7\0\5"
                                  "event\x0b:event-type\7\0\7"
                                  "unheard";
    frame_put_raw(body, headers, sizeof(headers) - 1, "{}", 2, sizeof(headers) - 1,
                  16 + sizeof(headers) - 1 + 2);
}

static void test_unknown_messages_are_passed_over(void **state)
{
    (void)state;
    struct text body = TEXT_INIT;
    struct answer answer;
    put_unknown(&body);
    frame_put_raw(&body, "", 0, "x", 1, 0, 17); /* without a word about what it is */
    for (size_t i = 0; i < COUNT(events); i++)
        frame_put_event(&body, events[i]);
    frame_put_exception(&body, "internalServerException", "{}"); /* behind the end */
    read_frames(&answer, &body, 0);
    answer_equals(&answer, ANSWER);
    answer_release(&answer);
    text_release(&body);
}

static void put_payload(struct text *body, const char *payload)
{
    static const char headers[] = "\x0b:event-type\7\0\5"
                                  "chunk";
    size_t length = sizeof(headers) - 1;
    frame_put_raw(body, headers, length, payload, strlen(payload), length,
                  16 + length + strlen(payload));
}

static void test_chunks_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const payloads[] = {"",
                                           "oops",
                                           "[]",
                                           "{}",
                                           "{\"bytes\":7}",
                                           "{\"bytes\":null}",
                                           "{\"bytes\":\"=\"}",
                                           "{\"bytes\":\"YQ==\xFF\"}"};
    for (size_t i = 0; i < COUNT(payloads); i++) {
        struct text body = TEXT_INIT;
        struct answer answer;
        put_payload(&body, payloads[i]);
        read_frames(&answer, &body, 0);
        assert_int_equal(answer.stream.error.kind, ERROR_SERVER);
        assert_true(answer.stream.error.retryable);
        assert_non_null(strstr(answer.stream.error.message, "without readable 'bytes'"));
        answer_release(&answer);
        text_release(&body);
    }
}

/* One that holds nothing is no event. */
static void test_an_empty_chunk(void **state)
{
    (void)state;
    struct text body = TEXT_INIT;
    struct answer answer;
    put_payload(&body, "{\"bytes\":\"\"}");
    frame_put_event(&body, TEXT);
    frame_put_event(&body, "{\"type\":\"message_stop\"}");
    read_frames(&answer, &body, 0);
    answer_equals(&answer, "text=hello stop=end");
    answer_release(&answer);
    text_release(&body);
}

static void test_a_damaged_message(void **state)
{
    (void)state;
    struct text body = frame_all(COUNT(events));
    struct answer answer;
    body.data[body.length / 2] ^= 1;
    read_frames(&answer, &body, 0);
    assert_int_equal(answer.stream.error.kind, ERROR_SERVER);
    assert_true(answer.stream.error.retryable);
    assert_non_null(strstr(answer.stream.error.message, "damaged"));
    answer_release(&answer);
    text_release(&body);
}

/* ---- errors ---- */

static const struct {
    const char *name, *payload;
    enum error_kind kind;
    bool retryable;
    const char *message;
} exceptions[] = {
    {"throttlingException", "{\"message\":\"Too many tokens\"}", ERROR_RATE_LIMIT, true,
     "Too many tokens"},
    {"internalServerException", "{\"message\":\"oops\"}", ERROR_SERVER, true, "oops"},
    {"modelStreamErrorException",
     "{\"message\":\"try again\",\"originalStatusCode\":500,\"originalMessage\":\"x\"}",
     ERROR_SERVER, true, "try again"},
    {"modelTimeoutException", "{\"message\":\"slow\"}", ERROR_TIMEOUT, true, "slow"},
    {"serviceUnavailableException", "{\"message\":\"down\"}", ERROR_SERVER, true, "down"},
    {"validationException", "{\"message\":\"The model returned: bad\"}", ERROR_BAD_REQUEST, false,
     "The model returned: bad"},
    {"validationException", "{\"message\":\"Input is too long for requested model.\"}",
     ERROR_CONTEXT_OVERFLOW, false, "Input is too long for requested model."},
    {"unheardOfException", "{\"message\":\"new\"}", ERROR_SERVER, true, "new"},
    {"throttlingException", "", ERROR_RATE_LIMIT, true, "throttlingException"},
    {"throttlingException", "{\"message\":null}", ERROR_RATE_LIMIT, true, "throttlingException"},
    {"throttlingException", "plain \x1B[31mtext", ERROR_RATE_LIMIT, true, "plain"},
    {"", "", ERROR_SERVER, true, "without an explanation"},
};

static void check_exception(size_t i, const char *before, bool shown)
{
    struct text body = TEXT_INIT;
    struct answer answer;
    if (before)
        frame_put_event(&body, before);
    frame_put_exception(&body, exceptions[i].name, exceptions[i].payload);
    frame_put_event(&body, "{\"type\":\"message_stop\"}");
    read_frames(&answer, &body, 0);
    const struct error *error = &answer.stream.error;
    assert_false(answer.succeeded);
    assert_int_equal(answer.stream.stop, STOP_ERROR);
    assert_int_equal(error->kind, exceptions[i].kind);
    assert_int_equal(error->retryable, exceptions[i].retryable);
    if (!strstr(error->message, exceptions[i].message))
        fail_msg("'%s' is not in: %s", exceptions[i].message, error->message);
    assert_null(strchr(error->message, '\x1B'));
    assert_int_equal(stream_has_shown(&answer.stream), shown);
    answer_release(&answer);
    text_release(&body);
}

static void test_exceptions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        check_exception(i, NULL, false);
        check_exception(i, TEXT, true);
    }
}

static void test_an_error_without_a_payload(void **state)
{
    (void)state;
    static const char headers[] = "\x0d:message-type\7\0\5"
                                  "error\x0b:error-code\7\0\x13"
                                  "ThrottlingException\x0e:error-message\7\0\4slow";
    struct text body = TEXT_INIT;
    struct answer answer;
    frame_put_raw(&body, headers, sizeof(headers) - 1, "", 0, sizeof(headers) - 1,
                  16 + sizeof(headers) - 1);
    read_frames(&answer, &body, 0);
    assert_int_equal(answer.stream.error.kind, ERROR_RATE_LIMIT);
    assert_string_equal(answer.stream.error.message, "slow");
    answer_release(&answer);
    text_release(&body);
}

/* Status, what Amazon says, and what the user is told beside it. */
static void test_advice(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *said;
        enum error_kind kind;
        const char *advice;
    } cases[] = {
        {403, "The request signature we calculated does not match the signature you provided.",
         ERROR_AUTH, "check AWS_SECRET_ACCESS_KEY"},
        {403, "Signature expired: 20250101T000000Z is now earlier than 20250101T000500Z",
         ERROR_AUTH, "check the clock"},
        {403, "Signature not yet current: 20250101T000000Z is still later than x", ERROR_AUTH,
         "check the clock"},
        {403, "The security token included in the request is expired", ERROR_AUTH, "sign in again"},
        {403, "The security token included in the request is invalid.", ERROR_AUTH,
         "check AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN"},
        {403, "Authentication failed: Please make sure your API Key is valid.", ERROR_AUTH,
         "check AWS_BEARER_TOKEN_BEDROCK"},
        {403, "User: arn:x is not authorized to perform: bedrock:InvokeModel", ERROR_AUTH,
         "bedrock:InvokeModelWithResponseStream"},
        {403, "You don't have access to the model with the specified model ID.", ERROR_AUTH,
         "Bedrock's console"},
        {400, "Invocation of model ID x with on-demand throughput isn\xE2\x80\x99t supported.",
         ERROR_BAD_REQUEST, "name an inference profile"},
        {400, "The provided model identifier is invalid.", ERROR_BAD_REQUEST, "AWS_REGION"},
        {424, "The model failed", ERROR_SERVER, ""},
        {429, "Too many requests", ERROR_RATE_LIMIT, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text body = TEXT_INIT;
        struct answer answer;
        text_printf(&body, "{\"message\":\"%s\"}", cases[i].said);
        answer_read_body(&answer, &wire_bedrock, cases[i].status, body.data, body.length, 0);
        const struct error *error = &answer.stream.error;
        assert_int_equal(error->kind, cases[i].kind);
        assert_int_equal(error->status, cases[i].status);
        assert_memory_equal(error->message, cases[i].said, strlen(cases[i].said));
        const char *rest = error->message + strlen(cases[i].said);
        if (*cases[i].advice)
            assert_non_null(strstr(rest, cases[i].advice));
        else
            assert_string_equal(rest, "");
        answer_release(&answer);
        text_release(&body);
    }
}

/* ---- requests ---- */

static char *write_one(const struct wire *wire, const char *profile, const char *model,
                       const struct history *history, struct toolset *tools,
                       const struct request_config *config)
{
    struct request request = {.system = "Be brief.",
                              .items = history->items,
                              .item_count = history->count,
                              .tools = tools,
                              .config = config};
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    assert_true(wire->write(&body, profile_of(profile), model, &request, &error));
    return text_take(&body, NULL);
}

/* D17: what was written of items and tools for one serves the other. */
static void test_requests_share_what_is_kept(void **state)
{
    (void)state;
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    char *plain = write_one(&wire_anthropic, "anthropic", "m1", &history, &tools, NULL);
    const char *item = history.items[0]->wire[WIRE_ANTHROPIC].data;
    const char *tool = tools.wire[WIRE_ANTHROPIC].data;
    char *body = write_one(&wire_bedrock, "bedrock", "us.anthropic.m1", &history, &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[WIRE_ANTHROPIC].data, item);
    assert_ptr_equal(tools.wire[WIRE_ANTHROPIC].data, tool);
    assert_string_equal(
        body, "{\"anthropic_version\":\"bedrock-2023-05-31\",\"tools\":["
              "{\"name\":\"add\",\"description\":\"Adds.\","
              "\"input_schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"
              "},{\"name\":\"now\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}],"
              "\"system\":\"Be brief.\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
              "\"text\",\"text\":\"Hi\"}]}],\"max_tokens\":8192}");
    free(plain);
    free(body);
    history_release(&history);
    toolset_release(&tools);
}

/* Whatever Amazon puts before the name. */
static void test_reasoning_by_the_name_of_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        bool has_budget;
    } cases[] = {
        {"us.anthropic.claude-sonnet-4-5-20250929-v1:0", true},
        {"anthropic.claude-3-7-sonnet-20250219-v1:0", true},
        {"arn:aws:bedrock:us-west-2:1:inference-profile/eu.anthropic.claude-opus-4-1-v1:0", true},
        {"global.anthropic.claude-opus-4-6-v1", false},
        {"arn:aws:bedrock:us-west-2:1:application-inference-profile/abc123", true},
    };
    struct request_config config = REQUEST_CONFIG_INIT;
    struct history history;
    config.reasoning = "low";
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *body = write_one(&wire_bedrock, "bedrock", cases[i].model, &history, NULL, &config);
        assert_int_equal(strstr(body, "\"budget_tokens\":2048") != NULL, cases[i].has_budget);
        assert_int_equal(strstr(body, "\"effort\":\"low\"") != NULL, !cases[i].has_budget);
        free(body);
    }
    history_release(&history);
}

/* F75: which parts of results it takes is known by the model's name, too. */
static void test_models_that_see(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        unsigned takes;
    } cases[] = {
        {"us.anthropic.claude-sonnet-4-5-20250929-v1:0", PART_TAKES_IMAGE | PART_TAKES_PDF},
        {"arn:aws:bedrock:us-west-2:1:inference-profile/eu.anthropic.claude-opus-4-1-v1:0",
         PART_TAKES_IMAGE | PART_TAKES_PDF},
        {"anthropic.claude-v2:1", 0},
        {"arn:aws:bedrock:us-west-2:1:application-inference-profile/abc123", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct part_rules rules =
            profile_part_rules(profile_of("bedrock"), cases[i].model, IMAGES_AUTO);
        assert_int_equal(rules.takes, cases[i].takes);
        assert_int_equal(rules.total_bytes, 14 << 20);
    }
}

/* ---- memory ---- */

static void test_no_memory(void **state)
{
    (void)state;
    struct text body = TEXT_INIT, exception = TEXT_INIT;
    put_payload(&body, "{\"bytes\":\"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0=\"}");
    frame_put_exception(&exception, "throttlingException", "{\"message\":\"slow\"}");
    for (int which = 0; which < 2; which++) {
        bool failed = true;
        int allowed = 0;
        for (; failed; allowed++) {
            struct timeline timeline;
            struct stream stream;
            struct http_response response = {0};
            struct http_hints hints;
            const struct text *bytes = which ? &exception : &body;
            http_hints_init(&hints);
            timeline_init(&timeline);
            stream_init(&stream, &timeline);
            stream_begin(&stream);
            fail_after(allowed);
            if (http_response_begin(&response, &wire_bedrock, "host", &stream)) {
                http_response_receive(&response, 200, bytes->data, 20);
                http_response_receive(&response, 200, bytes->data + 20, bytes->length - 20);
                http_response_conclude(&response, 200, &hints);
            }
            http_response_end(&response);
            failed = fail_never();
            assert_int_equal(stream.error.kind, failed  ? ERROR_INTERNAL
                                                : which ? ERROR_RATE_LIMIT
                                                        : ERROR_NONE);
            http_response_release(&response);
            stream_release(&stream);
            timeline_release(&timeline);
        }
        assert_true(allowed > 3);
    }
    text_release(&body);
    text_release(&exception);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_response_in_any_pieces),
        cmocka_unit_test(test_every_end_before_the_end),
        cmocka_unit_test(test_other_bodies),
        cmocka_unit_test(test_zeros_of_other_servers),
        cmocka_unit_test(test_unknown_messages_are_passed_over),
        cmocka_unit_test(test_chunks_that_cannot_be_read),
        cmocka_unit_test(test_an_empty_chunk),
        cmocka_unit_test(test_a_damaged_message),
        cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_an_error_without_a_payload),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_requests_share_what_is_kept),
        cmocka_unit_test(test_reasoning_by_the_name_of_the_model),
        cmocka_unit_test(test_models_that_see),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

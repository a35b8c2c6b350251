/* What a server meant: kind, message, retryable (FAULTS 14, 28 to 35, 40 to 46). */
#include "wire_test.h"

#include <string.h>

#include "provider/wire_error.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sample {
    int status;
    const char *body;
    enum error_kind kind;
    bool retryable;
    const char *message;
};

static const struct sample bodies[] = {
    /* where the message stands (30, 31, 33) */
    {400, "{\"error\":{\"message\":\"bad temperature\",\"type\":\"invalid_request_error\"}}",
     ERROR_BAD_REQUEST, false, "bad temperature"},
    {404, "{\"error\":\"model 'x' not found\"}", ERROR_BAD_REQUEST, false, "model 'x' not found"},
    {400, "[{\"error\":{\"code\":400,\"message\":\"no such field\"}}]", ERROR_BAD_REQUEST, false,
     "no such field"},
    {404, "{\"detail\":\"Not Found\"}", ERROR_BAD_REQUEST, false, "Not Found"},
    {422,
     "{\"detail\":[{\"loc\":[\"body\",\"messages\",0],\"msg\":\"field required\",\"type\":\"x\"}]}",
     ERROR_BAD_REQUEST, false, "body.messages.0: field required"},
    {422, "{\"object\":\"error\",\"message\":{\"detail\":[{\"loc\":[\"a\"],\"msg\":\"m\"}]}}",
     ERROR_BAD_REQUEST, false, "a: m"},
    {400, "{\"message\":\"plain\"}", ERROR_BAD_REQUEST, false, "plain"},
    {404, "{\"status\":404,\"error\":\"Not Found\",\"message\":\"no route\",\"path\":\"/v1\"}",
     ERROR_BAD_REQUEST, false, "Not Found: no route"},
    {400, "{\"success\":false,\"errors\":[{\"code\":7003,\"message\":\"no account\"}]}",
     ERROR_BAD_REQUEST, false, "no account"},
    {400, "\"just a string\"", ERROR_BAD_REQUEST, false, "just a string"},
    {400, "{\"foo\":1}", ERROR_BAD_REQUEST, false, "HTTP 400: {\"foo\":1}"},
    {400, "{\"error\":{\"code\":\"odd_code\"}}", ERROR_BAD_REQUEST, false, "odd_code"},
    {400, "  upstream said no \r\n", ERROR_BAD_REQUEST, false, "HTTP 400: upstream said no"},
    {502, "<html><head><title>502 Bad Gateway</title></head><body>x</body></html>", ERROR_SERVER,
     true, "HTTP 502 Bad Gateway"},
    {503, "<!DOCTYPE html><style>p{}</style><script>a<b</script><p>Sorry, <b>down</b></p>",
     ERROR_SERVER, true, "HTTP 503: Sorry, down"},
    {504, "<html", ERROR_TIMEOUT, true, "HTTP 504 without an explanation"},
    {500, "", ERROR_SERVER, true, "HTTP 500 without an explanation"},
    {500, "{\"error\":{}}", ERROR_SERVER, true, "HTTP 500: {\"error\":{}}"},
    {400, "{\"error\":{\"message\":\"a\\u0000b\\u001b[31mc\\n\\nd\"}}", ERROR_BAD_REQUEST, false,
     "a\xEF\xBF\xBD"
     "b[31mc d"},
    {400, "bad \xFF byte", ERROR_BAD_REQUEST, false, "HTTP 400: bad \xEF\xBF\xBD byte"},
    {400,
     "{\"error\":{\"message\":\"Provider returned error\",\"code\":400,\"metadata\":{\"raw\":"
     "\"{\\\"error\\\":{\\\"message\\\":\\\"prompt is too long\\\"}}\"}}}",
     ERROR_CONTEXT_OVERFLOW, false, "Provider returned error: prompt is too long"},

    /* the status speaks first (35, 40) */
    {429, "{\"error\":{\"message\":\"maximum context length, tokens per minute\"}}",
     ERROR_RATE_LIMIT, true, "maximum context length, tokens per minute"},
    {429, "{\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}", ERROR_RATE_LIMIT,
     false, "pay"},
    {429, "", ERROR_RATE_LIMIT, true, "HTTP 429 without an explanation"},
    {529,
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     ERROR_OVERLOADED, true, "Overloaded"},
    {503, "{\"error\":{\"status\":\"UNAVAILABLE\",\"message\":\"The model is overloaded\"}}",
     ERROR_OVERLOADED, true, "The model is overloaded"},
    {503, "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"later\"}}", ERROR_OVERLOADED,
     true, "later"},
    {401, "{\"error\":{\"message\":\"no key\"}}", ERROR_AUTH, false, "no key"},
    {403, "{\"error\":{\"message\":\"not yours\"}}", ERROR_AUTH, false, "not yours"},
    {403, "{\"error\":{\"message\":\"input was flagged\",\"code\":403}}", ERROR_CONTENT_FILTER,
     false, "input was flagged"},
    {408, "{\"error\":\"slow\"}", ERROR_TIMEOUT, true, "slow"},
    {409, "{\"error\":\"busy\"}", ERROR_SERVER, true, "busy"},
    {425, "{\"error\":\"early\"}", ERROR_SERVER, true, "early"},
    {504, "{\"error\":{\"type\":\"timeout_error\",\"message\":\"slow\"}}", ERROR_TIMEOUT, true,
     "slow"},
    {500, "{\"error\":{\"type\":\"api_error\",\"message\":\"oops\"}}", ERROR_SERVER, true, "oops"},
    {301, "moved", ERROR_BAD_REQUEST, false, "HTTP 301: moved"},
    {413, "{\"error\":{\"type\":\"request_too_large\",\"message\":\"big\"}}",
     ERROR_CONTEXT_OVERFLOW, false, "big"},

    /* overflow by code, type and message (41 to 43) */
    {400, "{\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}",
     ERROR_CONTEXT_OVERFLOW, false, "x"},
    {400, "{\"error\":{\"message\":\"x\",\"type\":\"exceed_context_size_error\",\"code\":400}}",
     ERROR_CONTEXT_OVERFLOW, false, "x"},
    {400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length "
     "and `max_tokens` exceed context limit: 1 + 2 > 2\"}}",
     ERROR_CONTEXT_OVERFLOW, false,
     "input length and `max_tokens` exceed context limit: 1 + 2 > 2"},
    {500, "{\"error\":\"the request exceeds the available context size\"}", ERROR_CONTEXT_OVERFLOW,
     false, "the request exceeds the available context size"},

    /* what the model or a filter did (46) */
    {400,
     "{\"error\":{\"message\":\"m\",\"code\":\"tool_use_failed\",\"failed_generation\":\"<f>\"}}",
     ERROR_TOOL_CALL_MALFORMED, true, "m: <f>"},
    {400,
     "{\"error\":{\"code\":\"content_filter\",\"message\":\"m\",\"innererror\":{\"code\":"
     "\"ResponsibleAIPolicyViolation\"}}}",
     ERROR_CONTENT_FILTER, false, "m"},
    {400,
     "{\"error\":{\"code\":400,\"message\":\"API key not "
     "valid.\",\"status\":\"INVALID_ARGUMENT\"}}",
     ERROR_AUTH, false, "API key not valid."},
};

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const struct sample *sample = &bodies[i];
        struct error error = ERROR_INIT;
        wire_error_from_body(&error, sample->status, sample->body, strlen(sample->body));
        assert_string_equal(error.message, sample->message);
        assert_string_equal(error_kind_name(error.kind), error_kind_name(sample->kind));
        assert_int_equal(error.retryable, sample->retryable);
        assert_int_equal(error.status, sample->status);
        assert_int_equal(error.retry_after_ms, -1);
    }
}

/* Events of a stream that began with 200: `status` is what the error says of itself. */
static const struct sample events[] = {
    {502, "{\"error\":{\"code\":502,\"message\":\"gone\"},\"choices\":[]}", ERROR_SERVER, true,
     "gone"},
    {404, "{\"object\":\"error\",\"message\":\"no model\",\"type\":\"NotFoundError\",\"code\":404}",
     ERROR_BAD_REQUEST, false, "no model"},
    {429, "{\"error\":{\"code\":\"429\",\"message\":\"slow down\"}}", ERROR_RATE_LIMIT, true,
     "slow down"},
    {0, "{\"error\":\"slot unavailable\"}", ERROR_SERVER, true, "slot unavailable"},
    {0, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     ERROR_OVERLOADED, true, "Overloaded"},
    {0, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long\"}}",
     ERROR_CONTEXT_OVERFLOW, false, "prompt is too long"},
    {0, "{\"error\":{\"message\":\"Rate limit reached\"}}", ERROR_RATE_LIMIT, true,
     "Rate limit reached"},
    {0, "{\"error\":true}", ERROR_SERVER, true,
     "the server reported an error without an explanation"},
    {0, "{\"message\":\"flat\"}", ERROR_SERVER, true, "flat"},
    {0, "{\"error\":{\"code\":1301,\"message\":\"odd number\"}}", ERROR_SERVER, true, "odd number"},
};

static void test_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(events); i++) {
        struct error error = ERROR_INIT;
        json_t *event = json_parse(events[i].body, strlen(events[i].body), NULL, NULL);
        assert_true(wire_error_from_json(&error, 0, event));
        assert_string_equal(error.message, events[i].message);
        assert_string_equal(error_kind_name(error.kind), error_kind_name(events[i].kind));
        assert_int_equal(error.retryable, events[i].retryable);
        assert_int_equal(error.status, events[i].status);
        json_decref(event);
    }
}

static void test_no_error(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"choices\":[{\"delta\":{\"content\":\"error\"}}],\"error\":null}",
        "{\"choices\":[],\"error\":{\"code\":0,\"message\":\"\"}}",
        "{\"choices\":[],\"error\":\"\",\"errors\":[]}",
        "{\"id\":\"x\",\"object\":\"chat.completion.chunk\"}",
        "{\"type\":\"status\",\"message\":\"warming up\"}",
        "{\"type\":\"message_start\",\"message\":{\"content\":[]}}",
        "{\"content\":[],\"message\":\"hello\"}",
        "[]",
        "17",
        "\"text\"",
        "null",
        "{}",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        json_t *document = json_parse(cases[i], strlen(cases[i]), NULL, NULL);
        assert_non_null(document);
        assert_false(wire_error_from_json(&error, 0, document));
        assert_int_equal(error.kind, ERROR_NONE);
        json_decref(document);
    }
}

/* Google says when to come back among the details (D11). */
static void test_when_to_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *delay;
        int64_t wait_ms;
    } cases[] = {
        {"\"17s\"", 17000}, {"\"0.5s\"", 500}, {"\"58.934310785s\"", 58934},
        {"\"0s\"", 0},      {"\"\"", -1},      {"\"s\"", -1},
        {"\"soon\"", -1},   {"17", -1},        {"null", -1},
        {"\"-3s\"", -1},    {"\"17 s\"", -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        char body[256];
        snprintf(body, sizeof(body),
                 "[{\"error\":{\"code\":429,\"message\":\"m\",\"details\":[7,{\"@type\":\"x\"},"
                 "{\"retryDelay\":%s}]}}]",
                 cases[i].delay);
        wire_error_from_body(&error, 429, body, strlen(body));
        assert_int_equal(error.retry_after_ms, cases[i].wait_ms);
    }
}

/* A page of megabytes and nests of objects cost little and are cut. */
static void test_large_bodies(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    for (int i = 0; i < 100000; i++)
        text_puts(&body, "\xE6\x97\xA5 <b>");
    wire_error_from_body(&error, 500, body.data, body.length);
    assert_true(strlen(error.message) < sizeof(error.message));
    assert_int_equal(error.status, 500);
    text_reset(&body);
    for (int i = 0; i < 1000; i++)
        text_puts(&body, "{\"error\":");
    text_puts(&body, "1");
    for (int i = 0; i < 1000; i++)
        text_putc(&body, '}');
    wire_error_from_body(&error, 400, body.data, body.length);
    assert_int_equal(error.kind, ERROR_BAD_REQUEST);
    text_release(&body);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        bool failed = true;
        for (int allowed = 0; failed; allowed++) {
            struct error error = ERROR_INIT;
            fail_after(allowed);
            wire_error_from_body(&error, bodies[i].status, bodies[i].body, strlen(bodies[i].body));
            failed = fail_never();
            assert_int_not_equal(error.kind, ERROR_NONE);
        }
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_events),
        cmocka_unit_test(test_no_error),  cmocka_unit_test(test_large_bodies),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_when_to_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

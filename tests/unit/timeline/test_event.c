#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "timeline/event.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SLICE(text)                                                                                \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static const struct error trouble = {
    .kind = ERROR_RATE_LIMIT, .retryable = true, .message = "too many \"requests\""};
static const char *const tools[] = {"counter", "greet"};
static const struct event_part parts[] = {{"image/png", "a", NULL, 3}, {"text/css", NULL, "u:v", 0}};

/* Every event that has a JSON form, exactly as cli.md spells it. */
static const struct {
    struct event event;
    const char *json;
} shapes[] = {
    {{.kind = EVENT_RUN_START, .as.run_start = {"s1", "anthropic/x", tools, 2}},
     "{\"type\":\"run_start\",\"session\":\"s1\",\"model\":\"anthropic/x\",\"tools\":"
     "[\"counter\",\"greet\"]}"},
    {{.kind = EVENT_RUN_START, .as.run_start = {NULL, "offline", NULL, 0}},
     "{\"type\":\"run_start\",\"session\":null,\"model\":\"offline\",\"tools\":[]}"},
    {{.kind = EVENT_TURN_START, .as.turn_start = {3, NULL}}, "{\"type\":\"turn_start\",\"turn\":3}"},
    {{.kind = EVENT_BLOCK_START, .as.block = {BLOCK_TOOL_USE, 1, "c1", "greet", {0}, false}},
     "{\"type\":\"tool_call_start\",\"index\":1,\"id\":\"c1\",\"name\":\"greet\"}"},
    {{.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = BLOCK_TEXT, .text = SLICE("a\n\"\u00e9")}},
     "{\"type\":\"text_delta\",\"index\":0,\"text\":\"a\\n\\\"\u00e9\"}"},
    {{.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = BLOCK_REASONING, .text = SLICE("hm")}},
     "{\"type\":\"reasoning_delta\",\"index\":0,\"text\":\"hm\"}"},
    {{.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = BLOCK_REFUSAL, .text = SLICE("no")}},
     "{\"type\":\"refusal_delta\",\"index\":0,\"text\":\"no\"}"},
    {{.kind = EVENT_BLOCK_DELTA,
      .as.block = {.kind = BLOCK_TOOL_USE, .index = 4294967295u, .text = SLICE("{\"a\":")}},
     "{\"type\":\"tool_call_delta\",\"index\":4294967295,\"json\":\"{\\\"a\\\":\"}"},
    {{.kind = EVENT_USAGE, .as.usage = {10, 0, -1, -1, 5}},
     "{\"type\":\"usage\",\"input_tokens\":10,\"output_tokens\":0,\"reasoning_tokens\":5}"},
    {{.kind = EVENT_USAGE, .as.usage = {1, 2, 3, INT64_MAX, -1}},
     "{\"type\":\"usage\",\"input_tokens\":1,\"output_tokens\":2,\"cached_tokens\":3,"
     "\"cache_write_tokens\":9223372036854775807}"},
    {{.kind = EVENT_USAGE, .as.usage = USAGE_INIT}, "{\"type\":\"usage\"}"},
    {{.kind = EVENT_STATUS, .as.status = {SLICE("waiting")}},
     "{\"type\":\"status\",\"text\":\"waiting\"}"},
    {{.kind = EVENT_RETRY, .as.retry = {2, 1500, &trouble}},
     "{\"type\":\"retry\",\"attempt\":2,\"wait_ms\":1500,\"reason\":\"too many "
     "\\\"requests\\\"\"}"},
    {{.kind = EVENT_RESET, .as.reset = {"retry"}}, "{\"type\":\"reset\",\"reason\":\"retry\"}"},
    {{.kind = EVENT_ERROR, .as.error = &trouble},
     "{\"type\":\"error\",\"kind\":\"rate_limit\",\"message\":\"too many \\\"requests\\\"\","
     "\"retryable\":true}"},
    {{.kind = EVENT_TOOL_CALL,
      .as.tool_call = {.id = "c1", .name = "greet", .arguments = SLICE("{\n \"n\": 1}"), .valid = true}},
     "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"greet\",\"arguments\":{  \"n\": 1},"
     "\"valid\":true}"},
    {{.kind = EVENT_TOOL_CALL, .as.tool_call = {.id = "c1", .name = "greet", .valid = true}},
     "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"greet\",\"arguments\":{},\"valid\":true}"},
    {{.kind = EVENT_TOOL_CALL,
      .as.tool_call = {.id = "c1", .name = "greet", .arguments = SLICE("{oops")}},
     "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"greet\",\"arguments\":null,"
     "\"arguments_raw\":\"{oops\",\"valid\":false}"},
    /* F37 */
    {{.kind = EVENT_TOOL_CALL,
      .as.tool_call = {.id = "c1", .name = "build", .valid = true, .long_running = true}},
     "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"build\",\"arguments\":{},\"valid\":true,"
     "\"long_running\":true}"},
    {{.kind = EVENT_TOOL_PROGRESS,
      .as.tool_progress = {.id = "c1", .name = "t", .stream = "stdout", .text = SLICE("x\n")}},
     "{\"type\":\"tool_progress\",\"id\":\"c1\",\"stream\":\"stdout\",\"text\":\"x\\n\"}"},
    {{.kind = EVENT_TOOL_PROGRESS,
      .as.tool_progress = {.id = "c1", .name = "t", .done = 2.5, .total = 10}},
     "{\"type\":\"tool_progress\",\"id\":\"c1\",\"stream\":null,\"text\":\"\",\"done\":2.5,"
     "\"total\":10}"},
    {{.kind = EVENT_TOOL_PROGRESS, .as.tool_progress = {.id = "c1", .name = "t", .done = NAN}},
     "{\"type\":\"tool_progress\",\"id\":\"c1\",\"stream\":null,\"text\":\"\",\"done\":0}"},
    {{.kind = EVENT_TOOL_RESULT,
      .as.tool_result = {.id = "c1",
                         .name = "greet",
                         .success = true,
                         .result = SLICE("Hi"),
                         .duration_us = 1234567,
                         .parts = parts,
                         .part_count = 2}},
     "{\"type\":\"tool_result\",\"id\":\"c1\",\"name\":\"greet\",\"success\":true,\"result\":"
     "\"Hi\",\"error\":null,\"duration_ms\":1234.567,\"parts\":[{\"mime_type\":\"image/png\","
     "\"name\":\"a\",\"bytes\":3},{\"mime_type\":\"text/css\",\"uri\":\"u:v\"}]}"},
    /* F22, F25 */
    {{.kind = EVENT_TOOL_RESULT,
      .as.tool_result = {.id = "c1",
                         .name = "db",
                         .result = SLICE("locked"),
                         .component = "database",
                         .category = "unavailable",
                         .code = "db.locked",
                         .retryable = true,
                         .retry_after_ms = 1500,
                         .duration_us = 70}},
     "{\"type\":\"tool_result\",\"id\":\"c1\",\"name\":\"db\",\"success\":false,\"result\":"
     "\"locked\",\"error\":{\"component\":\"database\",\"category\":\"unavailable\",\"code\":"
     "\"db.locked\",\"message\":\"locked\",\"retryable\":true,\"retry_after_ms\":1500},"
     "\"duration_ms\":0.070,\"parts\":[]}"},
    {{.kind = EVENT_HOOK, .as.hook = {"guard", "pre_tool_call", "skip", "not today"}},
     "{\"type\":\"hook\",\"hook\":\"guard\",\"event\":\"pre_tool_call\",\"decision\":\"skip\","
     "\"reason\":\"not today\"}"},
    {{.kind = EVENT_HOOK, .as.hook = {"guard", "turn_end", "pause", NULL}},
     "{\"type\":\"hook\",\"hook\":\"guard\",\"event\":\"turn_end\",\"decision\":\"pause\","
     "\"reason\":null}"},
    {{.kind = EVENT_TURN_END, .as.turn_end = {1, STOP_TOOL_USE}},
     "{\"type\":\"turn_end\",\"turn\":1,\"stop_reason\":\"tool_use\"}"},
    {{.kind = EVENT_TURN_END, .as.turn_end = {0, STOP_UNKNOWN}},
     "{\"type\":\"turn_end\",\"turn\":0,\"stop_reason\":null}"},
    {{.kind = EVENT_RESULT,
      .as.result = {.status = "finished",
                    .text = SLICE("ok"),
                    .session = "s1",
                    .turns = 2,
                    .usage = {5, 6, -1, -1, -1},
                    .duration_ms = 1200,
                    .tools = (const struct tool_usage[]){{"a", 3, 1, 1500, 1000}, {"b", 1, 0, 7, 7}},
                    .tool_count = 2}},
     "{\"type\":\"result\",\"status\":\"finished\",\"text\":\"ok\",\"exit_code\":0,\"session\":"
     "\"s1\",\"turns\":2,\"usage\":{\"input_tokens\":5,\"output_tokens\":6},\"duration_ms\":1200,"
     "\"tools\":[{\"name\":\"a\",\"calls\":3,\"errors\":1,\"total_ms\":1.500,\"p99_ms\":1.000},"
     "{\"name\":\"b\",\"calls\":1,\"errors\":0,\"total_ms\":0.007,\"p99_ms\":0.007}]}"},
    {{.kind = EVENT_RESULT, .as.result = {.status = "failed", .exit_code = -1, .usage = USAGE_INIT}},
     "{\"type\":\"result\",\"status\":\"failed\",\"text\":\"\",\"exit_code\":-1,\"session\":null,"
     "\"turns\":0,\"usage\":{},\"duration_ms\":0,\"tools\":[]}"},
};

static void test_json_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct text text = TEXT_INIT;
        assert_true(event_write_json(&shapes[i].event, &text));
        assert_string_equal(text_cstr(&text), shapes[i].json);
        json_t *value = json_parse(text.data, text.length, NULL, NULL);
        assert_true(json_is_object(value));
        assert_string_equal(json_member_string(value, "type"), event_type_name(&shapes[i].event));
        json_decref(value);
        text_release(&text);
    }
}

static void test_events_without_json(void **state)
{
    (void)state;
    static const struct event events[] = {
        {.kind = EVENT_BLOCK_START, .as.block.kind = BLOCK_TEXT},
        {.kind = EVENT_BLOCK_START, .as.block.kind = BLOCK_REASONING},
        {.kind = EVENT_BLOCK_START, .as.block.kind = BLOCK_REFUSAL},
        {.kind = EVENT_BLOCK_STOP, .as.block.kind = BLOCK_TOOL_USE},
        {.kind = EVENT_PING},
        {.kind = EVENT_STOP},
        {.kind = EVENT_VERBATIM},
        {.kind = EVENT_SETTLED},
    };
    for (size_t i = 0; i < COUNT(events); i++) {
        struct text text = TEXT_INIT;
        assert_false(event_write_json(&events[i], &text));
        assert_int_equal(text.length, 0);
        text_release(&text);
    }
}

/* Whatever a kind is named, it is written; nothing is left without a writer. */
static void test_every_named_kind_is_covered(void **state)
{
    (void)state;
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        bool covered = event_kind_name((enum event_kind)kind) == NULL;
        for (size_t i = 0; i < COUNT(shapes); i++)
            covered |= (int)shapes[i].event.kind == kind;
        assert_true(covered);
    }
}

static void test_one_line_however_the_text(void **state)
{
    (void)state;
    static const char bytes[] = "\n\r\0\x1b\x7f\xff\xe2\x80\xa8";
    struct event event = {.kind = EVENT_STATUS, .as.status.text = {bytes, sizeof(bytes) - 1}};
    struct text text = TEXT_INIT;
    assert_true(event_write_json(&event, &text));
    assert_null(strpbrk(text.data, "\n\r"));
    assert_int_equal(strlen(text.data), text.length);
    text_release(&text);
}

static void test_usage_adds_what_is_known(void **state)
{
    (void)state;
    struct usage total = USAGE_INIT;
    usage_add(&total, &(struct usage){1, -1, 0, INT64_MAX, -1});
    usage_add(&total, &(struct usage){2, 5, -1, INT64_MAX, -1});
    assert_int_equal(total.input_tokens, 3);
    assert_int_equal(total.output_tokens, 5);
    assert_int_equal(total.cached_tokens, 0);
    assert_true(total.cache_write_tokens == INT64_MAX);
    assert_int_equal(total.reasoning_tokens, -1);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(event_kind_name(EVENT_TOOL_CALL), "tool_call");
    assert_null(event_kind_name(EVENT_BLOCK_DELTA));
    assert_string_equal(block_kind_name(BLOCK_TOOL_USE), "tool_call");
    assert_string_equal(stop_reason_name(STOP_CONTENT_FILTER), "content_filter");
    assert_null(stop_reason_name(STOP_UNKNOWN));
}

static void test_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int count = 0; count < 4; count++) {
            struct text text = TEXT_INIT;
            fail_after(count);
            event_write_json(&shapes[i].event, &text);
            assert_int_equal(fail_never(), text.failed);
            text_release(&text);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_shapes),
        cmocka_unit_test(test_events_without_json),
        cmocka_unit_test(test_every_named_kind_is_covered),
        cmocka_unit_test(test_one_line_however_the_text),
        cmocka_unit_test(test_usage_adds_what_is_known),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

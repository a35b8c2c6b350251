#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "failing.h"
#include "frontend/jsonl.h"

#include "capture.h"

static struct timeline timeline;
static struct output output;
static struct jsonl jsonl;
static struct capture capture;

static int open_stream(void **state)
{
    (void)state;
    timeline_init(&timeline);
    capture_pipe(&capture);
    output_init(&output, capture.writer, COLOR_ALWAYS);
    assert_true(jsonl_register(&jsonl, &output, &timeline));
    return 0;
}

static int close_stream(void **state)
{
    (void)state;
    output_release(&output);
    jsonl_release(&jsonl);
    timeline_release(&timeline);
    capture_close(&capture);
    secret_clear();
    return 0;
}

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void emit(struct event event)
{
    timeline_emit(&timeline, &event);
}

#define EMIT(...) emit((struct event){__VA_ARGS__})

/* The one line that an event is written as. */
static json_t *line_of(struct event event)
{
    json_error_t error;
    emit(event);
    output_flush(&output);
    const char *line = capture_read(&capture);
    assert_true(capture.length > 0);
    assert_ptr_equal(strchr(line, '\n'), line + capture.length - 1);
    json_t *json = json_loadb(line, capture.length, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s: %s", error.text, line);
    return json;
}

/* Compares with JSON that is written with ' for ". */
static void check_line(struct event event, const char *wanted_text)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s", wanted_text);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *wanted = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *line = line_of(event);
    assert_non_null(wanted);
    if (!json_equal(line, wanted))
        fail_msg("%s\nis not\n%s", capture.text, text);
    json_decref(wanted);
    json_decref(line);
}

#define CHECK(json, ...) check_line((struct event){__VA_ARGS__}, json)

/* ---- one test for each group of shapes of cli.md ---- */

static void test_run_and_turns(void **state)
{
    (void)state;
    static const char *const tools[] = {"a", "b"};
    CHECK("{'type':'run_start','session':'s1','model':'openai/x','tools':['a','b']}",
          .kind = EVENT_RUN_START, .as.run_start = {"s1", "openai/x", tools, 2});
    CHECK("{'type':'run_start','session':null,'model':'offline/offline','tools':[]}",
          .kind = EVENT_RUN_START, .as.run_start = {NULL, "offline/offline", NULL, 0});
    CHECK("{'type':'turn_start','turn':3}", .kind = EVENT_TURN_START, .as.turn_start.turn = 3);
    static const char *const reasons[] = {[STOP_UNKNOWN] = "null",
                                          [STOP_END] = "'end'",
                                          [STOP_TOOL_USE] = "'tool_use'",
                                          [STOP_LENGTH] = "'length'",
                                          [STOP_CONTENT_FILTER] = "'content_filter'",
                                          [STOP_REFUSAL] = "'refusal'",
                                          [STOP_PAUSE] = "'pause'",
                                          [STOP_ERROR] = "'error'"};
    for (enum stop_reason reason = STOP_UNKNOWN; reason <= STOP_ERROR; reason++) {
        char wanted[100];
        snprintf(wanted, sizeof(wanted), "{'type':'turn_end','turn':1,'stop_reason':%s}",
                 reasons[reason]);
        CHECK(wanted, .kind = EVENT_TURN_END, .as.turn_end = {1, reason});
    }
}

static void test_deltas(void **state)
{
    (void)state;
    CHECK("{'type':'text_delta','index':1,'text':'a\\nb'}", .kind = EVENT_BLOCK_DELTA,
          .as.block = {.kind = BLOCK_TEXT, .index = 1, .text = slice_of("a\nb")});
    CHECK("{'type':'reasoning_delta','index':0,'text':'hm'}", .kind = EVENT_BLOCK_DELTA,
          .as.block = {.kind = BLOCK_REASONING, .text = slice_of("hm")});
    CHECK("{'type':'tool_call_start','index':2,'id':'c1','name':'greet'}",
          .kind = EVENT_BLOCK_START,
          .as.block = {.kind = BLOCK_TOOL_USE, .index = 2, .id = "c1", .name = "greet"});
    CHECK("{'type':'tool_call_delta','index':2,'json':'{\\u0022a'}", .kind = EVENT_BLOCK_DELTA,
          .as.block = {.kind = BLOCK_TOOL_USE, .index = 2, .text = slice_of("{\"a")});
}

static void test_tool_calls(void **state)
{
    (void)state;
    CHECK("{'type':'tool_call','id':'c1','name':'t','arguments':{'a':[1,null]},'valid':true}",
          .kind = EVENT_TOOL_CALL,
          .as.tool_call = {.id = "c1",
                           .name = "t",
                           .arguments = slice_of("{\"a\":\n[1,null]}"),
                           .valid = true});
    CHECK("{'type':'tool_call','id':'c1','name':'t','arguments':null,'arguments_raw':'{oops',"
          "'valid':false}",
          .kind = EVENT_TOOL_CALL,
          .as.tool_call = {.id = "c1", .name = "t", .arguments = slice_of("{oops")});
}

static void test_tool_progress(void **state)
{
    (void)state;
    CHECK("{'type':'tool_progress','id':'c1','stream':'stdout','text':'line\\n'}",
          .kind = EVENT_TOOL_PROGRESS,
          .as.tool_progress = {.id = "c1", .stream = "stdout", .text = slice_of("line\n")});
    json_t *numeric = line_of((struct event){
        .kind = EVENT_TOOL_PROGRESS,
        .as.tool_progress = {.id = "c1", .text = slice_of("half"), .done = 0.5, .total = 1}});
    assert_true(json_real_value(json_object_get(numeric, "done")) == 0.5);
    assert_true(json_number_value(json_object_get(numeric, "total")) == 1);
    json_decref(numeric);
}

static void test_tool_results(void **state)
{
    (void)state;
    CHECK("{'type':'tool_result','id':'c1','name':'t','success':true,'result':'ok','error':null,"
          "'duration_ms':1.5,'parts':[{'mime_type':'image/png','name':'a.png','bytes':67}]}",
          .kind = EVENT_TOOL_RESULT,
          .as.tool_result = {.id = "c1",
                             .name = "t",
                             .success = true,
                             .result = slice_of("ok"),
                             .duration_us = 1500,
                             .parts = &(struct event_part){"image/png", "a.png", NULL, 67},
                             .part_count = 1});
    CHECK("{'type':'tool_result','id':'c1','name':'t','success':false,'result':'no',"
          "'error':{'component':'db','category':'not_found','code':'db.row','message':'no',"
          "'retryable':false},'duration_ms':0.0,"
          "'parts':[]}",
          .kind = EVENT_TOOL_RESULT,
          .as.tool_result = {.id = "c1",
                             .name = "t",
                             .result = slice_of("no"),
                             .component = "db",
                             .category = "not_found",
                             .code = "db.row"});
}

static void test_notices(void **state)
{
    (void)state;
    const struct error error = {
        .kind = ERROR_RATE_LIMIT, .message = "slow down", .retryable = true};
    CHECK("{'type':'status','text':'cut'}", .kind = EVENT_STATUS,
          .as.status.text = slice_of("cut"));
    CHECK("{'type':'retry','attempt':1,'wait_ms':500,'reason':'slow down'}", .kind = EVENT_RETRY,
          .as.retry = {1, 500, &error});
    CHECK("{'type':'reset','reason':'slow down'}", .kind = EVENT_RESET,
          .as.reset.reason = "slow down");
    CHECK("{'type':'hook','hook':'h','event':'PreToolCall','decision':'skip','reason':null}",
          .kind = EVENT_HOOK, .as.hook = {"h", "PreToolCall", "skip", NULL});
    CHECK("{'type':'error','kind':'rate_limit','message':'slow down','retryable':true}",
          .kind = EVENT_ERROR, .as.error = &error);
}

static void test_error_kinds(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bad_request",
                                        "auth",
                                        "context_overflow",
                                        "rate_limit",
                                        "overloaded",
                                        "server",
                                        "stream_truncated",
                                        "timeout",
                                        "content_filter",
                                        "tool_call_malformed",
                                        "network",
                                        "cancelled",
                                        "hook",
                                        "limit",
                                        "internal"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        bool found = false;
        for (enum error_kind kind = ERROR_NONE; kind <= ERROR_INTERNAL; kind++)
            found = found || strcmp(error_kind_name(kind), kinds[i]) == 0;
        if (!found)
            fail_msg("no kind '%s'", kinds[i]);
    }
}

static void test_usage_and_result(void **state)
{
    (void)state;
    const struct usage usage = {10, 5, 3, -1, -1};
    CHECK("{'type':'usage','input_tokens':10,'output_tokens':5,'cached_tokens':3}",
          .kind = EVENT_USAGE, .as.usage = usage);
    CHECK("{'type':'result','status':'finished','text':'Hi','exit_code':0,'session':null,"
          "'turns':2,'usage':{'input_tokens':10,'output_tokens':5,'cached_tokens':3},"
          "'duration_ms':12,'tools':[]}",
          .kind = EVENT_RESULT,
          .as.result = {.status = "finished",
                        .text = slice_of("Hi"),
                        .turns = 2,
                        .usage = usage,
                        .duration_ms = 12});
}

static void test_events_without_a_line(void **state)
{
    (void)state;
    EMIT(.kind = EVENT_BLOCK_START, .as.block = {.kind = BLOCK_TEXT});
    EMIT(.kind = EVENT_BLOCK_STOP, .as.block = {.kind = BLOCK_TEXT});
    EMIT(.kind = EVENT_PING);
    EMIT(.kind = EVENT_STOP, .as.stop.reason = STOP_END);
    EMIT(.kind = EVENT_VERBATIM);
    EMIT(.kind = EVENT_SETTLED);
    output_flush(&output);
    assert_string_equal(capture_read(&capture), "");
}

/* ---- how it is written ---- */

static void test_lines_come_in_time(void **state)
{
    (void)state;
    EMIT(.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = BLOCK_TEXT, .text = slice_of("a")});
    EMIT(.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = BLOCK_TEXT, .text = slice_of("b")});
    EMIT(.kind = EVENT_SETTLED);
    const char *lines = capture_read(&capture);
    assert_non_null(strstr(lines, "\"a\"}\n{"));
    assert_non_null(strstr(lines, "\"b\"}\n"));
    EMIT(.kind = EVENT_TURN_START);
    assert_non_null(strstr(capture_read(&capture), "turn_start"));
}

/* Also where a line goes to a terminal, it is one line and harmless. */
static void test_lines_on_a_terminal(void **state)
{
    (void)state;
    struct output terminal;
    struct capture shown;
    struct jsonl other;
    struct timeline events;
    timeline_init(&events);
    capture_terminal(&shown);
    output_init(&terminal, shown.writer, COLOR_ALWAYS);
    assert_true(jsonl_register(&other, &terminal, &events));
    timeline_emit(&events, &(struct event){.kind = EVENT_STATUS,
                                           .as.status.text = slice_of("\033[2J\x7f\xC2\x9Bx\n")});
    output_release(&terminal);
    assert_string_equal(capture_read(&shown),
                        "{\"type\":\"status\",\"text\":\"\\u001b[2Jx\\n\"}\n");
    jsonl_release(&other);
    timeline_release(&events);
    capture_close(&shown);
}

/* D24, in every form in which a key can stand in JSON. */
static void test_redaction(void **state)
{
    (void)state;
    static const char key[] = "sk-\"quoted\"/0123456789";
    assert_true(secret_add(key, strlen(key)));
    CHECK("{'type':'status','text':'key [redacted].'}", .kind = EVENT_STATUS,
          .as.status.text = slice_of("key sk-\"quoted\"/0123456789."));
    json_t *line = line_of((struct event){
        .kind = EVENT_TOOL_CALL,
        .as.tool_call = {.id = "c1",
                         .name = "t",
                         .arguments = slice_of("{\"k\":\"sk-\\\"quoted\\\"\\/0123456789\"}"),
                         .valid = true}});
    json_decref(line);
    assert_null(strstr(capture.text, "0123456789"));
    assert_non_null(strstr(capture.text, "[redacted]"));
}

static void test_failing_descriptor(void **state)
{
    (void)state;
    struct output full;
    struct jsonl other;
    struct timeline events;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    timeline_init(&events);
    output_init(&full, fd, COLOR_NEVER);
    assert_true(jsonl_register(&other, &full, &events));
    timeline_emit(&events, &(struct event){.kind = EVENT_TURN_START});
    assert_true(full.failed);
    assert_int_equal(full.failure, ENOSPC);
    output_release(&full);
    jsonl_release(&other);
    timeline_release(&events);
    close(fd);
}

/* A line that cannot be built is a failure that is told with its reason, not a gap. */
static void test_no_memory(void **state)
{
    (void)state;
    fail_after(0);
    EMIT(.kind = EVENT_STATUS, .as.status.text = slice_of("text"));
    fail_never();
    assert_true(output.failed);
    assert_int_equal(output.failure, ENOMEM);

    struct timeline events;
    struct jsonl other;
    timeline_init(&events);
    fail_after(0);
    bool registered = jsonl_register(&other, &output, &events);
    fail_never();
    assert_false(registered);
    jsonl_release(&other);
    timeline_release(&events);
}

#define ON_STREAM(test) cmocka_unit_test_setup_teardown(test, open_stream, close_stream)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STREAM(test_run_and_turns),
        ON_STREAM(test_deltas),
        ON_STREAM(test_tool_calls),
        ON_STREAM(test_tool_progress),
        ON_STREAM(test_tool_results),
        ON_STREAM(test_notices),
        ON_STREAM(test_error_kinds),
        ON_STREAM(test_usage_and_result),
        ON_STREAM(test_events_without_a_line),
        ON_STREAM(test_lines_come_in_time),
        ON_STREAM(test_lines_on_a_terminal),
        ON_STREAM(test_redaction),
        ON_STREAM(test_failing_descriptor),
        ON_STREAM(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

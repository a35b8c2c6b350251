/* The scripted model: what the file says is what the stream gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "provider/script.h"
#include "trace.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct scene {
    char path[64];
    struct client *client;
    struct error error;
    struct timeline timeline;
    struct stream stream;
    struct text trace;
    struct cancel *cancel;
};

static void scene_init(struct scene *scene, const char *script)
{
    *scene = (struct scene){.path = "/tmp/mortise-script-XXXXXX", .error = ERROR_INIT};
    int file = mkstemp(scene->path);
    assert_true(file >= 0);
    assert_int_equal(write(file, script, strlen(script)), (ssize_t)strlen(script));
    close(file);
    scene->client = script_client_new(scene->path, &scene->error);
    scene->cancel = cancel_new();
    assert_true(timeline_add(&scene->timeline, EVENT_ALL, trace_event, &scene->trace));
    stream_init(&scene->stream, &scene->timeline);
}

static void scene_release(struct scene *scene)
{
    if (scene->client)
        scene->client->ops->free(scene->client);
    stream_release(&scene->stream);
    timeline_release(&scene->timeline);
    text_release(&scene->trace);
    cancel_unref(scene->cancel);
    unlink(scene->path);
}

static bool attempt_until(struct scene *scene, const struct request *request, int64_t deadline_ms)
{
    text_reset(&scene->trace);
    stream_begin(&scene->stream);
    scene->client->ops->attempt(scene->client, request, &scene->stream, scene->cancel, deadline_ms);
    return scene->stream.error.kind == ERROR_NONE;
}

static bool attempt(struct scene *scene)
{
    return attempt_until(scene, &(struct request){0}, -1);
}

static void test_a_whole_turn(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"reasoning\":\"hm\",\"text\":\"Hi \u00e9\u00e9\",\"chunk\":4,"
                       "\"calls\":[{\"id\":\"c1\",\"name\":\"greet\",\"arguments\":{\"n\": 1}},"
                       "{\"id\":\"c2\",\"name\":\"x\",\"arguments\":\"{oops\"}],"
                       "\"usage\":{\"input_tokens\":3,\"cached_tokens\":0}}]}");
    assert_non_null(scene.client);
    assert_string_equal(scene.client->provider, "script");
    assert_true(attempt(&scene));
    assert_string_equal(
        scene.trace.data,
        "open reasoning 0 | delta 0 hm | close 0 hm | open text 1 | delta 1 Hi  | "
        "delta 1 \u00e9\u00e9 | close 1 Hi \u00e9\u00e9 | open tool_call 2 c1 greet | "
        "delta 2 {\"n\" | delta 2 :1} | close 2 {\"n\":1} | open tool_call 3 c2 x | "
        "delta 3 {oop | delta 3 s | close 3 {oops | "
        "{\"type\":\"usage\",\"input_tokens\":3,\"cached_tokens\":0} | stop tool_use");
    scene_release(&scene);
}

/* A piece holds at least one character, however small `chunk` is. */
static void test_pieces_are_whole_characters(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"text\":\"a\u20acb\",\"chunk\":1}]}");
    assert_true(attempt(&scene));
    assert_string_equal(scene.trace.data, "open text 0 | delta 0 a | delta 0 \u20ac | delta 0 b | "
                                          "close 0 a\u20acb | stop end");
    scene_release(&scene);
}

static void test_stop_reasons(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(
        &scene,
        "{\"turns\":[{},{\"stop\":\"length\"},{\"refusal\":\"no\",\"stop\":\"refusal\"},"
        "{\"stop\":\"pause\"},{\"stop\":\"content_filter\"},{\"text\":\"x\",\"stop\":null}]}");
    static const enum stop_reason wanted[] = {STOP_END, STOP_LENGTH, STOP_REFUSAL, STOP_PAUSE,
                                              STOP_CONTENT_FILTER};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_true(attempt(&scene));
        assert_int_equal(scene.stream.stop, wanted[i]);
    }
    assert_false(attempt(&scene)); /* D3: broken off */
    assert_int_equal(scene.stream.error.kind, ERROR_STREAM_TRUNCATED);
    scene_release(&scene);
}

/* D11, D22: an error may come at once or after some text; the next attempt gets the next turn. */
static void test_errors_and_the_turn_after(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"error\":{\"kind\":\"rate_limit\",\"message\":\"slow down\","
                       "\"retryable\":true}},{\"text\":\"x\",\"error\":{}},{\"text\":\"ok\"}]}");
    assert_false(attempt(&scene));
    assert_int_equal(scene.stream.error.kind, ERROR_RATE_LIMIT);
    assert_true(scene.stream.error.retryable);
    assert_string_equal(scene.stream.error.message, "slow down");
    assert_int_equal(scene.trace.length, 0);
    assert_false(attempt(&scene));
    assert_int_equal(scene.stream.error.kind, ERROR_SERVER);
    assert_string_equal(scene.trace.data, "open text 0 | delta 0 x | close 0 x | stop error");
    assert_true(attempt(&scene));
    assert_false(attempt(&scene));
    assert_int_equal(scene.stream.error.kind, ERROR_BAD_REQUEST);
    assert_non_null(strstr(scene.stream.error.message, "no turn 4"));
    assert_false(scene.stream.error.retryable);
    scene_release(&scene);
}

static void test_expectations(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene,
               "{\"turns\":[{\"expect\":[\"be brief\",\"Weather?\",\"function_call_output\","
               "\"get_weather\"]},{\"expect\":[\"Weather?\",\"snow\"]}]}");
    struct item *items[] = {item_message(ROLE_USER, PART_INPUT_TEXT, "Weather?", 8),
                            item_call("c", "n", "{}", 2, true), item_output("c", "rain", 4, false)};
    struct tool_definition tools[] = {{"get_weather", "", "{}"}};
    struct toolset set = {.items = tools, .count = 1};
    struct request request = {
        .system = "be brief", .items = items, .item_count = COUNT(items), .tools = &set};
    assert_true(attempt_until(&scene, &request, -1));
    assert_false(attempt_until(&scene, &request, -1));
    assert_int_equal(scene.stream.error.kind, ERROR_INTERNAL);
    assert_non_null(strstr(scene.stream.error.message, "turn 2"));
    assert_non_null(strstr(scene.stream.error.message, "'snow'"));
    for (size_t i = 0; i < COUNT(items); i++)
        item_unref(items[i]);
    scene_release(&scene);
}

static void *cancel_soon(void *cancel)
{
    usleep(30000);
    cancel_trigger(cancel);
    return NULL;
}

/* W51: a wait ends at once. */
static void test_cancel_ends_a_delay(void **state)
{
    (void)state;
    struct scene scene;
    pthread_t thread;
    scene_init(&scene, "{\"turns\":[{\"text\":\"x\",\"delay_ms\":60000}]}");
    int64_t start = clock_ms();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, scene.cancel), 0);
    assert_false(attempt(&scene));
    pthread_join(thread, NULL);
    assert_in_range(clock_ms() - start, 0, 5000);
    assert_int_equal(scene.stream.error.kind, ERROR_CANCELLED);
    assert_false(scene.stream.error.retryable);
    scene_release(&scene);
}

static void test_the_deadline_ends_a_delay(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"text\":\"x\",\"delay_ms\":60000}]}");
    int64_t start = clock_ms();
    assert_false(attempt_until(&scene, &(struct request){0}, start + 20));
    assert_in_range(clock_ms() - start, 20, 5000);
    assert_int_equal(scene.stream.error.kind, ERROR_TIMEOUT);
    scene_release(&scene);
}

static void test_delays_pass(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"text\":\"abc\",\"chunk\":1,\"delay_ms\":10}]}");
    int64_t start = clock_ms();
    assert_true(attempt(&scene));
    assert_in_range(clock_ms() - start, 30, 5000);
    assert_non_null(strstr(scene.trace.data, "settled | delta 0 b"));
    scene_release(&scene);
}

/* Everything wrong with a script is said before the first request. */
static void test_refuses_a_bad_script(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{", "invalid JSON"},
        {"[]", "'turns'"},
        {"{\"turns\":[],\"more\":1}", "'turns'"},
        {"{\"turns\":[1]}", "turn 1: must be an object"},
        {"{\"turns\":[{},{\"txt\":\"x\"}]}", "turn 2: member 'txt' is not known"},
        {"{\"turns\":[{\"text\":1}]}", "turn 1: 'text' must be a string"},
        {"{\"turns\":[{\"stop\":\"tired\"}]}", "turn 1: 'stop' must be"},
        {"{\"turns\":[{\"chunk\":0}]}", "turn 1: 'chunk' must be"},
        {"{\"turns\":[{\"delay_ms\":-1}]}", "turn 1: 'delay_ms' must be"},
        {"{\"turns\":[{\"expect\":[1]}]}", "turn 1: 'expect' must be a list of strings"},
        {"{\"turns\":[{\"calls\":{}}]}", "turn 1: 'calls' must be a list"},
        {"{\"turns\":[{\"calls\":[{}]}]}", "turn 1: 'calls[0]' must be an object with a name"},
        {"{\"turns\":[{\"calls\":[{\"name\":\"n\",\"args\":{}}]}]}", "member 'calls[0].args'"},
        {"{\"turns\":[{\"calls\":[{\"name\":\"n\",\"arguments\":[]}]}]}", "'calls[0].arguments'"},
        {"{\"turns\":[{\"usage\":{\"input\":1}}]}", "member 'usage.input' is not known"},
        {"{\"turns\":[{\"usage\":{\"input_tokens\":\"1\"}}]}", "'usage.input_tokens' must be"},
        {"{\"turns\":[{\"error\":{\"kind\":\"bad\"}}]}", "'error.kind' must be the kind"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scene scene;
        scene_init(&scene, cases[i][0]);
        assert_null(scene.client);
        assert_int_equal(scene.error.kind, ERROR_CONFIG);
        assert_non_null(strstr(scene.error.message, scene.path));
        assert_non_null(strstr(scene.error.message, cases[i][1]));
        scene_release(&scene);
    }
}

static void test_no_such_file(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_null(script_client_new("/nonexistent/script.json", &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, "/nonexistent/script.json"));
    assert_null(script_client_new("/nonexistent/script.json", NULL));
}

static void test_no_memory(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "{\"turns\":[{\"text\":\"x\",\"calls\":[{\"name\":\"n\","
                       "\"arguments\":{\"a\":1}}],\"expect\":[\"\\n\"]}]}");
    for (int count = 0;; count++) {
        struct error error = ERROR_INIT;
        fail_after(count);
        struct client *client = script_client_new(scene.path, &error);
        bool failed = fail_never();
        assert_true(client ? error.kind == ERROR_NONE : error.kind == ERROR_INTERNAL);
        if (client)
            client->ops->free(client);
        if (!failed)
            break;
    }
    scene_release(&scene);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_turn),
        cmocka_unit_test(test_pieces_are_whole_characters),
        cmocka_unit_test(test_stop_reasons),
        cmocka_unit_test(test_errors_and_the_turn_after),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_cancel_ends_a_delay),
        cmocka_unit_test(test_the_deadline_ends_a_delay),
        cmocka_unit_test(test_delays_pass),
        cmocka_unit_test(test_refuses_a_bad_script),
        cmocka_unit_test(test_no_such_file),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

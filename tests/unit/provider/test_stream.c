/* What a decoder tells a stream, and what the stream tells the timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "unit/base/failing.h"

#define FFFD  "\xEF\xBF\xBD"
#define SMILE "\xF0\x9F\x98\x80"

struct scene {
    struct timeline timeline;
    struct stream stream;
    struct text trace;
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){.trace = TEXT_INIT};
    timeline_init(&scene->timeline);
    assert_true(timeline_add(&scene->timeline, EVENT_ALL, trace_event, &scene->trace));
    stream_init(&scene->stream, &scene->timeline);
    stream_begin(&scene->stream);
}

static void scene_release(struct scene *scene)
{
    stream_release(&scene->stream);
    timeline_release(&scene->timeline);
    text_release(&scene->trace);
}

static void delta(struct scene *scene, int block, const char *text)
{
    stream_delta(&scene->stream, block, text, strlen(text), false);
}

/* The string of one JSON event, split as the server split it. */
static void delta_json(struct scene *scene, int block, const char *json)
{
    bool lone;
    json_t *value = json_parse(json, strlen(json), &lone, NULL);
    assert_true(json_is_string(value));
    stream_delta(&scene->stream, block, json_string_value(value), json_string_length(value), lone);
    json_decref(value);
}

static int open_text(struct scene *scene)
{
    return stream_open(&scene->stream, BLOCK_TEXT, NULL, NULL);
}

static int open_call(struct scene *scene, const char *id)
{
    return stream_open(&scene->stream, BLOCK_TOOL_USE, id, "tool");
}

/* D2: what is left open is closed at the end, with its whole text. */
static void test_a_response(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    int text = open_text(&scene);
    delta(&scene, text, "Hel");
    delta(&scene, text, "");
    delta(&scene, text, "lo");
    int call = open_call(&scene, "c1");
    delta(&scene, call, "{}");
    stream_close(&scene.stream, text);
    stream_close(&scene.stream, text);
    delta(&scene, text, "late");
    stream_ping(&scene.stream);
    stream_verbatim(&scene.stream, "[1]", 3);
    stream_stop(&scene.stream, STOP_END);
    stream_stop(&scene.stream, STOP_TOOL_USE);
    assert_true(stream_finish(&scene.stream));
    assert_string_equal(scene.trace.data,
                        "open text 0 | delta 0 Hel | delta 0 lo | open tool_call 1 c1 tool | "
                        "delta 1 {} | close 0 Hello | ping | verbatim [1] | close 1 {} | "
                        "stop tool_use");
    assert_int_equal(scene.stream.event_count, 9);
    stream_settled(&scene.stream);
    assert_int_equal(scene.stream.event_count, 9);
    scene_release(&scene);
}

/* D14 */
static bool is_used(void *context, const char *id)
{
    return !strcmp(context, id);
}

static void test_calls_get_ids_of_their_own(void **state)
{
    (void)state;
    struct scene scene;
    char old[] = "old";
    scene_init(&scene);
    scene.stream.id_taken = is_used;
    scene.stream.id_context = old;
    static const char *const ids[] = {"c1", "c1", NULL, "", "old", "c2"};
    for (int i = 0; i < 6; i++)
        assert_int_equal(open_call(&scene, ids[i]), i);
    for (int i = 0; i < 6; i++) {
        const char *id = stream_call_id(&scene.stream, i);
        assert_true(*id && strcmp(id, "old") != 0 && strlen(id) <= 64);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(id, stream_call_id(&scene.stream, j));
    }
    assert_string_equal(stream_call_id(&scene.stream, 0), "c1");
    assert_string_equal(stream_call_id(&scene.stream, 5), "c2");
    assert_null(stream_call_id(&scene.stream, -1));
    scene_release(&scene);
}

/* FAULTS 15: halves are joined within their own block only; one that stays alone becomes
 * U+FFFD, also when the block ends. */
static void test_split_surrogates(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    int one = open_text(&scene), two = open_text(&scene);
    delta_json(&scene, one, "\"a\\ud83d\"");
    delta_json(&scene, two, "\"\\ude00\"");
    delta_json(&scene, one, "\"\\ude00b\"");
    delta_json(&scene, two, "\"\\ud83d\"");
    stream_stop(&scene.stream, STOP_END);
    assert_true(stream_finish(&scene.stream));
    assert_string_equal(scene.trace.data,
                        "open text 0 | open text 1 | delta 0 a | delta 1 " FFFD " | delta 0 " SMILE
                        "b | close 0 a" SMILE "b | delta 1 " FFFD " | close 1 " FFFD FFFD
                        " | stop end");
    scene_release(&scene);
}

/* FAULTS 108: numbers come in parts, and a zero at the end takes nothing back. */
static void test_merges_usage(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    stream_usage(&scene.stream, &(struct usage){.input_tokens = 20,
                                                .output_tokens = 1,
                                                .cached_tokens = 0,
                                                .cache_write_tokens = -1,
                                                .reasoning_tokens = -1});
    stream_usage(&scene.stream, &(struct usage){0, 9, -1, -1, -1});
    stream_stop(&scene.stream, STOP_END);
    assert_true(stream_finish(&scene.stream));
    assert_string_equal(scene.trace.data,
                        "{\"type\":\"usage\",\"input_tokens\":20,\"output_tokens\":9,"
                        "\"cached_tokens\":0} | stop end");
    scene_release(&scene);
}

/* D3, FAULTS 23: without terminal evidence a response is not whole. */
static void test_truncated(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    assert_false(stream_has_shown(&scene.stream));
    delta(&scene, open_text(&scene), "half");
    assert_true(stream_has_shown(&scene.stream));
    assert_false(stream_finish(&scene.stream));
    assert_int_equal(scene.stream.error.kind, ERROR_STREAM_TRUNCATED);
    assert_true(scene.stream.error.retryable);
    assert_string_equal(scene.trace.data, "open text 0 | delta 0 half | close 0 half");
    scene_release(&scene);
}

/* D22: the first error stays, and nothing is shown after it. */
static void test_error_in_the_middle(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = ERROR_INIT, other = ERROR_INIT;
    error_set(&error, ERROR_OVERLOADED, "busy");
    error_set(&other, ERROR_NETWORK, "reset");
    scene_init(&scene);
    int text = open_text(&scene);
    delta(&scene, text, "half");
    stream_stop(&scene.stream, STOP_END);
    stream_fail(&scene.stream, &error);
    stream_fail(&scene.stream, &other);
    assert_true(scene.stream.ended);
    delta(&scene, text, " more");
    assert_int_equal(open_call(&scene, "c1"), -1);
    assert_false(stream_finish(&scene.stream));
    assert_string_equal(scene.stream.error.message, "busy");
    assert_string_equal(scene.trace.data, "open text 0 | delta 0 half | close 0 half | stop error");
    scene_release(&scene);
}

static void test_stop_error_alone_is_an_error(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    stream_stop(&scene.stream, STOP_ERROR);
    assert_false(stream_finish(&scene.stream));
    assert_int_equal(scene.stream.error.kind, ERROR_SERVER);
    scene_release(&scene);
}

/* FAULTS 114: a filter that tells its reason stays a filter. */
static void test_a_filter_is_named(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = ERROR_INIT;
    scene_init(&scene);
    error_set(&error, ERROR_CONTENT_FILTER, "SAFETY");
    stream_stop(&scene.stream, STOP_CONTENT_FILTER);
    stream_fail(&scene.stream, &error);
    assert_false(stream_finish(&scene.stream));
    assert_string_equal(scene.trace.data, "stop content_filter");
    scene_release(&scene);
}

/* D11: an attempt leaves nothing to the next one. */
static void test_begin_forgets(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    delta(&scene, open_call(&scene, "c1"), "{");
    stream_usage(&scene.stream, &(struct usage){1, 1, 1, 1, 1});
    assert_false(stream_finish(&scene.stream));
    stream_begin(&scene.stream);
    text_reset(&scene.trace);
    assert_false(stream_has_shown(&scene.stream) || scene.stream.ended);
    assert_int_equal(open_call(&scene, "c1"), 0);
    stream_stop(&scene.stream, STOP_TOOL_USE);
    assert_true(stream_finish(&scene.stream));
    assert_string_equal(scene.trace.data, "open tool_call 0 c1 tool | close 0  | stop tool_use");
    scene_release(&scene);
}

/* FAULTS 146 */
static void test_too_many_blocks(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    for (int i = 0; i < STREAM_MAX_BLOCKS; i++)
        assert_int_equal(open_call(&scene, NULL), i);
    assert_int_equal(open_call(&scene, NULL), -1);
    assert_false(stream_finish(&scene.stream));
    assert_int_equal(scene.stream.error.kind, ERROR_SERVER);
    scene_release(&scene);
}

static void discard(void *self, const struct event *event)
{
    (void)self, (void)event;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int count = 0;; count++) {
        struct scene scene = {.trace = TEXT_INIT};
        assert_true(timeline_add(&scene.timeline, EVENT_ALL, discard, NULL));
        stream_init(&scene.stream, &scene.timeline);
        fail_after(count);
        delta(&scene, open_text(&scene), "text");
        delta(&scene, open_call(&scene, NULL), "{}");
        stream_stop(&scene.stream, STOP_END);
        bool finished = stream_finish(&scene.stream);
        bool failed = fail_never();
        assert_int_equal(finished, !failed);
        scene_release(&scene);
        if (!failed)
            break;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_response),
        cmocka_unit_test(test_calls_get_ids_of_their_own),
        cmocka_unit_test(test_split_surrogates),
        cmocka_unit_test(test_merges_usage),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_error_in_the_middle),
        cmocka_unit_test(test_stop_error_alone_is_an_error),
        cmocka_unit_test(test_a_filter_is_named),
        cmocka_unit_test(test_begin_forgets),
        cmocka_unit_test(test_too_many_blocks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

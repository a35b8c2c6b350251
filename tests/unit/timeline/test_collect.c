#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "timeline/collect.h"
#include "unit/base/failing.h"

struct scene {
    struct timeline timeline;
    struct collect collect;
};

static void scene_init(struct scene *scene)
{
    timeline_init(&scene->timeline);
    collect_init(&scene->collect);
    assert_true(collect_register(&scene->collect, &scene->timeline));
}

static void scene_release(struct scene *scene)
{
    collect_release(&scene->collect);
    timeline_release(&scene->timeline);
}

static void start(struct scene *scene, enum block_kind kind, unsigned index, const char *id,
                  const char *name)
{
    struct event event = {.kind = EVENT_BLOCK_START,
                          .as.block = {.kind = kind, .index = index, .id = id, .name = name}};
    timeline_emit(&scene->timeline, &event);
}

static void delta(struct scene *scene, unsigned index, const char *text)
{
    struct event event = {.kind = EVENT_BLOCK_DELTA,
                          .as.block = {.index = index, .text = {text, strlen(text)}}};
    timeline_emit(&scene->timeline, &event);
}

static void stop(struct scene *scene, unsigned index)
{
    struct event event = {.kind = EVENT_BLOCK_STOP, .as.block = {.index = index}};
    timeline_emit(&scene->timeline, &event);
}

static void assert_text(const struct scene *scene, enum block_kind kind, const char *wanted)
{
    struct text text = TEXT_INIT;
    collect_text(&scene->collect, kind, &text);
    assert_string_equal(text_cstr(&text), wanted);
    text_release(&text);
}

/* W29, D2: blocks are told apart by their index however their deltas are mixed. */
static void test_interleaved_calls(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, BLOCK_TOOL_USE, 0, "c1", "first");
    start(&scene, BLOCK_TOOL_USE, 1, "c2", "second");
    delta(&scene, 1, "{\"b\":");
    delta(&scene, 0, "{\"a\":1");
    delta(&scene, 1, "2}");
    delta(&scene, 0, "}");
    stop(&scene, 1);
    stop(&scene, 0);
    const struct collected_block *calls = scene.collect.items;
    assert_int_equal(scene.collect.count, 2);
    assert_string_equal(calls[0].id, "c1");
    assert_string_equal(calls[0].name, "first");
    assert_string_equal(calls[0].text.data, "{\"a\":1}");
    assert_string_equal(calls[1].text.data, "{\"b\":2}");
    assert_false(calls[0].open || calls[1].open);
    scene_release(&scene);
}

/* W30 */
static void test_joins_text_by_kind(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, BLOCK_TEXT, 0, NULL, NULL);
    delta(&scene, 0, "Hello ");
    start(&scene, BLOCK_REASONING, 1, NULL, NULL);
    delta(&scene, 1, "hm");
    start(&scene, BLOCK_TEXT, 2, NULL, NULL);
    delta(&scene, 2, "world");
    delta(&scene, 9, "of no block");
    assert_text(&scene, BLOCK_TEXT, "Hello world");
    assert_text(&scene, BLOCK_REASONING, "hm");
    assert_text(&scene, BLOCK_REFUSAL, "");
    scene_release(&scene);
}

static void test_keeps_stop_usage_and_verbatim(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    timeline_emit(&scene.timeline,
                  &(struct event){.kind = EVENT_STOP, .as.stop.reason = STOP_LENGTH});
    timeline_emit(&scene.timeline,
                  &(struct event){.kind = EVENT_USAGE, .as.usage = {7, 8, -1, -1, -1}});
    timeline_emit(&scene.timeline,
                  &(struct event){.kind = EVENT_VERBATIM, .as.verbatim.json = {"[1]", 3}});
    assert_int_equal(scene.collect.stop, STOP_LENGTH);
    assert_int_equal(scene.collect.usage.output_tokens, 8);
    assert_string_equal(text_cstr(&scene.collect.verbatim), "[1]");
    scene_release(&scene);
}

/* D2, D11: nothing of a failed attempt, or of the request before, is left. */
static void test_reset_and_begin_empty_it(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    for (int round = 0; round < 2; round++) {
        start(&scene, BLOCK_TEXT, 0, NULL, NULL);
        delta(&scene, 0, "old");
        timeline_emit(&scene.timeline,
                      &(struct event){.kind = EVENT_STOP, .as.stop.reason = STOP_END});
        timeline_emit(&scene.timeline,
                      &(struct event){.kind = EVENT_VERBATIM, .as.verbatim.json = {"[1]", 3}});
        if (round == 0)
            timeline_emit(&scene.timeline, &(struct event){.kind = EVENT_RESET});
        else
            collect_begin(&scene.collect);
        assert_int_equal(scene.collect.count, 0);
        assert_int_equal(scene.collect.stop, STOP_UNKNOWN);
        assert_int_equal(scene.collect.usage.input_tokens, -1);
        assert_int_equal(scene.collect.verbatim.length, 0);
    }
    scene_release(&scene);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int count = 0;; count++) {
        struct scene scene;
        scene_init(&scene);
        fail_after(count);
        start(&scene, BLOCK_TEXT, 0, NULL, NULL);
        delta(&scene, 0, "text");
        timeline_emit(&scene.timeline,
                      &(struct event){.kind = EVENT_VERBATIM, .as.verbatim.json = {"[1]", 3}});
        bool failed = fail_never();
        assert_int_equal(scene.collect.failed, failed);
        collect_begin(&scene.collect);
        assert_false(scene.collect.failed);
        scene_release(&scene);
        if (!failed)
            break;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleaved_calls),
        cmocka_unit_test(test_joins_text_by_kind),
        cmocka_unit_test(test_keeps_stop_usage_and_verbatim),
        cmocka_unit_test(test_reset_and_begin_empty_it),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

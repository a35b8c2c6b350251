/* A batch from its calls to its results: W31-W36, W45-W46, F39-F41, F48, F54-F58. */
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define ANY  .input_schema = "{\"type\":\"object\"}"
#define SAFE (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

/* ---- tools ---- */

struct echo_args {
    const char *text;
    bool seen_text;
};
static const mortise_field echo_fields[] = {
    FAKE_FIELD(echo_args, text, MORTISE_STRING, .flags = MORTISE_REQUIRED)};
FAKE_SHAPE(echo_args, echo_fields);

static mortise_status echo(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    return fake_reply(call, "%s", ((const struct echo_args *)args)->text);
}
FAKE_TOOL(echo, SAFE, .shape = &echo_args_shape);

static mortise_status broken(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return fake_fail(call, MORTISE_UNAVAILABLE, "net", "net.down", "no route");
}
FAKE_TOOL(broken, SAFE, ANY);

/* How many calls are inside at once, and whether safe and unsafe ones ever met. */
static atomic_int inside, most, unsafe_inside, met;
static pthread_barrier_t barrier;

static void enter(bool safe)
{
    int now = atomic_fetch_add(&inside, 1) + 1;
    int before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    int unsafe = safe ? atomic_load(&unsafe_inside) : atomic_fetch_add(&unsafe_inside, 1) + 1;
    if (unsafe && now > 1)
        atomic_store(&met, 1);
}

static void leave(bool safe)
{
    if (!safe)
        atomic_fetch_sub(&unsafe_inside, 1);
    atomic_fetch_sub(&inside, 1);
}

/* Returns only when all that shall be inside together are. */
static mortise_status together(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    enter(true);
    pthread_barrier_wait(&barrier);
    leave(true);
    return fake_reply(call, "met");
}
FAKE_TOOL(together, SAFE, ANY);

static mortise_status writes(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    enter(false);
    usleep(1000);
    leave(false);
    return fake_reply(call, "written");
}
FAKE_TOOL(writes, 0, ANY);

static mortise_status unsafe_together(const mortise_tool *self, mortise_call *call,
                                      const void *args)
{
    return together(self, call, args);
}
FAKE_TOOL(unsafe_together, MORTISE_DESTRUCTIVE, ANY);

static const mortise_tool *const tools[] = {&echo_tool,   &broken_tool,          &together_tool,
                                            &writes_tool, &unsafe_together_tool, NULL};

static void reset_counters(unsigned barrier_count)
{
    atomic_store(&inside, 0);
    atomic_store(&most, 0);
    atomic_store(&unsafe_inside, 0);
    atomic_store(&met, 0);
    pthread_barrier_init(&barrier, NULL, barrier_count);
}

/* ---- results ---- */

/* FAULTS 69, 86, 125.  The main case: one good call, one with broken JSON, an unknown tool, one that fails. */
static void test_one_bad_call_leaves_the_others(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    scene_call(&scene, "c1", "echo", "{\"text\":\"one\"}");
    scene_bad_call(&scene, "c2", "echo", "{\"text\": oops", "the arguments are not valid JSON: …");
    scene_call(&scene, "c3", "teleport", "{}");
    scene_call(&scene, "c4", "broken", "{}");
    scene_call(&scene, "c5", "functions.echo", "{\"text\":\"five\"}");
    scene_call(&scene, "c6", "echo", "{\"txet\":1}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_string_equal(
        scene_told(&scene),
        "result c1 ok: one\n"
        "result c2 invalid_input: Invalid argument: the arguments are not valid JSON: …\n"
        "result c3 not_found: Tool 'teleport' not found. The tools are: broken, echo, together, "
        "unsafe_together, writes\n"
        "result c4 unavailable: net.unavailable: no route\n"
        "result c5 ok: five\n"
        "result c6 invalid_input: Invalid argument: 'text' is required (a string)\n"
        "Invalid argument: 'txet' is not known; did you mean 'text'? (the arguments are 'text')\n");
    assert_string_equal(scene.calls[3].result.code, "net.down"); /* F25 */
    assert_int_equal(scene.calls[2].result.duration_us, 0);      /* R7 */
    assert_true(scene.calls[0].result.duration_us > 0);
    scene_release(&scene);
}

static void test_an_empty_batch(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_string_equal(scene_told(&scene), "");
    scene_release(&scene);
}

static bool only_echo(void *data, const struct tool *tool)
{
    (void)data;
    return strcmp(tool->name, "echo") == 0;
}

static void test_tools_that_are_not_offered_are_unknown(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    scene.dispatch.offered = only_echo;
    scene_call(&scene, "c1", "writes", "{}");
    scene_call(&scene, "c2", "echo", "{\"text\":\"x\"}");
    scene_run(&scene);
    assert_string_equal(scene_told(&scene),
                        "result c1 not_found: Tool 'writes' not found. The tools are: echo\n"
                        "result c2 ok: x\n");
    scene_release(&scene);
}

/* ---- strategies, proven by a barrier and by counters ---- */

static void test_parallel_overlaps_everything(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    reset_counters(6);
    scene.dispatch.strategy = STRATEGY_PARALLEL;
    for (int i = 0; i < 6; i++)
        scene_call(&scene, "c", i % 2 ? "together" : "unsafe_together", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE); /* the barrier would hold it for ever */
    assert_int_equal(atomic_load(&most), 6);
    scene_release(&scene);
}

static void test_auto_runs_reads_together_and_first(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    reset_counters(3);
    scene_call(&scene, "c1", "writes", "{}");
    scene_call(&scene, "c2", "together", "{}");
    scene_call(&scene, "c3", "writes", "{}");
    scene_call(&scene, "c4", "together", "{}");
    scene_call(&scene, "c5", "together", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_int_equal(atomic_load(&most), 3);
    assert_int_equal(atomic_load(&met), 0);
    assert_string_equal(scene_told(&scene), "result c1 ok: written\nresult c2 ok: met\n"
                                            "result c3 ok: written\nresult c4 ok: met\n"
                                            "result c5 ok: met\n");
    scene_release(&scene);
}

static void test_ordered_overlaps_neighbours_only(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    reset_counters(2);
    scene.dispatch.strategy = STRATEGY_ORDERED;
    static const char *const names[] = {"together", "together", "writes", "together", "together"};
    for (int i = 0; i < 5; i++)
        scene_call(&scene, "c", names[i], "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_int_equal(atomic_load(&most), 2);
    assert_int_equal(atomic_load(&met), 0);
    scene_release(&scene);
}

static void test_sequential_is_one_at_a_time(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    reset_counters(1);
    scene.dispatch.strategy = STRATEGY_SEQUENTIAL;
    for (int i = 0; i < 6; i++)
        scene_call(&scene, "c", i % 2 ? "together" : "writes", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_int_equal(atomic_load(&most), 1);
    scene_release(&scene);
}

/* ---- order ---- */

static atomic_bool may_end;

static mortise_status waits(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    while (!atomic_load(&may_end))
        usleep(100);
    return fake_reply(call, "slow");
}
FAKE_TOOL(waits, SAFE, ANY);

static void release_waiting(void *self, const struct event *event)
{
    (void)self;
    if (!strcmp(event->as.tool_result.id, "c1"))
        atomic_store(&may_end, true);
}

/* F58: the first result is out while the second call still runs. */
static void test_a_result_does_not_wait_for_later_ones(void **state)
{
    (void)state;
    static const mortise_tool *const some[] = {&waits_tool, &echo_tool, NULL};
    struct scene scene;
    scene_init(&scene, some, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_RESULT), release_waiting, NULL);
    atomic_store(&may_end, false);
    scene_call(&scene, "c1", "echo", "{\"text\":\"x\"}");
    scene_call(&scene, "c2", "waits", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_string_equal(scene_told(&scene), "result c1 ok: x\nresult c2 ok: slow\n");
    scene_release(&scene);
}

static mortise_status ends_the_wait(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_store(&may_end, true);
    return fake_reply(call, "fast");
}
FAKE_TOOL(ends_the_wait, SAFE, ANY);

/* F57: the second call ends first, and is still told second. */
static void test_results_are_in_call_order(void **state)
{
    (void)state;
    static const mortise_tool *const some[] = {&waits_tool, &ends_the_wait_tool, NULL};
    struct scene scene;
    scene_init(&scene, some, NULL);
    atomic_store(&may_end, false);
    scene_call(&scene, "c1", "waits", "{}");
    scene_call(&scene, "c2", "ends_the_wait", "{}");
    scene_run(&scene);
    assert_string_equal(scene_told(&scene), "result c1 ok: slow\nresult c2 ok: fast\n");
    scene_release(&scene);
}

/* ---- progress ---- */

static void release_on_progress(void *self, const struct event *event)
{
    (void)self, (void)event;
    atomic_store(&may_end, true);
}

static mortise_status talks(const mortise_tool *self, mortise_call *call, const void *args)
{
    call->ops->emit(call, "stdout", "one", 3);
    call->ops->progress(call, 1, 2, "half");
    return waits(self, call, args);
}
FAKE_TOOL(talks, SAFE, ANY);

/* F39, F41: seen before the tool ends, in order, and before its result. */
static void test_progress_is_seen_while_the_tool_runs(void **state)
{
    (void)state;
    static const mortise_tool *const some[] = {&talks_tool, NULL};
    struct scene scene;
    scene_init(&scene, some, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), release_on_progress, NULL);
    atomic_store(&may_end, false);
    scene_call(&scene, "c1", "talks", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_string_equal(scene_told(&scene),
                        "progress c1 stdout: one\nprogress c1 -: half\nresult c1 ok: slow\n");
    scene_release(&scene);
}

static atomic_bool flooded;

static mortise_status floods(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    for (int i = 0; i < 270; i++)
        call->ops->emit(call, "stdout", "x", 1);
    atomic_store(&flooded, true);
    return fake_reply(call, "done");
}
FAKE_TOOL(floods, SAFE, ANY);

static void stall(void *self, const struct event *event)
{
    (void)self, (void)event;
    while (!atomic_load(&flooded))
        usleep(1000);
}

/* F44, F47, F48: nobody takes the progress, yet the tool ends, and the loss is told once. */
static void test_a_stalled_consumer(void **state)
{
    (void)state;
    static const mortise_tool *const some[] = {&floods_tool, NULL};
    struct scene scene;
    scene_init(&scene, some, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), stall, NULL);
    scene_call(&scene, "c1", "floods", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    size_t chunks = 0;
    size_t notices = 0;
    for (const char *line = scene_told(&scene); (line = strstr(line, "progress ")); line++) {
        chunks += !strncmp(line, "progress c1 stdout: x\n", 22);
        notices +=
            strncmp(line, "progress c1 stdout: [mortise: tool progress truncated]\n", 55) == 0;
    }
    assert_in_range(chunks, 256, 258);
    assert_int_equal(notices, 1);
    assert_non_null(strstr(scene_told(&scene), "result c1 ok: done\n"));
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_bad_call_leaves_the_others),
        cmocka_unit_test(test_an_empty_batch),
        cmocka_unit_test(test_tools_that_are_not_offered_are_unknown),
        cmocka_unit_test(test_parallel_overlaps_everything),
        cmocka_unit_test(test_auto_runs_reads_together_and_first),
        cmocka_unit_test(test_ordered_overlaps_neighbours_only),
        cmocka_unit_test(test_sequential_is_one_at_a_time),
        cmocka_unit_test(test_a_result_does_not_wait_for_later_ones),
        cmocka_unit_test(test_results_are_in_call_order),
        cmocka_unit_test(test_progress_is_seen_while_the_tool_runs),
        cmocka_unit_test(test_a_stalled_consumer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

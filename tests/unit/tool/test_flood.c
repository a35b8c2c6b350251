/* Tools that say far more than anybody takes: F44, F46-F49. */
#include "scene.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"

#define NOTICE "[mortise: tool progress truncated]"
#define ANY    .input_schema = "{\"type\":\"object\"}"
#define SAFE   (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)
#define CALLS  32
#define CHUNK  8192

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FLOOD ((size_t)4 << 20) /* per call; the sanitizers look at every byte */
#else
#define FLOOD ((size_t)100 << 20)
#endif

static atomic_int ended;
static atomic_llong longest_ns; /* that a chunk held up its tool */

static void note_wait(long long ns)
{
    long long longest = atomic_load(&longest_ns);
    while (ns > longest && !atomic_compare_exchange_weak(&longest_ns, &longest, ns))
        ;
}

static mortise_status flood(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    char chunk[CHUNK];
    memset(chunk, 'x', sizeof(chunk));
    for (size_t said = 0; said < FLOOD; said += CHUNK) {
        int64_t before_ns = clock_ns();
        call->ops->emit(call, "stdout", chunk, CHUNK);
        note_wait(clock_ns() - before_ns);
    }
    mortise_status status = fake_reply(call, "%s: all was said", call->ops->context(call, "call"));
    atomic_fetch_add(&ended, 1);
    return status;
}
FAKE_TOOL(flood, SAFE, ANY);

/* What each call was shown to say. */
struct seen {
    size_t chunks, notices, bytes;
};
static struct seen seen[CALLS];

static size_t call_number(const char *id)
{
    return (size_t)atoi(id + 1);
}

static void look(void *self, const struct event *event)
{
    (void)self;
    const struct tool_progress *told = event_tool_progress(event);
    struct seen *one = &seen[call_number(told->id)];
    bool notice =
        told->text.length == strlen(NOTICE) && !memcmp(told->text.data, NOTICE, strlen(NOTICE));
    assert_int_equal(told->notice, notice);
    one->notices += notice;
    one->chunks += !notice;
    one->bytes += notice ? 0 : told->text.length;
}

/* Takes nothing until every tool is through. */
static void stall(void *self, const struct event *event)
{
    (void)self, (void)event;
    while (atomic_load(&ended) < CALLS)
        usleep(1000);
}

static size_t peak_bytes(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    size_t peak_kib = 0;
    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak_kib = strtoul(line + 6, NULL, 10);
    fclose(status);
    assert_true(peak_kib > 0);
    return peak_kib << 10;
}

/* F44, F46-F48: memory is bounded, tools are held up once, each call has exactly one notice, and
 * every result is whole. */
static void test_a_consumer_that_stalls(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&flood_tool, NULL};
    static char ids[CALLS][8];
    struct scene scene;
    scene_init(&scene, tools, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), look, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), stall, NULL);
    for (int i = 0; i < CALLS; i++) {
        snprintf(ids[i], sizeof(ids[i]), "c%d", i);
        scene_call(&scene, ids[i], "flood", "{}");
    }
    size_t before = peak_bytes();
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    size_t grown = peak_bytes() - before;
    size_t chunks = 0;
    for (size_t i = 0; i < CALLS; i++) {
        char wanted[40];
        snprintf(wanted, sizeof(wanted), "%s: all was said", ids[i]);
        assert_string_equal(scene_text(&scene, i), wanted);
        assert_int_equal(seen[i].notices, 1);
        assert_true(seen[i].bytes <= (size_t)1 << 20);
        chunks += seen[i].chunks;
    }
    assert_in_range(chunks, 256, 256 + CALLS); /* what was in the queue, and on the way */
    /* 256 chunks, once in the queue and once in what the scene told, and the threads' stacks */
    if (FLOOD > (size_t)4 << 20 && grown > (size_t)24 << 20)
        fail_msg("memory grew by %zu MiB", grown >> 20);
    /* 100 ms, and what a busy machine takes */
    assert_in_range(atomic_load(&longest_ns), 90000000, 1000000000);
    scene_release(&scene);
}

/* F44: a chunk waits for room, up to 100 ms, and is not lost when there is some by then. */
static mortise_status fill(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    for (int i = 0; i < 400; i++)
        call->ops->emit(call, "stdout", "x", 1);
    return fake_reply(call, "filled");
}
FAKE_TOOL(fill, SAFE, ANY);

static void be_slow(void *self, const struct event *event)
{
    (void)self, (void)event;
    usleep(200);
}

static void test_a_slow_consumer_loses_nothing(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&fill_tool, NULL};
    struct scene scene;
    scene_init(&scene, tools, NULL);
    memset(seen, 0, sizeof(seen));
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), look, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), be_slow, NULL);
    scene_call(&scene, "c0", "fill", "{}");
    scene_run(&scene);
    assert_int_equal(seen[0].chunks, 400);
    assert_int_equal(seen[0].notices, 0);
    scene_release(&scene);
}

/* One that stalls costs a tool 100 ms and not 100 ms for each chunk. */
static mortise_status fill_and_time(const mortise_tool *self, mortise_call *call, const void *args)
{
    int64_t before_ns = clock_ns();
    fill(self, call, args);
    atomic_store(&longest_ns, clock_ns() - before_ns);
    atomic_store(&ended, CALLS);
    return fake_reply(call, "filled");
}
FAKE_TOOL(fill_and_time, SAFE, ANY);

static void test_a_tool_waits_once(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&fill_and_time_tool, NULL};
    struct scene scene;
    scene_init(&scene, tools, NULL);
    memset(seen, 0, sizeof(seen));
    atomic_store(&ended, 0);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), look, NULL);
    timeline_add(&scene.timeline, EVENT_BIT(EVENT_TOOL_PROGRESS), stall, NULL);
    scene_call(&scene, "c0", "fill_and_time", "{}");
    scene_run(&scene);
    assert_in_range(atomic_load(&longest_ns), 90000000, 2000000000);
    assert_in_range(seen[0].chunks, 256, 257);
    assert_int_equal(seen[0].notices, 1);
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_consumer_that_stalls),
        cmocka_unit_test(test_a_slow_consumer_loses_nothing),
        cmocka_unit_test(test_a_tool_waits_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

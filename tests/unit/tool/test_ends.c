/* A batch that is cut short: cancel, deadline, tools that do not stop (W52, D4, D16). */
#include "scene.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"

#define ANY  .input_schema = "{\"type\":\"object\"}"
#define SAFE (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

static atomic_int started, polite_ends;
static atomic_bool stuck_may_end, stuck_ended;

static mortise_status quick(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return fake_reply(call, "quick");
}
FAKE_TOOL(quick, SAFE, ANY);

/* Stops when it is told so, by the flag, by the descriptor, or by the callback. */
static mortise_status by_flag(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_fetch_add(&started, 1);
    while (!call->ops->cancelled(call))
        usleep(100);
    atomic_fetch_add(&polite_ends, 1);
    return MORTISE_CANCELLED;
}
FAKE_TOOL(by_flag, SAFE, ANY);

static mortise_status by_fd(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    struct pollfd fd = {.fd = call->ops->cancel_fd(call), .events = POLLIN};
    atomic_fetch_add(&started, 1);
    poll(&fd, 1, 20000);
    atomic_fetch_add(&polite_ends, 1);
    return fake_reply(call, "all the same");
}
FAKE_TOOL(by_fd, SAFE, ANY);

static void finish_cancelled(void *data)
{
    mortise_call *call = data;
    atomic_fetch_add(&polite_ends, 1);
    call->ops->finish(call, MORTISE_CANCELLED);
}

static mortise_status by_callback(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    call->ops->on_cancel(call, finish_cancelled, call);
    atomic_fetch_add(&started, 1);
    return MORTISE_PENDING;
}
FAKE_TOOL(by_callback, SAFE, ANY);

static mortise_status stuck(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_fetch_add(&started, 1);
    while (!atomic_load(&stuck_may_end))
        usleep(1000);
    call->ops->emit(call, "stdout", "to nobody", 9);
    fake_reply(call, "at last");
    atomic_store(&stuck_ended, true);
    return MORTISE_OK;
}
FAKE_TOOL(stuck, SAFE, ANY);

static mortise_status writes(const mortise_tool *self, mortise_call *call, const void *args)
{
    return quick(self, call, args);
}
FAKE_TOOL(writes, 0, ANY);

static const mortise_tool *const tools[] = {
    &quick_tool, &by_flag_tool, &by_fd_tool, &by_callback_tool, &stuck_tool, &writes_tool, NULL};

static void begin(struct scene *scene)
{
    scene_init(scene, tools, NULL);
    scene->dispatch.cancel = cancel_new();
    atomic_store(&started, 0);
    atomic_store(&polite_ends, 0);
    atomic_store(&stuck_may_end, false);
    atomic_store(&stuck_ended, false);
}

static void end(struct scene *scene)
{
    cancel_unref(scene->dispatch.cancel);
    scene_release(scene);
}

struct trigger {
    struct cancel *cancel;
    int count; /* calls that shall be inside first */
};

static void *trigger(void *argument)
{
    const struct trigger *when = argument;
    while (atomic_load(&started) < when->count)
        usleep(200);
    usleep(2000);
    cancel_trigger(when->cancel);
    return NULL;
}

static enum dispatch_end run_and_cancel(struct scene *scene, int count)
{
    struct trigger when = {scene->dispatch.cancel, count};
    pthread_t thread;
    pthread_create(&thread, NULL, trigger, &when);
    enum dispatch_end ended = scene_run(scene);
    pthread_join(thread, NULL);
    return ended;
}

static void test_tools_that_stop(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene_call(&scene, "c1", "quick", "{}");
    scene_call(&scene, "c2", "by_flag", "{}");
    scene_call(&scene, "c3", "by_fd", "{}");
    scene_call(&scene, "c4", "by_callback", "{}");
    scene_call(&scene, "c5", "writes", "{}"); /* waits for the others */
    assert_int_equal(run_and_cancel(&scene, 3), DISPATCH_CANCELLED);
    assert_int_equal(atomic_load(&polite_ends), 3);
    assert_string_equal(
        scene_told(&scene),
        "result c1 ok: quick\n"
        "result c2 cancelled: tool.cancelled: the tool stopped because the call was cancelled\n"
        "result c3 ok: all the same\n"
        "result c4 cancelled: tool.cancelled: the tool stopped because the call was cancelled\n"
        "result c5 cancelled: cancelled before it ran\n");
    end(&scene);
}

static void test_cancelled_before_the_batch(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    cancel_trigger(scene.dispatch.cancel);
    scene_call(&scene, "c1", "quick", "{}");
    scene_call(&scene, "c2", "nonsense", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_CANCELLED);
    assert_string_equal(scene_text(&scene, 0), "cancelled before it ran");
    assert_non_null(strstr(scene_text(&scene, 1), "not found"));
    end(&scene);
}

/* D16: left behind after the grace; it may end when all of the batch is gone. */
static void test_a_stuck_tool_is_left_behind(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.dispatch.grace_ms = 50;
    scene_call(&scene, "c1", "stuck", "{}");
    scene_call(&scene, "c2", "by_flag", "{}");
    int64_t before_ms = clock_ms();
    assert_int_equal(run_and_cancel(&scene, 2), DISPATCH_CANCELLED);
    assert_true(clock_ms() - before_ms < 2000);
    assert_string_equal(scene_text(&scene, 0), "cancelled; the tool did not stop in time");
    assert_string_equal(scene.calls[0].result.category, "cancelled");
    assert_int_equal(atomic_load(&polite_ends), 1);
    struct pool *pool = scene.pool;
    scene.pool = NULL;
    end(&scene);
    assert_false(atomic_load(&stuck_ended));
    atomic_store(&stuck_may_end, true);
    assert_int_equal(pool_free(pool, 5000), 0);
    assert_true(atomic_load(&stuck_ended));
}

/* With every thread taken, a call that was submitted has still not begun. */
static void test_what_waits_for_a_thread_never_runs(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct pool *pool = pool_new(1);
    scene.dispatch.pool = pool;
    scene.dispatch.grace_ms = 50;
    scene_call(&scene, "c1", "stuck", "{}");
    scene_call(&scene, "c2", "quick", "{}");
    assert_int_equal(run_and_cancel(&scene, 1), DISPATCH_CANCELLED);
    assert_string_equal(scene_text(&scene, 0), "cancelled; the tool did not stop in time");
    assert_string_equal(scene_text(&scene, 1), "cancelled before it ran");
    atomic_store(&stuck_may_end, true);
    assert_int_equal(pool_free(pool, 5000), 0);
    end(&scene);
}

static void test_deadline(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.dispatch.deadline_ms = clock_ms() + 50;
    scene.dispatch.grace_ms = 100;
    scene_call(&scene, "c1", "by_flag", "{}");
    scene_call(&scene, "c2", "by_fd", "{}"); /* its descriptor tells of the deadline too */
    scene_call(&scene, "c3", "stuck", "{}");
    scene_call(&scene, "c4", "writes", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_TIMEOUT);
    assert_int_equal(atomic_load(&polite_ends), 2);
    assert_string_equal(scene_text(&scene, 2), "timed out; the tool did not stop in time");
    assert_string_equal(scene.calls[2].result.category, "timeout");
    assert_string_equal(scene_text(&scene, 3), "timed out before it ran");
    assert_string_equal(scene.calls[3].result.category, "timeout");
    atomic_store(&stuck_may_end, true);
    end(&scene);
}

/* A tool that floods must not keep its own cancel from being seen. */
static mortise_status floods(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_fetch_add(&started, 1);
    while (!call->ops->cancelled(call))
        call->ops->progress(call, 1, 2, NULL);
    return MORTISE_CANCELLED;
}
FAKE_TOOL(floods, SAFE, ANY);

static void test_cancel_of_a_flood(void **state)
{
    (void)state;
    static const mortise_tool *const one[] = {&floods_tool, NULL};
    struct scene scene;
    scene_init(&scene, one, NULL);
    scene.dispatch.cancel = cancel_new();
    atomic_store(&started, 0);
    scene_call(&scene, "c1", "floods", "{}");
    assert_int_equal(run_and_cancel(&scene, 1), DISPATCH_CANCELLED);
    assert_string_equal(scene.calls[0].result.category, "cancelled");
    end(&scene);
}

/* ---- what PostToolCall sees after a cancel ---- */

static struct scripted redact = {.result = "[redacted]"};
static const mortise_hooks redactor = {.size = sizeof(redactor),
                                       .name = "redactor",
                                       .state = &redact,
                                       .post_tool_call = scripted_post};

static void test_results_are_redacted_after_a_cancel_too(void **state)
{
    (void)state;
    static const mortise_hooks *const hooks[] = {&redactor, NULL};
    struct scene scene;
    scene_init(&scene, tools, hooks);
    scene.dispatch.cancel = cancel_new();
    atomic_store(&started, 0);
    scene_call(&scene, "c1", "by_fd", "{}");
    scene_call(&scene, "c2", "writes", "{}");
    assert_int_equal(run_and_cancel(&scene, 1), DISPATCH_CANCELLED);
    assert_string_equal(scene_text(&scene, 0), "[redacted]");
    assert_string_equal(scene_text(&scene, 1), "cancelled before it ran");
    end(&scene);
}

/* An abort from PostToolCall stops what still runs. */
static void test_abort_while_others_run(void **state)
{
    (void)state;
    static struct scripted abort_it = {.verdict = MORTISE_ABORT, .call_id = "c1"};
    static const mortise_hooks aborts = {.size = sizeof(aborts),
                                         .name = "aborts",
                                         .state = &abort_it,
                                         .post_tool_call = scripted_post};
    static const mortise_hooks *const hooks[] = {&aborts, NULL};
    struct scene scene;
    scene_init(&scene, tools, hooks);
    atomic_store(&polite_ends, 0);
    scene_call(&scene, "c1", "quick", "{}");
    scene_call(&scene, "c2", "by_fd", "{}");
    scene_call(&scene, "c3", "by_flag", "{}");
    assert_int_equal(scene_run(&scene), DISPATCH_ABORTED);
    assert_string_equal(scene_text(&scene, 0), "quick");
    /* c2 and c3 had begun or not, by chance: both have a result, and whatever began was told */
    for (size_t i = 1; i < 3; i++)
        assert_non_null(scene.calls[i].result.text.data);
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tools_that_stop),
        cmocka_unit_test(test_cancelled_before_the_batch),
        cmocka_unit_test(test_a_stuck_tool_is_left_behind),
        cmocka_unit_test(test_what_waits_for_a_thread_never_runs),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_cancel_of_a_flood),
        cmocka_unit_test(test_results_are_redacted_after_a_cancel_too),
        cmocka_unit_test(test_abort_while_others_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A call that shall stop: the flag, the descriptor, the callback (W52, D16). */
#include "fake.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"

#define ANY .input_schema = "{\"type\":\"object\"}"

static void start_thread(void *(*function)(void *argument), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    pthread_detach(thread);
}

static atomic_int called_back;

static void note_callback(void *data)
{
    atomic_fetch_add(&called_back, 1);
    if (data)
        atomic_store((atomic_bool *)data, true);
}

static mortise_status is_cancelled(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    struct pollfd fd = {.fd = call->ops->cancel_fd(call), .events = POLLIN};
    assert_int_equal(call->ops->on_cancel(call, note_callback, NULL), MORTISE_OK);
    assert_int_equal(call->ops->on_cancel(call, note_callback, NULL), MORTISE_INVALID);
    return fake_reply(call, "%d %d", call->ops->cancelled(call), poll(&fd, 1, 0));
}
FAKE_TOOL(is_cancelled, 0, ANY);

static void test_not_cancelled(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&is_cancelled_tool);
    atomic_store(&called_back, 0);
    assert_answer(registry, "is_cancelled", "{}", "0 0");
    assert_int_equal(atomic_load(&called_back), 0);
    registry_unref(registry);
}

static void test_cancelled_before_it_ran(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&is_cancelled_tool);
    struct cancel *cancel = cancel_new();
    struct tool_result result;
    cancel_trigger(cancel);
    tool_call(registry, "is_cancelled", "{}", 2, NULL, cancel, &result);
    assert_string_equal(result.text.data, "cancelled before it ran");
    assert_string_equal(result.category, "cancelled");
    assert_int_equal(result.duration_us, 0);
    tool_result_release(&result);
    cancel_unref(cancel);
    registry_unref(registry);
}

static struct cancel *token;

static mortise_status cancels_itself(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    struct pollfd fd = {.fd = call->ops->cancel_fd(call), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 0), 0);
    cancel_trigger(token);
    assert_int_equal(poll(&fd, 1, 1000), 1);
    assert_true(call->ops->cancelled(call));
    assert_int_equal(call->ops->on_cancel(call, note_callback, NULL), MORTISE_OK); /* at once */
    assert_int_equal(atomic_load(&called_back), 1);
    return MORTISE_CANCELLED;
}
FAKE_TOOL(cancels_itself, 0, ANY);

static void test_cancelled_inside_run(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&cancels_itself_tool);
    struct tool_result result;
    atomic_store(&called_back, 0);
    token = cancel_new();
    tool_call(registry, "cancels_itself", "{}", 2, NULL, token, &result);
    assert_string_equal(result.category, "cancelled");
    tool_result_release(&result);
    cancel_unref(token);
    registry_unref(registry);
}

/* The callback may itself finish the call. */
static void finish_now(void *data)
{
    mortise_call *call = data;
    fake_reply(call, "stopped");
    call->ops->finish(call, MORTISE_OK);
}

static void *trigger_soon(void *argument)
{
    usleep(10000);
    cancel_trigger(argument);
    cancel_unref(argument);
    return NULL;
}

/* Started by the tool, so that the cancel finds it at work however busy the machine is. */
static struct cancel *to_trigger;

static void cancel_me_soon(void)
{
    start_thread(trigger_soon, cancel_ref(to_trigger));
}

static mortise_status waits_for_cancel(const mortise_tool *self, mortise_call *call,
                                       const void *args)
{
    (void)self, (void)args;
    call->ops->on_cancel(call, finish_now, call);
    cancel_me_soon();
    return MORTISE_PENDING;
}
FAKE_TOOL(waits_for_cancel, 0, ANY);

static void test_callback_finishes(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&waits_for_cancel_tool);
    struct cancel *cancel = cancel_new();
    struct tool_result result;
    to_trigger = cancel;
    tool_call(registry, "waits_for_cancel", "{}", 2, NULL, cancel, &result);
    assert_string_equal(result.text.data, "stopped");
    tool_result_release(&result);
    cancel_unref(cancel);
    registry_unref(registry);
}

static mortise_call *kept;

/* D16: a tool that never answers is left behind after two seconds, and may answer then. */
static mortise_status stuck(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    kept = call;
    cancel_me_soon();
    return MORTISE_PENDING;
}
FAKE_TOOL(stuck, 0, ANY);

static void test_left_behind(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&stuck_tool);
    struct cancel *cancel = cancel_new();
    struct tool_result result;
    char session[] = "s1";
    to_trigger = cancel;
    int64_t before_ms = clock_ms();
    tool_call(registry, "stuck", "{}", 2, &(struct call_context){.session = session}, cancel,
              &result);
    int64_t took_ms = clock_ms() - before_ms;
    assert_string_equal(result.text.data, "cancelled; the tool did not stop in time");
    assert_true(took_ms >= 2000 && took_ms < 10000);
    tool_result_release(&result);
    cancel_unref(cancel);
    registry_unref(registry);
    assert_true(kept->ops->cancelled(kept));
    assert_null(kept->ops->context(kept, "session"));
    assert_int_equal(fake_reply(kept, "at last"), MORTISE_OK);
    kept->ops->finish(kept, MORTISE_OK);
}

/* ---- an on_cancel callback and the end of its call ---- */

static atomic_bool is_inside, callback_began, callback_may_end, data_freed;

static void slow_callback(void *data)
{
    atomic_store(&callback_began, true);
    while (!atomic_load(&callback_may_end))
        usleep(100);
    assert_false(atomic_load((atomic_bool *)data));
}

static mortise_status frees_its_data(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    call->ops->on_cancel(call, slow_callback, &data_freed);
    atomic_store(&is_inside, true);
    while (!atomic_load(&callback_began))
        usleep(100);
    return MORTISE_OK;
}
FAKE_TOOL(frees_its_data, 0, ANY);

static void on_done(void *self, struct call *call)
{
    (void)self, (void)call;
    atomic_store(&data_freed, true);
}

static void *run_call(void *call)
{
    call_run(call);
    return NULL;
}

/* The end of the call waits until the callback is through. */
static void test_callback_is_over_when_the_call_is(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&frees_its_data_tool);
    const struct call_watcher watcher = {.done = on_done};
    struct call *call =
        call_new(registry, registry_tool(registry, 0), "c", "{}", 2, NULL, NULL, -1, &watcher);
    pthread_t thread;
    pthread_create(&thread, NULL, run_call, call);
    while (!atomic_load(&is_inside))
        usleep(100);
    call_cancelled(call);
    call_cancelled(call);
    while (!atomic_load(&callback_began))
        usleep(100);
    usleep(10000);
    assert_false(atomic_load(&data_freed));
    atomic_store(&callback_may_end, true);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&data_freed));
    struct tool_result result;
    call_take_result(call, &result);
    assert_true(result.success);
    tool_result_release(&result);
    call_unref(call);
    registry_unref(registry);
}

static void test_revoked(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&stuck_tool);
    const struct call_watcher watcher = {.done = on_done};
    struct call *call =
        call_new(registry, registry_tool(registry, 0), "c", "{}", 2, NULL, NULL, -1, &watcher);
    assert_string_equal(call_id(call), "c");
    assert_true(call_revoke(call));
    assert_false(call_revoke(call));
    atomic_store(&data_freed, false);
    call_run(call);
    assert_true(atomic_load(&data_freed)); /* done came, and the tool was not entered */
    call_unref(call);
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_cancelled),
        cmocka_unit_test(test_cancelled_before_it_ran),
        cmocka_unit_test(test_cancelled_inside_run),
        cmocka_unit_test(test_callback_finishes),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_callback_is_over_when_the_call_is),
        cmocka_unit_test(test_revoked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

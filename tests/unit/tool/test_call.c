/* The life of a call: late answers, threads, cancel, context (T11, T58, D16, W52, F59-F61). */
#include "fake.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"

#define ANY .input_schema = "{\"type\":\"object\"}"

static struct registry *one_tool(const mortise_tool *tool)
{
    static const mortise_tool *tools[2];
    tools[0] = tool;
    return fake_registry(tools, NULL);
}

/* ---- late answers ---- */

static mortise_status early(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    fake_reply(call, "before run() returned");
    call->ops->finish(call, MORTISE_OK);
    assert_int_equal(fake_reply(call, "too late"), MORTISE_INVALID);
    assert_null(call->ops->alloc(call, 1));
    return MORTISE_PENDING;
}
FAKE_TOOL(early, 0, ANY);

static mortise_status early_failure(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    fake_fail(call, MORTISE_TIMEOUT, NULL, NULL, "no answer");
    call->ops->finish(call, MORTISE_FAILED);
    return MORTISE_PENDING;
}
FAKE_TOOL(early_failure, 0, ANY);

static void *finish_later(void *argument)
{
    mortise_call *call = argument;
    usleep(5000);
    char *memory = call->ops->alloc(call, 5000);
    assert_non_null(memory);
    memset(memory, 'x', 5000);
    fake_reply(call, "from a thread");
    call->ops->finish(call, MORTISE_OK);
    return NULL;
}

static void start_thread(void *(*function)(void *argument), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    pthread_detach(thread);
}

static mortise_status late(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    start_thread(finish_later, call);
    return MORTISE_PENDING;
}
FAKE_TOOL(late, 0, ANY);

static mortise_status late_status(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    call->ops->finish(call, MORTISE_PENDING); /* says nothing */
    return MORTISE_PENDING;
}
FAKE_TOOL(late_status, 0, ANY);

static void test_finish_before_run_returned(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&early_tool);
    assert_answer(registry, "early", "{}", "before run() returned");
    registry_unref(registry);
    registry = one_tool(&early_failure_tool);
    assert_failure(registry, "early_failure", "{}", "timeout", "tool.timeout: no answer");
    registry_unref(registry);
}

static void test_finish_from_a_thread(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&late_tool);
    for (int i = 0; i < 20; i++)
        assert_answer(registry, "late", "{}", "from a thread");
    registry_unref(registry);
}

static void test_finish_with_pending(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&late_status_tool);
    assert_failure(registry, "late_status", "{}", "internal",
                   "Internal error: tool 'late_status' of plugin 'fake' ended with the unknown "
                   "status 1");
    registry_unref(registry);
}

/* ---- one end only ---- */

/* What was written to standard error while `work` ran. */
static void capture(void (*work)(void), char *out, size_t size)
{
    int pipes[2];
    fflush(stderr);
    int before = dup(2);
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], 2);
    work();
    dup2(before, 2);
    close(before);
    close(pipes[1]);
    ssize_t length = read(pipes[0], out, size - 1);
    out[length > 0 ? length : 0] = '\0';
    close(pipes[0]);
}

static mortise_call *kept;

static mortise_status twice(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    kept = call;
    fake_reply(call, "once");
    call->ops->finish(call, MORTISE_OK);
    call->ops->finish(call, MORTISE_FAILED);
    return MORTISE_PENDING;
}
FAKE_TOOL(twice, 0, ANY);

static void finish_twice(void)
{
    struct registry *registry = one_tool(&twice_tool);
    assert_answer(registry, "twice", "{}", "once");
    registry_unref(registry);
}

static void finish_again(void)
{
    kept->ops->finish(kept, MORTISE_OK);
    assert_int_equal(fake_reply(kept, "x"), MORTISE_INVALID);
    assert_int_equal(fake_fail(kept, MORTISE_INTERNAL, NULL, NULL, "x"), MORTISE_FAILED);
    assert_null(kept->ops->context(kept, "call"));
    assert_int_equal(kept->ops->cancel_fd(kept), -1);
    kept->ops->emit(kept, "stdout", "x", 1);
}

static void test_a_second_finish_is_told(void **state)
{
    (void)state;
    char log[1000];
    capture(finish_twice, log, sizeof(log));
    assert_non_null(strstr(log, "plugin 'fake': tool 'twice' finished a call that was over"));
    capture(finish_again, log, sizeof(log)); /* its registry is gone by now */
    assert_non_null(strstr(log, "plugin 'fake': tool 'twice' finished a call that was over"));
}

static mortise_status contrary(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    fake_reply(call, "finished");
    call->ops->finish(call, MORTISE_OK);
    return MORTISE_FAILED;
}
FAKE_TOOL(contrary, 0, ANY);

static void finish_contrary(void)
{
    struct registry *registry = one_tool(&contrary_tool);
    assert_answer(registry, "contrary", "{}", "finished");
    registry_unref(registry);
}

static void test_finish_without_pending(void **state)
{
    (void)state;
    char log[1000];
    capture(finish_contrary, log, sizeof(log));
    assert_non_null(strstr(log, "plugin 'fake': tool 'contrary' used finish()"));
}

/* ---- many threads of one tool ---- */

static void *use_memory(void *argument)
{
    mortise_call *call = argument;
    for (int i = 0; i < 200; i++) {
        char *memory = call->ops->alloc(call, (size_t)i);
        assert_non_null(memory);
        memset(memory, i, (size_t)i);
        fake_reply(call, "%d", i);
        fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "no");
        assert_non_null(call->ops->context(call, "invocation"));
    }
    return NULL;
}

static mortise_status crowd(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, use_memory, call);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return fake_reply(call, "all");
}
FAKE_TOOL(crowd, 0, ANY);

static void test_ops_from_many_threads(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&crowd_tool);
    assert_answer(registry, "crowd", "{}", "all");
    registry_unref(registry);
}

static atomic_int inside, most;

static mortise_status serial(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most))
        atomic_store(&most, now);
    usleep(200);
    atomic_fetch_sub(&inside, 1);
    return fake_reply(call, "x");
}
FAKE_TOOL(serial, MORTISE_SERIAL, ANY);

static void *call_serial(void *registry)
{
    for (int i = 0; i < 20; i++)
        assert_answer(registry, "serial", "{}", "x");
    return NULL;
}

static void test_serial_tools_are_entered_once(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&serial_tool);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_serial, registry);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&most), 1);
    registry_unref(registry);
}

/* ---- context ---- */

static char seen_ids[2][2][64];
static int seen_count;

static mortise_status who(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    static const char *const keys[] = {"user",       "session",     "tenant",    "agent",
                                       "batch_size", "batch_index", "workspace", "nonsense"};
    struct text text = TEXT_INIT;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = call->ops->context(call, keys[i]);
        text_printf(&text, "%s=%s ", keys[i], value ? value : "-");
        assert_ptr_equal(call->ops->context(call, keys[i]), value);
    }
    snprintf(seen_ids[seen_count % 2][0], 64, "%s", call->ops->context(call, "call"));
    snprintf(seen_ids[seen_count++ % 2][1], 64, "%s", call->ops->context(call, "invocation"));
    assert_null(call->ops->context(call, NULL));
    assert_int_equal(call->ops->remaining_ms(call), -1);
    mortise_status status = fake_reply(call, "%s", text.data);
    text_release(&text);
    return status;
}
FAKE_TOOL(who, 0, ANY);

static void test_context(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&who_tool);
    struct tool_result result;
    for (int i = 0; i < 2; i++)
        assert_answer(registry, "who", "{}",
                      "user=anonymous session=- tenant=- agent=- batch_size=1 batch_index=0 "
                      "workspace=- nonsense=- ");
    assert_string_not_equal(seen_ids[0][0], seen_ids[1][0]); /* F60 */
    assert_string_not_equal(seen_ids[0][1], seen_ids[1][1]);
    const struct call_context context = {.user = "ada",
                                         .session = "s1",
                                         .tenant = "t1",
                                         .agent = "coder",
                                         .workspace = "/w",
                                         .invocation = "run_1"};
    tool_call(registry, "who", NULL, 0, &context, NULL, &result);
    assert_string_equal(result.text.data,
                        "user=ada session=s1 tenant=t1 agent=coder batch_size=1 batch_index=0 "
                        "workspace=/w nonsense=- ");
    tool_result_release(&result);
    assert_string_equal(seen_ids[0][1], "run_1");
    registry_unref(registry);
}

/* ---- cancel ---- */

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
    struct registry *registry = one_tool(&is_cancelled_tool);
    atomic_store(&called_back, 0);
    assert_answer(registry, "is_cancelled", "{}", "0 0");
    assert_int_equal(atomic_load(&called_back), 0);
    registry_unref(registry);
}

static void test_cancelled_before_it_ran(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&is_cancelled_tool);
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
    struct registry *registry = one_tool(&cancels_itself_tool);
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

static mortise_status waits_for_cancel(const mortise_tool *self, mortise_call *call,
                                       const void *args)
{
    (void)self, (void)args;
    call->ops->on_cancel(call, finish_now, call);
    return MORTISE_PENDING;
}
FAKE_TOOL(waits_for_cancel, 0, ANY);

static void test_callback_finishes(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&waits_for_cancel_tool);
    struct cancel *cancel = cancel_new();
    struct tool_result result;
    start_thread(trigger_soon, cancel_ref(cancel));
    tool_call(registry, "waits_for_cancel", "{}", 2, NULL, cancel, &result);
    assert_string_equal(result.text.data, "stopped");
    tool_result_release(&result);
    cancel_unref(cancel);
    registry_unref(registry);
}

/* D16: a tool that never answers is left behind after two seconds, and may answer then. */
static mortise_status stuck(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    kept = call;
    return MORTISE_PENDING;
}
FAKE_TOOL(stuck, 0, ANY);

static void test_left_behind(void **state)
{
    (void)state;
    struct registry *registry = one_tool(&stuck_tool);
    struct cancel *cancel = cancel_new();
    struct tool_result result;
    char session[] = "s1";
    start_thread(trigger_soon, cancel_ref(cancel));
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
    struct registry *registry = one_tool(&frees_its_data_tool);
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
    struct registry *registry = one_tool(&stuck_tool);
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
        cmocka_unit_test(test_finish_before_run_returned),
        cmocka_unit_test(test_finish_from_a_thread),
        cmocka_unit_test(test_finish_with_pending),
        cmocka_unit_test(test_a_second_finish_is_told),
        cmocka_unit_test(test_finish_without_pending),
        cmocka_unit_test(test_ops_from_many_threads),
        cmocka_unit_test(test_serial_tools_are_entered_once),
        cmocka_unit_test(test_context),
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

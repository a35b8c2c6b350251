/* The life of a call: late answers, threads (T11, T58). */
#include "fake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define ANY .input_schema = "{\"type\":\"object\"}"

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
    struct registry *registry = fake_one(&early_tool);
    assert_answer(registry, "early", "{}", "before run() returned");
    registry_unref(registry);
    registry = fake_one(&early_failure_tool);
    assert_failure(registry, "early_failure", "{}", "timeout", "tool.timeout: no answer");
    registry_unref(registry);
}

static void test_finish_from_a_thread(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&late_tool);
    for (int i = 0; i < 20; i++)
        assert_answer(registry, "late", "{}", "from a thread");
    registry_unref(registry);
}

static void test_finish_with_pending(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&late_status_tool);
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
    struct registry *registry = fake_one(&twice_tool);
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
    struct registry *registry = fake_one(&contrary_tool);
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
    struct registry *registry = fake_one(&crowd_tool);
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
    struct registry *registry = fake_one(&serial_tool);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_serial, registry);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&most), 1);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

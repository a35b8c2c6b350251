#include "cmocka_all.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "plugin/gate.h"
#include "plugin/registry.h"

static atomic_int inside, most, entered;
static atomic_bool stop;

static bool stopped(void *data)
{
    (void)data;
    return atomic_load(&stop);
}

static void *enter_often(void *tool)
{
    for (int i = 0; i < 50; i++) {
        assert_true(tool_enter(tool, NULL, NULL));
        int now = atomic_fetch_add(&inside, 1) + 1;
        if (now > atomic_load(&most))
            atomic_store(&most, now);
        usleep(100);
        atomic_fetch_sub(&inside, 1);
        atomic_fetch_add(&entered, 1);
        tool_leave(tool);
    }
    return NULL;
}

/* T11 */
static void test_one_at_a_time(void **state)
{
    (void)state;
    struct tool tool = {.gate = gate_new()};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_often, &tool), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&most), 1);
    assert_int_equal(atomic_load(&entered), 200);
    gate_free(tool.gate);
    gate_free(NULL);
}

static void *enter_or_stop(void *tool)
{
    static bool result;
    result = tool_enter(tool, stopped, NULL);
    return &result;
}

static void test_a_cancelled_call_stops_waiting(void **state)
{
    (void)state;
    struct tool tool = {.gate = gate_new()};
    pthread_t thread;
    void *result;
    assert_true(tool_enter(&tool, stopped, NULL));
    assert_int_equal(pthread_create(&thread, NULL, enter_or_stop, &tool), 0);
    usleep(30000);
    int64_t start = clock_ms();
    atomic_store(&stop, true);
    pthread_join(thread, &result);
    assert_false(*(bool *)result);
    assert_true(clock_ms() - start < 1000);
    tool_leave(&tool);
    assert_true(tool_enter(&tool, stopped, NULL)); /* free: nobody asks whether to stop */
    tool_leave(&tool);
    gate_free(tool.gate);
}

static void test_other_tools_have_no_gate(void **state)
{
    (void)state;
    struct tool tool = {.gate = NULL};
    assert_true(tool_enter(&tool, stopped, NULL));
    assert_true(tool_enter(&tool, stopped, NULL));
    tool_leave(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_a_cancelled_call_stops_waiting),
        cmocka_unit_test(test_other_tools_have_no_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

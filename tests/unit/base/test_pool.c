#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "failing.h"

static atomic_int done;
static atomic_int at_once;
static atomic_int most_at_once;

static void count_work(void *argument)
{
    (void)argument;
    int now = atomic_fetch_add(&at_once, 1) + 1;
    int most = atomic_load(&most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now))
        ;
    usleep(100);
    atomic_fetch_sub(&at_once, 1);
    atomic_fetch_add(&done, 1);
}

static int reset(void **state)
{
    (void)state;
    done = at_once = most_at_once = 0;
    return 0;
}

static void test_all_work_is_done_within_the_limit(void **state)
{
    (void)state;
    static const unsigned limits[] = {0, 1, 3, 16};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        reset(state);
        struct pool *pool = pool_new(limits[i]);
        assert_non_null(pool);
        for (int k = 0; k < 300; k++)
            assert_true(pool_submit(pool, count_work, NULL));
        assert_int_equal(pool_free(pool, 20000), 0);
        assert_int_equal(done, 300);
        assert_true(most_at_once <= (int)(limits[i] ? limits[i] : 1));
    }
}

struct submitter {
    struct pool *pool;
    pthread_t thread;
};

static void *submit_many(void *argument)
{
    struct submitter *submitter = argument;
    for (int i = 0; i < 200; i++)
        if (!pool_submit(submitter->pool, count_work, NULL))
            return submitter;
    return NULL;
}

static void test_many_threads_submit(void **state)
{
    (void)state;
    struct submitter submitters[8];
    struct pool *pool = pool_new(8);
    for (int i = 0; i < 8; i++) {
        submitters[i].pool = pool;
        assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_many, &submitters[i]),
                         0);
    }
    for (int i = 0; i < 8; i++) {
        void *failed;
        pthread_join(submitters[i].thread, &failed);
        assert_null(failed);
    }
    assert_int_equal(pool_free(pool, 20000), 0);
    assert_int_equal(done, 1600);
}

static void order_work(void *argument)
{
    if (atomic_load(&done) == (int)(intptr_t)argument)
        atomic_fetch_add(&done, 1);
}

static void test_waiting_work_keeps_its_order(void **state)
{
    (void)state;
    struct pool *pool = pool_new(1);
    for (intptr_t i = 0; i < 1000; i++)
        assert_true(pool_submit(pool, order_work, (void *)i));
    assert_int_equal(pool_free(pool, 20000), 0);
    assert_int_equal(done, 1000);
}

/* Four pieces of work that each wait for all four: they must run at the same time. */
static void meet(void *argument)
{
    pthread_barrier_wait(argument);
    atomic_fetch_add(&done, 1);
}

static void test_work_runs_side_by_side(void **state)
{
    (void)state;
    struct pool *pool = pool_new(4);
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 4);
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < 4; i++)
            assert_true(pool_submit(pool, meet, &barrier));
    assert_int_equal(pool_free(pool, 20000), 0);
    assert_int_equal(done, 200);
    pthread_barrier_destroy(&barrier);
}

static void check_signals(void *argument)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    *(bool *)argument = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGCHLD) == 1;
}

static void test_threads_block_signals(void **state)
{
    (void)state;
    bool blocked = false;
    sigset_t own;
    struct pool *pool = pool_new(1);
    assert_true(pool_submit(pool, check_signals, &blocked));
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    assert_int_equal(pool_free(pool, 20000), 0);
    assert_true(blocked);
    assert_int_equal(sigismember(&own, SIGINT), 0); /* the submitter's are as they were */
}

static atomic_bool let_go;

static void hang(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
    while (!atomic_load(&let_go))
        usleep(1000);
    atomic_fetch_sub((atomic_int *)argument, 1);
}

/* Two threads never return, one is idle, one piece of work has not begun. */
static void test_hanging_work_is_left_behind(void **state)
{
    (void)state;
    static atomic_int hanging;
    struct pool *pool = pool_new(2);
    atomic_store(&let_go, false);
    assert_true(pool_submit(pool, hang, &hanging));
    assert_true(pool_submit(pool, hang, &hanging));
    while (hanging != 2)
        usleep(1000);
    assert_true(pool_submit(pool, count_work, NULL));
    int64_t start = clock_ms();
    assert_int_equal(pool_free(pool, 50), 2);
    int64_t took = clock_ms() - start;
    assert_true(took >= 50 && took < 5000);

    atomic_store(&let_go, true); /* they end by themselves, and free the pool */
    while (hanging != 0)
        usleep(1000);
    usleep(50000);
    assert_int_equal(done, 0); /* what had not begun never does */
}

static void test_free_without_work(void **state)
{
    (void)state;
    assert_int_equal(pool_free(NULL, 0), 0);
    assert_int_equal(pool_free(pool_new(4), 0), 0);
    struct pool *pool = pool_new(4);
    assert_true(pool_submit(pool, count_work, NULL));
    while (done != 1)
        usleep(1000);
    int64_t start = clock_ms();
    assert_int_equal(pool_free(pool, 60000), 0); /* idle threads need no grace */
    assert_true(clock_ms() - start < 30000);
}

static void test_no_memory(void **state)
{
    (void)state;
    fail_after(0);
    struct pool *pool = pool_new(4);
    assert_true(fail_never());
    assert_null(pool);

    pool = pool_new(4);
    fail_after(0);
    bool submitted = pool_submit(pool, count_work, NULL);
    assert_true(fail_never());
    assert_false(submitted);
    assert_int_equal(pool_free(pool, 0), 0);
    assert_int_equal(done, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_all_work_is_done_within_the_limit, reset),
        cmocka_unit_test_setup(test_many_threads_submit, reset),
        cmocka_unit_test_setup(test_waiting_work_keeps_its_order, reset),
        cmocka_unit_test_setup(test_work_runs_side_by_side, reset),
        cmocka_unit_test_setup(test_threads_block_signals, reset),
        cmocka_unit_test_setup(test_hanging_work_is_left_behind, reset),
        cmocka_unit_test_setup(test_free_without_work, reset),
        cmocka_unit_test_setup(test_no_memory, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cancel.h"
#include "failing.h"

static bool is_readable(const struct cancel *cancel)
{
    struct pollfd wait = {.fd = cancel_fd(cancel), .events = POLLIN};
    return poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN);
}

static void test_set_once_seen_for_ever(void **state)
{
    (void)state;
    struct cancel *cancel = cancel_new();
    assert_non_null(cancel);
    assert_false(cancel_requested(cancel));
    assert_false(is_readable(cancel));
    for (int i = 0; i < 1000; i++) {
        cancel_trigger(cancel);
        assert_true(cancel_requested(cancel));
        assert_true(is_readable(cancel));
    }
    cancel_unref(cancel);
}

static void test_null_is_never_requested(void **state)
{
    (void)state;
    cancel_trigger(NULL);
    assert_false(cancel_requested(NULL));
    assert_int_equal(cancel_fd(NULL), -1);
    assert_null(cancel_ref(NULL));
    cancel_unref(NULL);
}

static struct cancel *signalled;

static void on_signal(int number)
{
    (void)number;
    cancel_trigger(signalled);
}

/* A signal interrupts a wait that has no time limit, and errno is as it was. */
static void test_signal_handler_wakes_a_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}, before;
    signalled = cancel_new();
    assert_non_null(signalled);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    errno = EDOM;
    raise(SIGUSR1);
    raise(SIGUSR1);
    assert_int_equal(errno, EDOM);
    struct pollfd wait = {.fd = cancel_fd(signalled), .events = POLLIN};
    assert_int_equal(poll(&wait, 1, -1), 1);
    assert_true(cancel_requested(signalled));
    sigaction(SIGUSR1, &before, NULL);
    cancel_unref(signalled);
}

static void *hold_trigger_drop(void *argument)
{
    struct cancel *cancel = argument;
    for (int i = 0; i < 1000; i++) {
        cancel_ref(cancel);
        cancel_trigger(cancel);
        cancel_unref(cancel);
    }
    cancel_unref(cancel);
    return NULL;
}

static void test_many_threads_share_it(void **state)
{
    (void)state;
    pthread_t threads[8];
    struct cancel *cancel = cancel_new();
    assert_non_null(cancel);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_trigger_drop, cancel_ref(cancel)),
                         0);
    struct pollfd wait = {.fd = cancel_fd(cancel), .events = POLLIN};
    assert_int_equal(poll(&wait, 1, -1), 1);
    int fd = cancel_fd(cancel);
    cancel_unref(cancel);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* the last one closed it */
}

static void test_without_memory_or_descriptors(void **state)
{
    (void)state;
    fail_after(0);
    assert_null(cancel_new());
    fail_never();

    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct cancel *cancel = cancel_new();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_once_seen_for_ever),
        cmocka_unit_test(test_null_is_never_requested),
        cmocka_unit_test(test_signal_handler_wakes_a_wait),
        cmocka_unit_test(test_many_threads_share_it),
        cmocka_unit_test(test_without_memory_or_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

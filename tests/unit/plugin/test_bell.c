/* What plugins ring to be loaded anew. */
#include "cmocka_all.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "plugin/bell.h"

static void ring(struct bell *bell)
{
    struct host_bell *face = bell_face(bell);
    face->ring(face);
}

static bool is_readable(const struct bell *bell)
{
    struct pollfd wanted = {.fd = bell_fd(bell), .events = POLLIN};
    assert_true(wanted.fd >= 0);
    return poll(&wanted, 1, 0) > 0;
}

/* C17 */
static void test_rings_until_it_is_silenced(void **state)
{
    (void)state;
    struct bell *bell = bell_new();
    assert_false(bell_is_rung(bell));
    assert_false(is_readable(bell));
    assert_false(bell_silence(bell));
    ring(bell);
    ring(bell);
    assert_true(bell_is_rung(bell));
    assert_true(is_readable(bell));
    assert_true(bell_silence(bell));
    assert_false(bell_is_rung(bell));
    assert_false(is_readable(bell));
    bell_remember(bell);
    assert_true(bell_is_rung(bell));
    assert_false(is_readable(bell));
    host_bell_unref(bell_face(bell));
}

struct ringer {
    struct bell *bell;
    atomic_int round;
    atomic_int rung;
};

enum { ROUNDS = 20000 };

static void *ring_each_round(void *data)
{
    struct ringer *ringer = data;
    for (int i = 1; i <= ROUNDS; i++) {
        while (atomic_load(&ringer->round) < i)
            sched_yield();
        ring(ringer->bell);
        atomic_store(&ringer->rung, i);
    }
    return NULL;
}

/* C17: whoever waits for the descriptor and asks then would otherwise not be woken, or without end.
 */
static void test_what_is_readable_is_rung(void **state)
{
    (void)state;
    struct ringer ringer = {.bell = bell_new()};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ring_each_round, &ringer), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store(&ringer.round, i);
        bool heard = bell_silence(ringer.bell);
        while (atomic_load(&ringer.rung) < i)
            sched_yield();
        assert_int_equal(is_readable(ringer.bell), bell_is_rung(ringer.bell));
        assert_int_equal(bell_silence(ringer.bell), !heard);
    }
    pthread_join(thread, NULL);
    host_bell_unref(bell_face(ringer.bell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings_until_it_is_silenced),
        cmocka_unit_test(test_what_is_readable_is_rung),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>


#include <time.h>

#include "base/clock.h"

static void test_never_goes_back(void **state)
{
    (void)state;
    int64_t last = clock_ns();
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void test_milliseconds_are_of_the_same_clock(void **state)
{
    (void)state;
    int64_t before = clock_ns() / 1000000;
    int64_t now = clock_ms();
    int64_t after = clock_ns() / 1000000;
    assert_true(before <= now && now <= after);
}

static void test_a_moment_to_come(void **state)
{
    (void)state;
    for (int64_t ms = 0; ms < 5000; ms += 7) {
        int64_t before_ns = clock_ns();
        struct timespec when = clock_after_ms(ms);
        int64_t when_ns = (int64_t)when.tv_sec * 1000000000 + when.tv_nsec - ms * 1000000;
        assert_in_range(when.tv_nsec, 0, 999999999);
        assert_true(before_ns <= when_ns && when_ns <= clock_ns());
    }
}

static void test_date(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL);
    int64_t now = clock_date_ms() / 1000;
    assert_true(before - 1 <= now && now <= before + 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_goes_back),
        cmocka_unit_test(test_milliseconds_are_of_the_same_clock),
        cmocka_unit_test(test_a_moment_to_come),
        cmocka_unit_test(test_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
        cmocka_unit_test(test_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
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

static void test_utc_is_now(void **state)
{
    (void)state;
    char text[25];
    memset(text, 'x', sizeof(text));
    struct timespec before, after; /* not time(): its clock is coarser, so behind */
    clock_gettime(CLOCK_REALTIME, &before);
    clock_utc(text);
    clock_gettime(CLOCK_REALTIME, &after);

    struct tm parts = {0};
    int ms = -1;
    int end = 0;
    assert_int_equal(strlen(text), 24);
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &parts.tm_year, &parts.tm_mon,
                            &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &ms,
                            &end),
                     7);
    assert_int_equal(end, 24);
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    time_t said = timegm(&parts);
    assert_true(said >= before.tv_sec && said <= after.tv_sec);
    assert_true(ms >= 0 && ms < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_goes_back),
        cmocka_unit_test(test_milliseconds_are_of_the_same_clock),
        cmocka_unit_test(test_utc_is_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/clock.h"

int64_t clock_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_ms(void)
{
    return clock_ns() / 1000000;
}

struct timespec clock_after_us(int64_t us)
{
    int64_t until_ns = clock_ns() + us * 1000;
    return (struct timespec){.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
}

struct timespec clock_after_ms(int64_t ms)
{
    return clock_after_us(ms * 1000);
}

int64_t clock_date_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

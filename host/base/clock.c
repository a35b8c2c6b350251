#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

void clock_utc(char out[25])
{
    struct timespec now = {0};
    struct tm parts = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    char text[64] = "";
    if (gmtime_r(&now.tv_sec, &parts)) {
        size_t used = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
        snprintf(text + used, sizeof(text) - used, ".%03uZ", (unsigned)(now.tv_nsec / 1000000));
    }
    memcpy(out, text, 24);
    out[24] = '\0';
}

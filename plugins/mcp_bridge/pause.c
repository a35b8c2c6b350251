#include "pause.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

enum { FIRST_MS = 500, MOST_MS = 10000 };
static const int64_t longest_ms = INT64_C(30) * 24 * 60 * 60 * 1000;

int64_t pause_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In thousandths of `unit`'s thousand: "1.5" of seconds is 1500; -1: it is no number. */
static int64_t read_decimal(const char *value, int64_t unit)
{
    int64_t result = 0;
    size_t digits = strspn(value, "0123456789");
    if (!digits)
        return -1;
    for (size_t i = 0; i < digits; i++)
        if (result < longest_ms)
            result = result * 10 + (value[i] - '0') * unit;
    value += digits;
    if (*value == '.')
        for (int64_t part = unit / 10; *++value >= '0' && *value <= '9'; part /= 10)
            result += (*value - '0') * part;
    value += strspn(value, " \t");
    if (*value)
        return -1;
    return result < longest_ms ? result : longest_ms;
}

int64_t pause_read_ms(const char *value)
{
    return read_decimal(value, 1);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; the words are English wherever the host runs. */
static int64_t read_date(const char *value)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4] = "";
    struct tm date = {0};
    const char *comma = strchr(value, ',');
    if (!comma || sscanf(comma + 1, " %2d %3[A-Za-z] %4d %2d:%2d:%2d", &date.tm_mday, month,
                         &date.tm_year, &date.tm_hour, &date.tm_min, &date.tm_sec) != 6)
        return -1;
    for (date.tm_mon = 0; date.tm_mon < 12; date.tm_mon++)
        if (strncasecmp(months + 3 * (size_t)date.tm_mon, month, 3) == 0)
            break;
    if (date.tm_mon == 12 || strlen(month) != 3)
        return -1;
    date.tm_year -= 1900;
    return timegm(&date);
}

int64_t pause_read(const char *value)
{
    int64_t wait_ms = read_decimal(value, 1000);
    if (wait_ms >= 0)
        return wait_ms;
    int64_t when = read_date(value);
    if (when < 0)
        return -1;
    struct timespec now; /* time() may be a second behind */
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t left_ms = when * 1000 - ((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    return left_ms < 0 ? 0 : left_ms < longest_ms ? left_ms : longest_ms;
}

int64_t pause_before(unsigned attempt)
{
    int64_t limit = FIRST_MS;
    while (attempt-- > 1 && limit < MOST_MS)
        limit *= 2;
    if (limit > MOST_MS)
        limit = MOST_MS;
    uint32_t dice = 0;
    if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) != sizeof(dice))
        dice = (uint32_t)pause_now_ms();
    return (int64_t)dice % (limit + 1);
}

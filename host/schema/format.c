#include "schema/format.h"

#include <string.h>

#include "base/hex.h"
#include "schema/format_net.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return hex_value(c) >= 0;
}

/* `count` digits as a number; -1: they are none. */
static int read_digits(const char *text, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++) {
        if (!is_digit(text[i]))
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

/* ---- dates and times ---- */

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* 2024-02-29 */
static bool is_date(const char *text, size_t length)
{
    if (length != 10 || text[4] != '-' || text[7] != '-')
        return false;
    int year = read_digits(text, 4), month = read_digits(text + 5, 2);
    int day = read_digits(text + 8, 2);
    return year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= days_of(year, month);
}

/* "Z", "+01:30", "-08:00".  Sets the minutes that local time is ahead of UTC. */
static bool read_offset(const char *text, size_t length, int *minutes)
{
    *minutes = 0;
    if (length == 1)
        return *text == 'Z' || *text == 'z';
    if (length != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
        return false;
    int hour = read_digits(text + 1, 2), minute = read_digits(text + 4, 2);
    *minutes = (hour * 60 + minute) * (text[0] == '-' ? -1 : 1);
    return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

/* 23:20:50.52Z.  A leap second ends a day of UTC. */
static bool is_time(const char *text, size_t length)
{
    if (length < 9 || text[2] != ':' || text[5] != ':')
        return false;
    int hour = read_digits(text, 2), minute = read_digits(text + 3, 2);
    int second = read_digits(text + 6, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    size_t at = 8;
    if (text[at] == '.') {
        size_t first = ++at;
        while (at < length && is_digit(text[at]))
            at++;
        if (at == first)
            return false;
    }
    int ahead;
    if (!read_offset(text + at, length - at, &ahead))
        return false;
    int of_day = hour * 60 + minute - ahead + 24 * 60;
    return second < 60 || of_day % (24 * 60) == 23 * 60 + 59;
}

static bool is_date_time(const char *text, size_t length)
{
    return length > 11 && is_date(text, 10) && (text[10] == 'T' || text[10] == 't') &&
           is_time(text + 11, length - 11);
}

static bool is_uuid(const char *text, size_t length)
{
    bool good = length == 36;
    for (size_t i = 0; good && i < length; i++)
        good = i == 8 || i == 13 || i == 18 || i == 23 ? text[i] == '-' : is_hex(text[i]);
    return good;
}

/* ---- by name ---- */

static const struct format {
    const char *name;
    bool (*matches)(const char *text, size_t length);
} formats[] = {
    {"date-time", is_date_time}, {"date", is_date},        {"time", is_time},
    {"email", format_is_email},  {"uri", format_is_uri},   {"uuid", is_uuid},
    {"ipv4", format_is_ipv4},    {"ipv6", format_is_ipv6}, {"hostname", format_is_hostname},
};

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

bool format_is_known(const char *name)
{
    return find(name) != NULL;
}

bool format_matches(const char *name, const char *text, size_t length)
{
    const struct format *format = find(name);
    return !format || format->matches(text, length);
}

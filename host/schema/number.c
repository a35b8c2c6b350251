#include "schema/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool number_is_integer(const json_t *value)
{
    if (json_is_integer(value))
        return true;
    return json_is_real(value) && json_real_value(value) == floor(json_real_value(value));
}

int number_compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    /* Exact: it holds every int64_t and every double. */
    long double x = json_is_integer(a) ? json_integer_value(a) : (long double)json_real_value(a);
    long double y = json_is_integer(b) ? json_integer_value(b) : (long double)json_real_value(b);
    return (x > y) - (x < y);
}

bool number_int64(const json_t *value, int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    double real = json_real_value(value);
    if (!json_is_real(value) || real != floor(real) || real < -0x1p63 || real >= 0x1p63)
        return false;
    *out = (int64_t)real;
    return true;
}

/* ---- decimals ---- */

static struct decimal shorten(struct decimal decimal)
{
    while (decimal.digits && decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    return decimal;
}

/* The shortest digits that mean this double: those that somebody wrote. */
static struct decimal decimal_of_real(double real)
{
    struct decimal decimal = {0, 0};
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits - 1, real);
        if (strtod(text, NULL) == real)
            break;
    }
    const char *at = text;
    for (bool behind_point = false; *at && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') {
            decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
            decimal.exponent -= behind_point;
        } else {
            behind_point = true; /* whatever the locale's is */
        }
    }
    if (*at == 'e')
        decimal.exponent += (int)strtol(at + 1, NULL, 10);
    return decimal;
}

struct decimal decimal_of(const json_t *number)
{
    if (!json_is_integer(number))
        return shorten(decimal_of_real(fabs(json_real_value(number))));
    json_int_t value = json_integer_value(number);
    struct decimal decimal = {value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0};
    return shorten(decimal);
}

/* a + b below 2^64, because both are below `modulus`, which is at most 2^63. */
static uint64_t add(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (a + b) % modulus;
}

static uint64_t times_ten(uint64_t a, uint64_t modulus)
{
    uint64_t two = add(a, a, modulus);
    uint64_t four = add(two, two, modulus);
    uint64_t eight = add(four, four, modulus);
    return add(eight, two, modulus);
}

bool number_is_multiple(const json_t *number, const struct decimal *of)
{
    struct decimal value = decimal_of(number);
    if (!value.digits)
        return true;
    if (value.exponent < of->exponent) /* no zero is left at its end that could make up for it */
        return false;
    uint64_t rest = value.digits % of->digits;
    for (int i = of->exponent; rest && i < value.exponent; i++)
        rest = times_ten(rest, of->digits);
    return rest == 0;
}

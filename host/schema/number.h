/*
 * number - JSON's numbers as JSON Schema sees them: by value, never by how they are written.
 *
 * 1 and 1.0 are one number, and an integer; 64-bit integers are compared exactly, also with
 * reals.  Thread-safe.
 */
#ifndef SCHEMA_NUMBER_H
#define SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Of a number or of anything else. */
bool number_is_integer(const json_t *value);

/* Below 0, 0 or above 0, like strcmp(). */
int number_compare(const json_t *a, const json_t *b);

/* The value of a number when it is an int64_t; false otherwise. */
bool number_int64(const json_t *value, int64_t *out);

/* digits * 10^exponent: what was written, not the double beside it.  Without a sign. */
struct decimal {
    uint64_t digits; /* below 2^63 + 1 */
    int exponent;
};

struct decimal decimal_of(const json_t *number);

/* Whether a number is a multiple of `of` (above 0), as decimals: 0.3 is one of 0.1. */
bool number_is_multiple(const json_t *number, const struct decimal *of);

#endif

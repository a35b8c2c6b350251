/*
 * equal - whether two JSON values are the same for JSON Schema: numbers by value, objects without
 * an order.
 *
 * Reads only, and never touches a reference count, so values that are not changed may be
 * compared by several threads.
 */
#ifndef SCHEMA_EQUAL_H
#define SCHEMA_EQUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* How much may still be looked at; below 0 when that was not enough, and the answer is void. */
bool equal(const json_t *a, const json_t *b, int64_t *budget);

enum unique { UNIQUE, NOT_UNIQUE, UNIQUE_NO_MEMORY };

/* Whether a list has two items that are equal: then *first and *second.  n log n. */
enum unique unique_items(const json_t *array, int64_t *budget, size_t *first, size_t *second);

#endif

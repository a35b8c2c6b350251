#include "schema/equal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "schema/number.h"
#include "schema/unconst.h"

#define DEPTH_MAX 200
#define FEW_ITEMS 8

static bool same(const json_t *a, const json_t *b, int64_t *budget, unsigned depth);

static bool same_arrays(const json_t *a, const json_t *b, int64_t *budget, unsigned depth)
{
    size_t count = json_array_size(a);
    if (count != json_array_size(b))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same(json_array_get(a, i), json_array_get(b, i), budget, depth))
            return false;
    return true;
}

static bool same_objects(const json_t *a, const json_t *b, int64_t *budget, unsigned depth)
{
    if (json_object_size(a) != json_object_size(b))
        return false;
    const char *name;
    json_t *member, *object = unconst(a);
    json_object_foreach (object, name, member) {
        const json_t *other = json_object_get(b, name);
        if (!other || !same(member, other, budget, depth))
            return false;
    }
    return true;
}

static bool same(const json_t *a, const json_t *b, int64_t *budget, unsigned depth)
{
    if (depth > DEPTH_MAX)
        *budget = -1;
    if (--*budget < 0)
        return false;
    if (json_is_number(a))
        return json_is_number(b) && number_compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_string(a))
        return json_string_length(a) == json_string_length(b) &&
               !memcmp(json_string_value(a), json_string_value(b), json_string_length(a));
    if (json_is_array(a))
        return same_arrays(a, b, budget, depth + 1);
    if (json_is_object(a))
        return same_objects(a, b, budget, depth + 1);
    return true; /* true, false or null */
}

bool equal(const json_t *a, const json_t *b, int64_t *budget)
{
    return same(a, b, budget, 0);
}

/* ---- many items: only those of one hash are compared ---- */

struct item {
    uint64_t hash;
    size_t index;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof(both));
}

static uint64_t hash_number(const json_t *value)
{
    int64_t integer;
    if (number_int64(value, &integer))
        return mix(JSON_INTEGER, (uint64_t)integer);
    double real = json_real_value(value);
    return hash_bytes(&real, sizeof(real));
}

static uint64_t hash_value(const json_t *value, int64_t *budget, unsigned depth)
{
    if (depth > DEPTH_MAX)
        *budget = -1;
    if (--*budget < 0)
        return 0;
    if (json_is_number(value))
        return hash_number(value);
    if (json_is_string(value)) {
        *budget -= (int64_t)(json_string_length(value) / 64);
        return hash_bytes(json_string_value(value), json_string_length(value));
    }
    uint64_t hash = (uint64_t)json_typeof(value);
    for (size_t i = 0; i < json_array_size(value); i++)
        hash = mix(hash, hash_value(json_array_get(value, i), budget, depth + 1));
    const char *name;
    json_t *member, *object = unconst(value);
    if (json_is_object(value))
        json_object_foreach (object, name, member)
            hash += mix(hash_bytes(name, strlen(name)), hash_value(member, budget, depth + 1));
    return hash;
}

static int by_hash(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool find_pair(const json_t *array, const struct item *items, size_t count, int64_t *budget,
                      size_t *first, size_t *second)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count && items[i].hash == items[j].hash; j++) {
            *first = items[i].index;
            *second = items[j].index;
            if (same(json_array_get(array, *first), json_array_get(array, *second), budget, 1))
                return true;
            if (*budget < 0)
                return false;
        }
    }
    return false;
}

static enum unique unique_few(const json_t *array, int64_t *budget, size_t *first, size_t *second)
{
    size_t count = json_array_size(array);
    for (*second = 1; *second < count; ++*second)
        for (*first = 0; *first < *second; ++*first)
            if (same(json_array_get(array, *first), json_array_get(array, *second), budget, 1))
                return NOT_UNIQUE;
    return UNIQUE;
}

enum unique unique_items(const json_t *array, int64_t *budget, size_t *first, size_t *second)
{
    size_t count = json_array_size(array);
    if (count <= FEW_ITEMS)
        return unique_few(array, budget, first, second);
    struct item *items = calloc(count, sizeof(*items));
    if (!items)
        return UNIQUE_NO_MEMORY;
    for (size_t i = 0; i < count && *budget >= 0; i++)
        items[i] = (struct item){hash_value(json_array_get(array, i), budget, 1), i};
    bool pair = false;
    if (*budget >= 0) {
        qsort(items, count, sizeof(*items), by_hash);
        pair = find_pair(array, items, count, budget, first, second);
    }
    free(items);
    return pair ? NOT_UNIQUE : UNIQUE;
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Stands in for malloc() in the tables of this file. */
static int allowed = -1; /* allocations that succeed; -1 = all */

static void *table_malloc(size_t bytes)
{
    if (allowed == 0)
        return NULL;
    if (allowed > 0)
        allowed--;
    return malloc(bytes);
}

#define uthash_malloc(bytes) table_malloc(bytes)

#include "base/hash.c" /* for siphash13() under a known key */

struct item {
    char key[16];
    UT_hash_handle hh;
};

/* The values are those of another implementation: CPython's hash() of these bytes, whose
 * key is zero under PYTHONHASHSEED=0. */
static void test_siphash_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } cases[] = {
        {"a", 0x407448d2b89b1813},
        {"abcdefg", 0x6db12aae9070f506},
        {"abcdefgh", 0x3f7b849c0b8e35ea},
        {"abcdefghi", 0xf89b34a3d11eb6e5},
        {"0123456789abcdef", 0x1d42b30f7e060c24},
    };
    const uint64_t zero[2] = {0, 0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const unsigned char *bytes = (const unsigned char *)cases[i].text;
        assert_true(siphash13(zero, bytes, strlen(cases[i].text)) == cases[i].hash);
    }
}

static void test_the_key_decides(void **state)
{
    (void)state;
    uint64_t before = hash_bytes("key", 3);
    assert_true(hash_bytes("key", 3) == before);
    assert_true(hash_bytes("keY", 3) != before);
    assert_true(hash_bytes(NULL, 0) == hash_bytes("", 0));
    draw_key();
    assert_true(hash_bytes("key", 3) != before);
}

static unsigned longest_chain(const struct item *table)
{
    unsigned longest = 0;
    for (unsigned i = 0; i < table->hh.tbl->num_buckets; i++)
        if (table->hh.tbl->buckets[i].count > longest)
            longest = table->hh.tbl->buckets[i].count;
    return longest;
}

/* A client chooses keys that uthash's own function puts into one bucket. */
static void test_flooding_fills_no_bucket(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct item *items = calloc(COUNT, sizeof(*items));
    struct item *table = NULL;
    assert_non_null(items);
    unsigned n = 0;
    for (int i = 0; i < COUNT; i++) {
        unsigned hash;
        size_t length;
        do {
            length = (size_t)snprintf(items[i].key, sizeof(items[i].key), "k%u", n++);
            HASH_JEN(items[i].key, length, hash);
        } while (hash & 255);
        HASH_ADD_STR(table, key, &items[i]);
        assert_true(hash_added(&items[i]));
    }
    assert_int_equal(HASH_COUNT(table), COUNT);
    assert_true(longest_chain(table) < 32);
    struct item *found;
    for (int i = 0; i < COUNT; i++) {
        HASH_FIND_STR(table, items[i].key, found);
        assert_ptr_equal(found, &items[i]);
    }
    HASH_CLEAR(hh, table);
    free(items);
}

/* Whatever allocation fails: the item is out or in, and says which; the table works. */
static void test_out_of_memory_leaves_a_good_table(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    for (int budget = 0; budget < 8; budget++) {
        struct item *items = calloc(COUNT, sizeof(*items));
        struct item *table = NULL;
        unsigned added = 0;
        assert_non_null(items);
        allowed = budget;
        for (int i = 0; i < COUNT; i++) {
            snprintf(items[i].key, sizeof(items[i].key), "%d", i);
            HASH_ADD_STR(table, key, &items[i]);
            added += hash_added(&items[i]);
        }
        allowed = -1;
        assert_int_equal(HASH_COUNT(table), added);
        assert_int_equal(added > 0, budget >= 2);
        for (int i = 0; i < COUNT; i++) {
            struct item *found;
            HASH_FIND_STR(table, items[i].key, found);
            assert_ptr_equal(found, hash_added(&items[i]) ? &items[i] : NULL);
        }
        HASH_CLEAR(hh, table);
        free(items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_vectors),
        cmocka_unit_test(test_the_key_decides),
        cmocka_unit_test(test_flooding_fills_no_bucket),
        cmocka_unit_test(test_out_of_memory_leaves_a_good_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "failing.h"

#define ALIGNMENT alignof(max_align_t)

static void assert_zeroed(const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        assert_int_equal(data[i], 0);
}

/* Every size, with and without storage, at every misalignment of the storage. */
static void test_blocks_are_aligned_and_zeroed(void **state)
{
    (void)state;
    alignas(max_align_t) char storage[256 + ALIGNMENT];
    for (size_t skew = 0; skew <= ALIGNMENT; skew++) {
        struct arena arena;
        memset(storage, 0xAA, sizeof(storage));
        arena_init(&arena, skew < ALIGNMENT ? storage + skew : NULL, 256);
        for (size_t bytes = 0; bytes < 200; bytes++) {
            char *block = arena_alloc(&arena, bytes);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % ALIGNMENT, 0);
            assert_zeroed(block, bytes);
            memset(block, 0x55, bytes);
        }
        arena_release(&arena);
    }
}

static void test_blocks_do_not_overlap(void **state)
{
    (void)state;
    static char *blocks[2000];
    static size_t sizes[2000];
    struct arena arena;
    char storage[512];
    arena_init(&arena, storage, sizeof(storage));
    for (size_t i = 0; i < 2000; i++) {
        sizes[i] = i * 7919 % (i % 50 ? 100 : 10000);
        blocks[i] = arena_alloc(&arena, sizes[i]);
        assert_non_null(blocks[i]);
        memset(blocks[i], (int)(i & 0xFF), sizes[i]);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal((unsigned char)blocks[i][k], i & 0xFF);
    arena_release(&arena);
}

static void test_small_call_allocates_nothing(void **state)
{
    (void)state;
    alignas(max_align_t) char storage[256];
    struct arena arena;
    arena_init(&arena, storage, sizeof(storage));
    fail_after(0);
    assert_ptr_equal(arena_alloc(&arena, 100), storage);
    assert_non_null(arena_copy(&arena, "hello", 5));
    assert_non_null(arena_alloc(&arena, 128));
    assert_false(fail_never());
    fail_after(0);
    assert_null(arena_alloc(&arena, 1)); /* full, and no memory for more */
    assert_true(fail_never());
    assert_non_null(arena_alloc(&arena, 1)); /* usable as before */
    arena_release(&arena);
}

static void test_large_block_leaves_the_current_one_in_use(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    char *first = arena_alloc(&arena, 16);
    assert_non_null(arena_alloc(&arena, 1 << 22));
    assert_ptr_equal(arena_alloc(&arena, 16), first + 16);
    arena_release(&arena);
}

static void test_impossible_sizes(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    for (size_t less = 0; less < 64; less++) {
        fail_after(0); /* whatever is not refused for its size */
        assert_null(arena_alloc(&arena, SIZE_MAX - less));
        assert_null(arena_copy(&arena, "", SIZE_MAX - less));
        fail_never();
    }
    arena_release(&arena);
}

static void test_copy_keeps_nul_bytes(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    char *copy = arena_copy(&arena, "a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    arena_release(&arena);
}

static void test_tiny_storage_is_not_overrun(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 40; bytes++) {
        char storage[41];
        struct arena arena;
        memset(storage, 0x77, sizeof(storage));
        arena_init(&arena, storage + 1, bytes);
        for (int i = 0; i < 4; i++)
            assert_non_null(memset(arena_alloc(&arena, 9), 0x11, 9));
        assert_int_equal(storage[0], 0x77);
        if (bytes < 40)
            assert_int_equal(storage[1 + bytes], 0x77);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_zeroed),
        cmocka_unit_test(test_blocks_do_not_overlap),
        cmocka_unit_test(test_small_call_allocates_nothing),
        cmocka_unit_test(test_large_block_leaves_the_current_one_in_use),
        cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_copy_keeps_nul_bytes),
        cmocka_unit_test(test_tiny_storage_is_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

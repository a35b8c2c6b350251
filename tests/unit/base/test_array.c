#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/array.h"
#include "failing.h"

struct point {
    int x, y;
};

static void test_grows_and_keeps_its_items(void **state)
{
    (void)state;
    struct {
        struct point *items;
        size_t count, capacity;
    } list = {0};
    for (int i = 0; i < 1000; i++) {
        assert_true(array_reserve(&list, 1));
        list.items[list.count++] = (struct point){i, -i};
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(list.items[i].x, i);
        assert_int_equal(list.items[i].y, -i);
    }
    assert_true(list.capacity >= 1000 && list.capacity < 3000);
    free(list.items);
}

static void test_failure_changes_nothing(void **state)
{
    (void)state;
    struct {
        int *items;
        size_t count, capacity;
    } list = {0};
    assert_true(array_reserve(&list, 1));
    list.items[list.count++] = 7;
    int *items = list.items;
    size_t capacity = list.capacity;

    const size_t impossible[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / sizeof(int),
                                 SIZE_MAX / sizeof(int) + 1};
    for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
        fail_after(0);
        assert_false(array_reserve(&list, impossible[i]));
        fail_never();
    }
    fail_after(0);
    assert_false(array_reserve(&list, capacity));
    assert_true(fail_never());
    assert_ptr_equal(list.items, items);
    assert_int_equal(list.capacity, capacity);
    assert_int_equal(list.items[0], 7);
    free(list.items);
}

static void test_reserved_room_needs_no_memory(void **state)
{
    (void)state;
    struct {
        const char **items;
        size_t count, capacity;
    } list = {0};
    assert_true(array_reserve(&list, 100));
    fail_after(0);
    for (int i = 0; i < 100; i++) {
        assert_true(array_reserve(&list, 1));
        list.items[list.count++] = "text";
    }
    assert_false(fail_never());
    free(list.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows_and_keeps_its_items),
        cmocka_unit_test(test_failure_changes_nothing),
        cmocka_unit_test(test_reserved_room_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

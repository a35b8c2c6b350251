#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/id.h"

enum { THREADS = 8, EACH = 2000 };

static char ids[THREADS * EACH][ID_SIZE];

static void test_form(void **state)
{
    (void)state;
    static const char *const prefixes[][2] = {
        {"turn", "turn_"},
        {"", "_"},
        {"twelve_bytes", "twelve_bytes_"},
        {"more_than_twelve_bytes", "more_than_tw_"},
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        char id[ID_SIZE];
        memset(id, 'x', sizeof(id));
        id_make(id, prefixes[i][0]);
        size_t start = strlen(prefixes[i][1]);
        assert_memory_equal(id, prefixes[i][1], start);
        assert_int_equal(strlen(id), start + 24);
        assert_int_equal(strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789_-"),
                         start + 24);
    }
}

static void *make_many(void *argument)
{
    char(*mine)[ID_SIZE] = argument;
    for (int i = 0; i < EACH; i++)
        id_make(mine[i], "id");
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void test_threads_never_make_the_same(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_many, ids[i * EACH]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qsort(ids, THREADS * EACH, ID_SIZE, compare);
    for (int i = 1; i < THREADS * EACH; i++)
        assert_string_not_equal(ids[i - 1], ids[i]);
}

/* The child inherits what its parent has drawn and must not use it. */
static void test_fork_shares_nothing(void **state)
{
    (void)state;
    int ends[2];
    char parent[ID_SIZE], child[ID_SIZE];
    id_make(parent, "x");
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        id_make(child, "x");
        _exit(write(ends[1], child, ID_SIZE) == ID_SIZE ? 0 : 1);
    }
    id_make(parent, "x");
    assert_int_equal(read(ends[0], child, ID_SIZE), ID_SIZE);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_string_not_equal(parent, child);
    close(ends[0]);
    close(ends[1]);
}

/* All 64 characters turn up at all 24 places. */
static void test_every_character_is_used(void **state)
{
    (void)state;
    static bool seen[24][256];
    char id[ID_SIZE];
    int distinct = 0;
    for (int i = 0; i < 4000; i++) {
        id_make(id, "x");
        for (int place = 0; place < 24; place++) {
            bool *cell = &seen[place][(unsigned char)id[2 + place]];
            distinct += !*cell;
            *cell = true;
        }
    }
    assert_int_equal(distinct, 24 * 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_threads_never_make_the_same),
        cmocka_unit_test(test_fork_shares_nothing),
        cmocka_unit_test(test_every_character_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

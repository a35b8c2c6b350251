/* A library of the system that is loaded on first need, and one that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/library.h"

struct table {
    double (*cosine)(double);
    double (*root)(double);
};

static const struct library_function functions[] = {
    {"cos", offsetof(struct table, cosine)},
    {"sqrt", offsetof(struct table, root)},
};

static struct library of(const char *file, const struct library_function *list, size_t count)
{
    return (struct library){file, "to count", "libc6", list, count};
}

static void test_functions(void **state)
{
    (void)state;
    struct table table;
    struct error error = ERROR_INIT;
    const struct library library = of("libm.so.6", functions, 2);
    assert_true(library_load(&library, &table, &error));
    assert_true(table.cosine(0) == 1);
    assert_true(table.root(9) == 3);
}

static void test_no_library(void **state)
{
    (void)state;
    struct table table;
    struct error error = ERROR_INIT;
    const struct library library = of("libmortise-nowhere.so.7", functions, 2);
    assert_false(library_load(&library, &table, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_string_equal(error.message,
                        "cannot load 'libmortise-nowhere.so.7', which is needed to count: "
                        "libmortise-nowhere.so.7: cannot open shared object file: No such file or "
                        "directory; install it with 'sudo apt-get install libc6'");
    assert_false(library_load(&library, &table, NULL));
}

static void test_no_function(void **state)
{
    (void)state;
    static const struct library_function newer[] = {
        {"cos", offsetof(struct table, cosine)},
        {"mortise_cosine_of_tomorrow", offsetof(struct table, root)},
    };
    struct table table;
    struct error error = ERROR_INIT;
    const struct library library = of("libm.so.6", newer, 2);
    assert_false(library_load(&library, &table, &error));
    assert_string_equal(error.message,
                        "cannot load 'libm.so.6', which is needed to count: it is too old; install "
                        "it with 'sudo apt-get install libc6'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_no_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

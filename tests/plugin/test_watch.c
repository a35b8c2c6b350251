/* Folders that are watched: what is a change, and when it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>

#include "folder.h"
#include "plugin/watch.h"

static struct plugin_set *set;
static struct plugin_watch *watch;

/* ---- what the system has to give ---- */

static bool has_instances = true;
static int watches_left = -1; /* -1: as many as you like */

int __wrap_inotify_init1(int flags);
int __real_inotify_init1(int flags);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __real_inotify_add_watch(int fd, const char *path, uint32_t mask);

int __wrap_inotify_init1(int flags)
{
    if (has_instances)
        return __real_inotify_init1(flags);
    errno = EMFILE;
    return -1;
}

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    if (watches_left == 0) {
        errno = ENOSPC;
        return -1;
    }
    watches_left -= watches_left > 0;
    return __real_inotify_add_watch(fd, path, mask);
}

static int start(void **state)
{
    (void)state;
    static const struct loader loader;
    struct error error = ERROR_INIT;
    if (make_root() != 0)
        return -1;
    assert_int_equal(mkdir(in_root("folder"), 0700), 0);
    assert_int_equal(mkdir(in_root("folder/inner"), 0700), 0);
    assert_int_equal(mkdir(in_root("files"), 0700), 0);
    set = plugin_set_new(&loader);
    assert_true(plugin_set_add_file(set, in_root("files/one.plugin")));
    assert_true(plugin_set_add_folder(set, in_root("nowhere"), true));
    assert_true(plugin_set_add_folder(set, in_root("folder"), false));
    watch = plugin_watch_new(set, &error);
    return watch ? 0 : -1;
}

static int start_without_instances(void **state)
{
    has_instances = false;
    return start(state);
}

static int start_with_one_watch(void **state)
{
    watches_left = 1;
    return start(state);
}

static int end(void **state)
{
    (void)state;
    has_instances = true;
    watches_left = -1;
    plugin_watch_free(watch);
    plugin_set_free(set);
    return remove_root();
}

/* Whether a reload becomes due while nothing more happens for `ms`. */
static bool is_due_within(int ms)
{
    struct pollfd wait = {.fd = plugin_watch_fd(watch), .events = POLLIN};
    while (poll(&wait, 1, ms) > 0)
        if (plugin_watch_due(watch))
            return true;
    return false;
}

static void is_due(void)
{
    assert_true(is_due_within(10000));
    assert_false(is_due_within(0)); /* once */
}

static void is_not_due(void)
{
    assert_false(is_due_within(400));
}

static void what_changes_is_told(void **state)
{
    (void)state;
    is_not_due();
    write_file("folder/a.so", "x", 1);
    is_due();
    write_file("b", "x", 1);
    assert_int_equal(rename(in_root("b"), in_root("folder/a.so")), 0);
    is_due();
    assert_int_equal(chmod(in_root("folder/a.so"), 0700), 0);
    is_due();
    assert_int_equal(unlink(in_root("folder/a.so")), 0);
    is_due();
    write_file("folder/inner/inner.so", "x", 1);
    is_due();
    write_file("files/one.plugin", "x", 1);
    is_due();
}

static void what_is_no_plugin_is_not_told(void **state)
{
    (void)state;
    write_file("folder/notes.txt", "x", 1);
    write_file("files/notes.txt", "x", 1);
    write_file("other.so", "x", 1);
    is_not_due();
}

/* A file that is being written is left alone until it is closed. */
static void half_a_file_is_not_told(void **state)
{
    (void)state;
    int fd = open(in_root("folder/a.so"), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, "x", 1), 1);
    is_not_due();
    close(fd);
    is_due();
}

static void a_folder_that_comes_later_is_watched_too(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_root("folder/later"), 0700), 0);
    is_due();
    write_file("folder/later/later.so", "x", 1);
    is_due();
}

/* Several files that are installed together. */
static void many_changes_are_one(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof(name), "folder/%d.so", i);
        write_file(name, "x", 1);
        assert_false(plugin_watch_due(watch));
    }
    is_due();
    is_not_due();
}

/* Between two requests nobody waits until it is quiet. */
static void it_can_be_asked_without_waiting(void **state)
{
    (void)state;
    assert_false(plugin_watch_changed(watch));
    write_file("folder/a.so", "x", 1);
    assert_true(plugin_watch_changed(watch));
    assert_false(plugin_watch_changed(watch));
    is_not_due();
    write_file("folder/b.so", "x", 1);
    assert_false(plugin_watch_due(watch));
    assert_true(plugin_watch_changed(watch));
    is_not_due();
}

/* Its watches go with it. */
static void a_folder_that_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_root("new"), 0700), 0);
    write_file("new/a.so", "x", 1);
    assert_int_equal(rename(in_root("folder"), in_root("old")), 0);
    assert_int_equal(rename(in_root("new"), in_root("folder")), 0);
    is_due();
    write_file("folder/b.so", "x", 1);
    is_due();
}

/* Where nothing can be watched, or not all of it, files are looked at. */
static void files_are_looked_at(void **state)
{
    (void)state;
    write_file("folder/notes.txt", "x", 1);
    is_not_due();
    write_file("folder/inner/inner.so", "x", 1);
    is_due();
    write_file("b", "x", 1);
    assert_int_equal(rename(in_root("b"), in_root("folder/inner/inner.so")), 0);
    assert_true(plugin_watch_changed(watch));
    assert_false(plugin_watch_changed(watch));
    write_file("files/one.plugin", "x", 1);
    is_due();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
        TEST(what_changes_is_told),
        TEST(what_is_no_plugin_is_not_told),
        TEST(half_a_file_is_not_told),
        TEST(a_folder_that_comes_later_is_watched_too),
        TEST(many_changes_are_one),
        TEST(it_can_be_asked_without_waiting),
        TEST(a_folder_that_is_replaced),
        cmocka_unit_test_setup_teardown(files_are_looked_at, start_without_instances, end),
        cmocka_unit_test_setup_teardown(files_are_looked_at, start_with_one_watch, end),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

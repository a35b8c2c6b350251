#include "cmocka_all.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../plugin/folder.h"
#include "plugin/scan.h"

/* ---- a folder of the test's own ---- */

static char seen[2048]; /* "+ PATH" and "- PATH: REASON" lines, below the folder */

static int set_up(void **state)
{
    (void)state;
    *seen = '\0';
    return make_root();
}

static int tear_down(void **state)
{
    (void)state;
    return remove_root();
}

static void make_file(const char *name, mode_t mode)
{
    int fd = open(in_root(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0); /* whatever the umask */
    close(fd);
}

static void make_folder(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(in_root(name), 0700), 0);
    assert_int_equal(chmod(in_root(name), mode), 0);
}

static void found(void *context, const char *path)
{
    (void)context;
    size_t used = strlen(seen);
    snprintf(seen + used, sizeof(seen) - used, "+ %s\n", path + strlen(root));
}

static void refused(void *context, const char *path, const char *reason)
{
    (void)context;
    size_t used = strlen(seen);
    snprintf(seen + used, sizeof(seen) - used, "- %s: %.22s\n", path + strlen(root), reason);
}

static void scan(void)
{
    *seen = '\0';
    scan_folder(root, false, found, refused, NULL);
}

static void cannot_open(const char *name, const char *why)
{
    struct error error = ERROR_INIT;
    assert_int_equal(scan_open(in_root(name), NULL, &error), -1);
    assert_has(error.message, why);
    assert_int_equal(error.kind, ERROR_PLUGIN);
}

/* ---- tests ---- */

static void test_candidates_in_order(void **state)
{
    (void)state;
    make_file("b.so", 0644);
    make_file("B.so", 0644);
    make_file("a-.so", 0644);
    make_file(".hidden.so", 0644);
    make_file("notes.txt", 0644);
    make_file("old.so.1", 0644);
    make_file("so", 0644);
    make_file(".so", 0644);
    make_folder("a", 0755);
    make_file("a/a.so", 0644);
    make_file("a/other.so", 0644);
    make_folder("empty", 0755);
    make_folder("c.so", 0755);
    assert_int_equal(symlink("/nowhere", in_root("z.so")), 0);
    scan();
    assert_string_equal(seen, "+ /B.so\n+ /a-.so\n+ /a/a.so\n+ /b.so\n+ /z.so\n");
}

static void test_missing_folders(void **state)
{
    (void)state;
    scan_folder(in_root("none"), true, found, refused, NULL);
    assert_string_equal(seen, "");
    scan_folder(in_root("none"), false, found, refused, NULL);
    assert_string_equal(seen, "- /none: it cannot be opened: N\n");
    *seen = '\0';
    make_file("file", 0644);
    scan_folder(in_root("file"), true, found, refused, NULL);
    assert_string_equal(seen, "- /file: it cannot be opened: N\n");
}

/* Everything in a folder that others can write is refused with it. */
static void test_folders_of_others(void **state)
{
    (void)state;
    make_file("a.so", 0644);
    make_folder("b", 0777);
    make_file("b/b.so", 0644);
    make_folder("c", 0775);
    make_file("c/c.so", 0644);
    scan();
    assert_string_equal(seen, "- /b: everybody can write it\n"
                              "- /c: its group can write it\n"
                              "+ /a.so\n");
    assert_int_equal(chmod(root, 0722), 0);
    scan();
    assert_string_equal(seen, "- : everybody can write it\n");
}

static void test_files_are_checked(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    make_file("good.so", 0600);
    int fd = scan_open(in_root("good.so"), NULL, &error);
    assert_true(fd >= 0);
    close(fd);

    cannot_open("none.so", "it cannot be opened: No such file or directory");
    make_folder("folder.so", 0755);
    cannot_open("folder.so", "it is a folder, no regular file");
    assert_int_equal(mkfifo(in_root("pipe.so"), 0600), 0);
    cannot_open("pipe.so", "it is a device or a pipe, no regular file");
    assert_int_equal(symlink("gone", in_root("link.so")), 0);
    cannot_open("link.so", "it is a link to 'gone', which does not exist");
    make_file("group.so", 0660);
    cannot_open("group.so", "its group can write it: run chmod go-w '");
    make_file("world.so", 0646);
    cannot_open("world.so", "everybody can write it: run chmod go-w '");
}

static void test_files_of_other_users(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    make_file("theirs.so", 0644);
    assert_int_equal(chown(in_root("theirs.so"), 12345, 12345), 0);
    cannot_open("theirs.so", "it belongs to user 12345, neither to root nor to you (user 0)");
    /* As that user: the own file and root's are both fine. */
    struct error error = ERROR_INIT;
    make_file("roots.so", 0644);
    assert_int_equal(chmod(root, 0755), 0);
    assert_int_equal(seteuid(12345), 0);
    int own = scan_open(in_root("theirs.so"), NULL, &error);
    int roots = scan_open(in_root("roots.so"), NULL, &error);
    assert_int_equal(seteuid(0), 0);
    assert_true(own >= 0 && roots >= 0);
    close(own);
    close(roots);
}

static void test_a_file_that_may_not_be_read(void **state)
{
    (void)state;
    make_file("secret.so", 0000);
    assert_int_equal(chmod(root, 0755), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(12345), 0);
    cannot_open("secret.so", "it cannot be opened: Permission denied");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_candidates_in_order),  TEST(test_missing_folders),
        TEST(test_folders_of_others),    TEST(test_files_are_checked),
        TEST(test_files_of_other_users), TEST(test_a_file_that_may_not_be_read),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

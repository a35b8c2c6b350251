/* The list of trusted plugins, and the copies that are hashed: M5. */
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../plugin/folder.h"
#include "../base/failing.h"
#include "plugin/pins.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* ---- a folder of the test's own ---- */

static char list[128];
static struct error error;

static int set_up(void **state)
{
    (void)state;
    if (make_root() != 0)
        return -1;
    snprintf(list, sizeof(list), "%s/data/trusted.json", root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return remove_root();
}

static void write_at(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void write_list(const char *text, mode_t mode)
{
    mkdir(in_root("data"), 0700);
    write_at(list, text, mode);
}

static void add(const char *name, const char *path, const char *sha256)
{
    const struct pin pin = {name, path, sha256, "2030-01-31T12:00:00Z"};
    if (!pins_add(list, &pin, 1, &error))
        fail_msg("%s", error.message);
}

static struct pins *read_good(void)
{
    struct pins *pins = pins_read(list, &error);
    if (!pins)
        fail_msg("%s", error.message);
    return pins;
}

static size_t count(void)
{
    size_t count = 0;
    struct pins *pins = read_good();
    while (pins_at(pins, count))
        count++;
    pins_free(pins);
    return count;
}

/* ---- what is kept ---- */

static void test_adds_and_finds(void **state)
{
    (void)state;
    struct stat status;
    const struct pin *pin;
    assert_int_equal(count(), 0); /* no folder, no file */
    add("greet", in_root("greet.so"), A);
    add("a \"b\"", in_root("a \"b\".so"), B);
    struct pins *pins = read_good();
    assert_string_equal(pins_at(pins, 0)->name, "greet");
    assert_string_equal(pins_at(pins, 0)->sha256, A);
    assert_string_equal(pins_at(pins, 1)->path, in_root("a \"b\".so"));
    assert_null(pins_at(pins, 2));
    assert_int_equal(pins_look(pins, in_root("greet.so"), A, &pin), PIN_TRUSTED);
    assert_ptr_equal(pin, pins_at(pins, 0));
    assert_true(pins_admit(pins, "elsewhere/greet.so", A, &error));
    pins_free(pins);
    assert_int_equal(stat(list, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(access(in_root("data/trusted.json.new"), F_OK), -1);
}

/* Whoever renames a trusted plugin takes it away from its section of the configuration. */
static void test_name_counts(void **state)
{
    (void)state;
    add("shell", in_root("shell.so"), A);
    struct pins *pins = read_good();
    assert_false(pins_admit(pins, in_root("a.so"), A, &error));
    assert_has(error.message, "it is trusted under the name 'shell' only");
    pins_free(pins);
    add("a", in_root("a.so"), A);
    pins = read_good();
    assert_true(pins_admit(pins, in_root("a.so"), A, &error));
    assert_true(pins_admit(pins, in_root("shell.so"), A, &error));
    pins_free(pins);
}

/* M5 */
static void test_says_why_not(void **state)
{
    (void)state;
    char *path = strdup(in_root("greet.so"));
    write_at(path, "x", 0600);
    assert_int_equal(symlink(path, in_root("link.so")), 0);
    add("greet", path, A);
    struct pins *pins = read_good();
    assert_false(pins_admit(pins, path, B, &error));
    assert_int_equal(error.kind, ERROR_PLUGIN);
    assert_has(error.message, "it changed since it was trusted on 2030-01-31; if you know why, run "
                              "mortise plugins trust '");
    assert_false(pins_admit(pins, in_root("link.so"), B, &error));
    assert_has(error.message, "it changed since it was trusted");
    assert_false(pins_admit(pins, in_root("other.so"), B, &error));
    assert_has(error.message, "it is not trusted; if you know where it comes from, run");
    pins_free(pins);
    free(path);
}

/* Going back to what was trusted once is a change as well. */
static void test_one_pin_of_a_path(void **state)
{
    (void)state;
    add("greet", in_root("greet.so"), A);
    add("greet", in_root("greet.so"), B);
    assert_int_equal(count(), 1);
    struct pins *pins = read_good();
    assert_false(pins_admit(pins, in_root("greet.so"), A, &error));
    assert_true(pins_admit(pins, in_root("greet.so"), B, &error));
    pins_free(pins);
}

static void removes(const char *word, const char *wanted)
{
    struct text removed = TEXT_INIT;
    if (!pins_remove(list, word, &removed, &error))
        fail_msg("%s", error.message);
    assert_string_equal(text_cstr(&removed), wanted);
    text_release(&removed);
}

static void test_removes(void **state)
{
    (void)state;
    char line[160];
    add("one", "/p/one.so", A);
    add("two", "/p/two.so", B);
    add("one", "/q/one.so", B);
    write_at(in_root("three.so"), "x", 0600);
    assert_int_equal(symlink(in_root("three.so"), in_root("link.so")), 0);
    add("three", in_root("three.so"), A);
    removes("nothing", "");
    removes("bbbbbbb", ""); /* too short to mean one */
    removes("/p/two.so", "two (/p/two.so)\n");
    removes("one", "one (/p/one.so)\none (/q/one.so)\n");
    snprintf(line, sizeof(line), "three (%s)\n", in_root("three.so"));
    removes(in_root("link.so"), line);
    assert_int_equal(count(), 0);
    add("four", "/p/four.so", A);
    removes("aaaaaaaaa", "four (/p/four.so)\n");
}

/* ---- what is not believed ---- */

static void cannot_use(const char *why)
{
    const struct pin pin = {"x", "/x.so", A, "today"};
    struct text removed = TEXT_INIT;
    assert_null(pins_read(list, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_has(error.message, "the list of trusted plugins '");
    assert_has(error.message, why);
    assert_false(pins_add(list, &pin, 1, &error)); /* and nothing is written over it */
    assert_has(error.message, why);
    assert_false(pins_remove(list, "x", &removed, &error));
    assert_has(error.message, why);
    text_release(&removed);
}

#define ENTRY(name, path, sha256)                                                                  \
    "{\"name\":\"" name "\",\"path\":\"" path "\",\"sha256\":\"" sha256 "\",\"date\":\"d\"}"
#define LIST(entries) "{\"mortise_trusted\":1,\"plugins\":[" entries "]}"

static void test_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "invalid JSON"},
        {"{\"mortise_trusted\":1,\"plugins\":[{\"name\":\"a\",\"path\":\"/a", "invalid JSON"}, /* torn */
        {"[]", "must be an object"},
        {"{}", "must be an object"},
        {"{\"mortise_trusted\":1,\"plugins\":{}}", "must be an object"},
        {"{\"mortise_trusted\":2,\"plugins\":[]}", "newer version"},
        {LIST("1"), "entry 1 is not"},
        {LIST(ENTRY("a", "a.so", A)), "entry 1 is not"},
        {LIST(ENTRY("a", "/a.so", "abc")), "entry 1 is not"},
        {LIST(ENTRY("a", "/a.so", A) "," ENTRY("b", "/b.so", A "a")), "entry 2 is not"},
        {LIST("{\"name\":\"a\",\"path\":\"/a.so\",\"sha256\":\"" A "\"}"), "entry 1 is not"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_list(cases[i].text, 0600);
        cannot_use(cases[i].why);
    }
    write_list(LIST(ENTRY("a", "/a.so", A)), 0600);
    assert_int_equal(count(), 1);
}

static void test_of_others(void **state)
{
    (void)state;
    write_list(LIST(""), 0620);
    cannot_use("others can write it: chmod go-w ends that");
    write_list(LIST(""), 0602);
    cannot_use("others can write it");
    write_list(LIST(""), 0600);
    assert_int_equal(chmod(in_root("data"), 0770), 0);
    cannot_use("others can write its folder");
    assert_int_equal(chmod(in_root("data"), 0700), 0);
    assert_int_equal(count(), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(list, 12345, 0), 0);
        cannot_use("it belongs to user 12345");
    }
}

static void test_no_file_of_its_kind(void **state)
{
    (void)state;
    write_list(LIST(""), 0600);
    assert_int_equal(rename(list, in_root("data/other.json")), 0);
    assert_int_equal(symlink("other.json", list), 0);
    cannot_use("it is a symbolic link");
    assert_int_equal(unlink(list), 0);
    assert_int_equal(mkfifo(list, 0600), 0);
    cannot_use("it is no regular file");
    assert_int_equal(unlink(list), 0);
    assert_int_equal(mkdir(list, 0700), 0);
    cannot_use("it is no regular file");
}

static void test_too_large(void **state)
{
    (void)state;
    write_list(LIST(""), 0600);
    assert_int_equal(truncate(list, (4 << 20) + 1), 0);
    cannot_use("larger than");
}

/* What a writer that was killed left is no hindrance, and no way to another file. */
static void test_left_over(void **state)
{
    (void)state;
    write_list(LIST(""), 0600);
    write_at(in_root("precious"), "precious", 0600);
    assert_int_equal(symlink(in_root("precious"), in_root("data/trusted.json.new")), 0);
    add("one", "/p/one.so", A);
    assert_int_equal(count(), 1);
    struct stat status;
    assert_int_equal(stat(in_root("precious"), &status), 0);
    assert_int_equal(status.st_size, strlen("precious"));
}

/* ---- two at once ---- */

enum { WRITERS = 4, EACH = 20 };

static void write_many(int writer)
{
    char name[32], path[64];
    for (int i = 0; i < EACH; i++) {
        snprintf(name, sizeof(name), "w%d_%d", writer, i);
        snprintf(path, sizeof(path), "/p/%s.so", name);
        const struct pin pin = {name, path, A, "2030-01-31T12:00:00Z"};
        if (!pins_add(list, &pin, 1, &error))
            _exit(1);
    }
    _exit(0);
}

static void test_writers_lose_nothing(void **state)
{
    (void)state;
    pid_t writers[WRITERS];
    int status;
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] == 0)
            write_many(i);
    }
    for (int i = 0; i < 200; i++)
        count(); /* a reader never sees half of it */
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count(), WRITERS * EACH);
}

/* Every allocation fails once: no half list, no leak. */
static void test_no_memory(void **state)
{
    (void)state;
    add("one", "/p/one.so", A);
    const struct pin pin = {"two", "/p/two.so", B, "2030-01-31T12:00:00Z"};
    bool done = false;
    for (int i = 0; !done; i++) {
        fail_after(i);
        done = pins_add(list, &pin, 1, &error);
        bool failed = fail_never();
        assert_true(done || failed);
        assert_int_equal(count(), done ? 2 : 1);
    }
}

/* ---- copies ---- */

static int open_file(const char *name)
{
    int fd = open(in_root(name), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_copy_stays(void **state)
{
    (void)state;
    char sha256[SHA256_TEXT], again[SHA256_TEXT], byte;
    write_at(in_root("file"), "abc", 0600);
    int fd = open_file("file");
    int copy = sealed_copy(fd, "name", sha256, &error);
    assert_true(copy >= 0);
    assert_string_equal(sha256,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(pwrite(fd, "X", 1, 0), 1);
    assert_true(sealed_hash(copy, again, &error));
    assert_string_equal(again, sha256);
    assert_true(sealed_hash(fd, again, &error));
    assert_string_not_equal(again, sha256);

    assert_int_equal(pwrite(copy, "X", 1, 0), -1);
    assert_int_equal(ftruncate(copy, 0), -1);
    assert_int_equal(ftruncate(copy, 10), -1);
    assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK), -1);
    assert_ptr_equal(mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0), MAP_FAILED);
    assert_int_equal(pread(copy, &byte, 1, 0), 1);
    assert_int_equal(byte, 'a');
    close(copy);
    close(fd);
}

static void test_copy_of_too_much(void **state)
{
    (void)state;
    char sha256[SHA256_TEXT];
    write_at(in_root("file"), "", 0600);
    int fd = open_file("file");
    assert_int_equal(ftruncate(fd, ((off_t)512 << 20) + 1), 0);
    assert_int_equal(sealed_copy(fd, "name", sha256, &error), -1);
    assert_has(error.message, "it is larger than 512 MiB");
    close(fd);
    fd = open(root, O_RDONLY | O_CLOEXEC);
    assert_int_equal(sealed_copy(fd, "name", sha256, &error), -1);
    assert_has(error.message, "it cannot be read");
    close(fd);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"/a/b.so", "b"}, {"b.so", "b"},   {"/a/b", "b"},
                                           {"./b.c.so", "b.c"}, {".so", ".so"}, {"a/.so", ".so"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *name = pins_name(names[i][0]);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(test_adds_and_finds), IN_ROOT(test_name_counts), IN_ROOT(test_says_why_not),
        IN_ROOT(test_one_pin_of_a_path), IN_ROOT(test_removes), IN_ROOT(test_malformed),
        IN_ROOT(test_of_others), IN_ROOT(test_no_file_of_its_kind), IN_ROOT(test_too_large),
        IN_ROOT(test_left_over), IN_ROOT(test_writers_lose_nothing), IN_ROOT(test_no_memory),
        IN_ROOT(test_copy_stays), IN_ROOT(test_copy_of_too_much), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What can happen to a store: other processes, full disks, damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conversation/sqlite_api.h"
#include "unit/conversation/store_fixture.h"

static struct error error = ERROR_INIT;
static char program[4096]; /* this one, to be run as another process */

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

#define assert_error(call, error_kind, part)                                                       \
    do {                                                                                           \
        assert_false(call);                                                                        \
        if (error.kind != (error_kind) || !strstr(error.message, (part)))                          \
            fail_msg("%s: %s %s", #call, error_kind_name(error.kind), error.message);              \
    } while (0)

static bool append_text(struct store *store, const char *id, const char *text)
{
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, text, strlen(text));
    assert_non_null(item);
    bool ok = store->ops->append(store, id, &item, 1, &error);
    item_unref(item);
    return ok;
}

static size_t count_items(struct store *store, const char *id, size_t *skipped)
{
    struct session_items items;
    assert_ok(store->ops->load(store, id, &items, &error));
    size_t count = items.count;
    if (skipped)
        *skipped = items.skipped;
    session_items_release(&items);
    return count;
}

/* ---- who runs it (FAULTS 138) ---- */

/* The other process: `hold PATH` acquires session "one" and waits; `leave PATH` leaves a child
 * behind that waits, too, without having it. */
static int be_another_process(const char *how, const char *path)
{
    struct store *store = store_sqlite_open(path, true, &error);
    if (!store || !store->ops->acquire(store, "one", &error) ||
        !store->ops->set_state(store, "one", SESSION_RUNNING, &error))
        return 1;
    bool leaves = strcmp(how, "leave") == 0;
    bool ready = leaves ? fork() == 0 : true; /* the child tells, when it is on its own */
    if (ready && write(STDOUT_FILENO, "x", 1) != 1)
        return 1;
    pause();
    return 0;
}

static pid_t start(const char *how, const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        dup2(ready[1], STDOUT_FILENO);
        execl(program, program, how, path, (char *)NULL);
        _exit(127);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void test_busy(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct session session;
    char expected[64];
    fixture_session(store, "one");
    pid_t pid = start("hold", fixture->path);
    snprintf(expected, sizeof(expected), "session 'one' is busy: process %d is running it", (int)pid);
    assert_error(store->ops->acquire(store, "one", &error), ERROR_INTERNAL, expected);
    assert_error(store->ops->remove(store, "one", &error), ERROR_INTERNAL, expected);
    assert_ok(store->ops->find(store, "one", &session, &error));
    assert_int_equal(session.state, SESSION_RUNNING);
    session_release(&session);

    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_ok(store->ops->find(store, "one", &session, &error));
    assert_int_equal(session.state, SESSION_INTERRUPTED);
    assert_true(session.crashed);
    session_release(&session);
    assert_ok(store->ops->acquire(store, "one", &error));
    store->ops->release(store);
}

/* What a tool leaves running when its host dies keeps nothing busy. */
static void test_children_hold_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_session(fixture->store, "one");
    pid_t pid = start("leave", fixture->path);
    assert_false(fixture->store->ops->acquire(fixture->store, "one", &error));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    bool acquired = fixture->store->ops->acquire(fixture->store, "one", &error);
    kill(-pid, SIGKILL);
    assert_ok(acquired);
    fixture->store->ops->release(fixture->store);
}

static void test_busy_within_a_process(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture->store, *other = fixture_open(fixture);
    fixture_session(store, "one");
    fixture_session(store, "two");
    assert_ok(store->ops->acquire(store, "one", &error));
    assert_error(other->ops->acquire(other, "one", &error), ERROR_INTERNAL, "busy");
    assert_ok(other->ops->acquire(other, "two", &error));
    store->ops->release(store);
    other->ops->release(other);
    assert_ok(other->ops->acquire(other, "one", &error));
    store_close(other);
    assert_ok(store->ops->acquire(store, "one", &error));
}

/* ---- disks ---- */

/* A small disk of this process's own; skips the test where that is not allowed. */
static void mount_disk(const char *folder, const char *size)
{
    mkdir(folder, 0700);
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", folder, "tmpfs", 0, size) == 0)
        return;
    print_message("not allowed to mount a disk: %s\n", strerror(errno));
    rmdir(folder);
    skip();
}

static void remove_disk(const char *folder)
{
    umount2(folder, MNT_DETACH);
    rmdir(folder);
}

static void remount(const char *folder, unsigned long flags, const char *size)
{
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT | flags, size) != 0)
        fail_msg("remount: %s", strerror(errno));
}

static void test_full_disk(void **state)
{
    struct fixture *fixture = *state;
    char folder[128], path[160];
    static char text[5000];
    snprintf(folder, sizeof(folder), "%s/disk", fixture->folder);
    mount_disk(folder, "size=256k");
    snprintf(path, sizeof(path), "%s/sessions.db", folder);
    struct store *store = store_sqlite_open(path, true, &error);
    if (!store)
        fail_msg("%s", error.message);
    fixture_session(store, "one");
    memset(text, 'x', sizeof(text) - 1);
    size_t stored = 0;
    while (stored < 1000 && append_text(store, "one", text))
        stored++;
    assert_in_range(stored, 1, 999);
    if (error.kind != ERROR_INTERNAL || !strstr(error.message, "nothing that was stored is lost"))
        fail_msg("%s", error.message);
    assert_int_equal(count_items(store, "one", NULL), stored);
    store_close(store);

    remount(folder, 0, "size=2m");
    store = store_sqlite_open(path, false, &error);
    if (!store)
        fail_msg("%s", error.message);
    assert_int_equal(count_items(store, "one", NULL), stored);
    assert_true(append_text(store, "one", text));
    assert_int_equal(count_items(store, "one", NULL), stored + 1);
    store_close(store);
    remove_disk(folder);
}

static void test_read_only_disk(void **state)
{
    struct fixture *fixture = *state;
    char folder[128], path[160];
    snprintf(folder, sizeof(folder), "%s/disk", fixture->folder);
    mount_disk(folder, "size=1m");
    snprintf(path, sizeof(path), "%s/sessions.db", folder);
    remount(folder, MS_RDONLY, NULL);
    assert_null(store_sqlite_open(path, true, &error));
    if (error.kind != ERROR_CONFIG || !strstr(error.message, "Read-only file system"))
        fail_msg("%s", error.message);

    remount(folder, 0, NULL);
    struct store *store = store_sqlite_open(path, true, &error);
    assert_non_null(store);
    fixture_session(store, "one");
    store_close(store);
    remount(folder, MS_RDONLY, NULL);
    store = store_sqlite_open(path, true, &error);
    if (store || error.kind != ERROR_CONFIG || !strstr(error.message, path))
        fail_msg("%s", store ? "it opens" : error.message);
    remove_disk(folder);
}

/* ---- damage (FAULTS 135, 136) ---- */

static void run_sql(const struct fixture *fixture, const char *sql)
{
    const struct sqlite_api *api = sqlite_api(&error);
    sqlite3 *db;
    assert_non_null(api);
    assert_int_equal(api->open_v2(fixture->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(api->exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    api->close(db);
}

/* Rows that nobody can read are left out and counted; everything behind them is there.  A call
 * whose result is lost gets one that says so (FAULTS 119). */
static void test_unreadable_rows(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    size_t skipped;
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, SAMPLE_COUNT, &error));
    static const struct {
        const char *damage;
        size_t count, skipped;
    } cases[] = {
        {"UPDATE items SET json = zeroblob(200) WHERE place = 0", 9, 1},
        {"UPDATE items SET json = '' WHERE place = 1", 8, 2},
        {"UPDATE items SET json = '{\"type\":\"odd\"}' WHERE place = 2", 7, 3},
        {"UPDATE items SET attachments = '[7]' WHERE place = 5", 7, 4},
        {"UPDATE items SET json = substr(json, 1, 30) WHERE place = 4", 5, 6}, /* and its result */
        {"DELETE FROM items WHERE place = 7", 4, 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        run_sql(fixture, cases[i].damage);
        size_t count = count_items(store, "one", &skipped);
        if (count != cases[i].count || skipped != cases[i].skipped)
            fail_msg("%s: %zu items, %zu skipped", cases[i].damage, count, skipped);
    }
    assert_true(append_text(store, "one", "more")); /* behind what is there */
    assert_int_equal(count_items(store, "one", &skipped), 5);
    sample_free(items);
}

static void test_newer_and_foreign(void **state)
{
    struct fixture *fixture = *state;
    fixture_session(fixture->store, "one");
    run_sql(fixture, "PRAGMA user_version = 7");
    assert_null(store_sqlite_open(fixture->path, true, &error));
    if (error.kind != ERROR_CONFIG || !strstr(error.message, "newer mortise (version 7"))
        fail_msg("%s", error.message);
    run_sql(fixture, "PRAGMA user_version = 0");
    assert_null(store_sqlite_open(fixture->path, true, &error));
    if (error.kind != ERROR_CONFIG || !strstr(error.message, "another program"))
        fail_msg("%s", error.message);
}

static void write_file(const char *path, const char *data, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), (ssize_t)length);
    close(fd);
}

static size_t read_whole(const char *path, char *data, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t length = read(fd, data, size);
    assert_true(length > 0 && (size_t)length < size);
    close(fd);
    return (size_t)length;
}

/* Opens and reads everything; never crashes, and tells what it cannot do: false, then, or when
 * items were left out. */
static bool survives(const char *path)
{
    struct session_items items;
    error_clear(&error);
    struct store *store = store_sqlite_open(path, true, &error);
    bool ok = store && store->ops->load(store, "one", &items, &error);
    bool whole = ok && items.skipped == 0;
    if (ok)
        session_items_release(&items);
    else if (error.kind == ERROR_NONE || !*error.message)
        fail_msg("it fails and tells nothing");
    store_close(store);
    return whole;
}

static void test_damaged_files(void **state)
{
    struct fixture *fixture = *state;
    static char whole[1 << 18], damaged[1 << 18];
    static char text[3000];
    static const char no_database[] = "this is no database, it only has the name of one";
    fixture_session(fixture->store, "one");
    memset(text, 'y', sizeof(text) - 1);
    for (int i = 0; i < 20; i++)
        assert_true(append_text(fixture->store, "one", text));
    store_close(fixture->store);
    fixture->store = NULL;
    size_t length = read_whole(fixture->path, whole, sizeof(whole));
    assert_true(survives(fixture->path));

    write_file(fixture->path, no_database, strlen(no_database));
    assert_false(survives(fixture->path));
    if (!strstr(error.message, "damaged") || !strstr(error.message, fixture->path))
        fail_msg("%s", error.message);

    for (size_t cut = 100; cut < length; cut += 4096 + 512) {
        write_file(fixture->path, whole, cut);
        if (survives(fixture->path))
            fail_msg("cut to %zu of %zu bytes it reads well", cut, length);
    }
    srandom(1);
    for (int round = 0; round < 60; round++) {
        memcpy(damaged, whole, length);
        for (int i = 0; i < 30; i++)
            damaged[(size_t)random() % length] = (char)random();
        write_file(fixture->path, damaged, length);
        survives(fixture->path);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_another_process(argv[1], argv[2]);
    if (!realpath(argv[0], program))
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(test_busy),
        TEST(test_children_hold_nothing),
        TEST(test_busy_within_a_process),
        TEST(test_unreadable_rows),
        TEST(test_newer_and_foreign),
        TEST(test_damaged_files),
        TEST(test_full_disk),
        TEST(test_read_only_disk),
    };
    return cmocka_run_group_tests_name("store faults", tests, NULL, NULL);
}

/* What the calls of a tool came to, counted from many threads, and kept over processes. */
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/failing.h"
#include "plugin/account_file.h"

static void count(struct account *account, bool success, int64_t ns)
{
    account_count(account,
                  &(struct account_call){
                      .success = success, .duration_ns = ns, .bytes_in = 3, .bytes_out = 5});
}

/* ---- counting ---- */

static void test_sums(void **state)
{
    (void)state;
    struct account *account = account_new();
    struct account_sum sum;
    assert_false(account_is_due(account));
    assert_false(account_take(account, &sum));
    count(account, true, 1000);
    count(account, false, 5000);
    count(account, false, 0); /* refused */
    account_drop_progress(account, 77);
    assert_true(account_take(account, &sum));
    assert_int_equal(sum.calls, 3);
    assert_int_equal(sum.errors, 2);
    assert_int_equal(sum.total_ns, 6000);
    assert_int_equal(sum.max_ns, 5000);
    assert_int_equal(sum.bytes_in, 9);
    assert_int_equal(sum.bytes_out, 15);
    assert_int_equal(sum.progress_dropped, 77);
    assert_false(account_take(account, &sum)); /* it was taken */
    count(account, true, 100);
    assert_true(account_take(account, &sum));
    assert_int_equal(sum.calls, 1);
    assert_int_equal(sum.max_ns, 100);
    count(account, true, 7);
    account_read(account, &sum); /* all that there ever was */
    assert_int_equal(sum.calls, 5);
    assert_int_equal(sum.errors, 2);
    assert_int_equal(sum.total_ns, 6107);
    assert_int_equal(sum.max_ns, 5000);
    account_unref(account);
}

static double off_by(int64_t told, int64_t wanted)
{
    double difference = (double)(told - wanted) / (double)wanted;
    return difference < 0 ? -difference : difference;
}

/* Every size of a time, to 5 %; the largest exactly. */
static void test_times_are_told_well(void **state)
{
    (void)state;
    for (int64_t ns = 1; ns < INT64_C(2000000000000); ns += ns / 7 + 1) {
        struct account *account = account_new();
        struct account_sum sum;
        for (int i = 0; i < 3; i++)
            count(account, true, ns);
        count(account, true, ns * 2);
        account_read(account, &sum);
        assert_true(off_by(account_quantile_ns(&sum, 0.5), ns) < 0.05);
        assert_true(off_by(account_quantile_ns(&sum, 1), ns * 2) < 0.05);
        assert_int_equal(sum.max_ns, ns * 2);
        account_unref(account);
    }
}

/* 1 ms to 1000 ms, each once: the quantiles are known. */
static void test_quantiles(void **state)
{
    (void)state;
    struct account *account = account_new();
    struct account_sum sum;
    account_read(account, &sum);
    assert_int_equal(account_quantile_ns(&sum, 0.5), 0);
    for (int64_t ms = 1000; ms >= 1; ms--)
        count(account, true, ms * 1000000);
    account_read(account, &sum);
    assert_true(off_by(account_quantile_ns(&sum, 0.50), INT64_C(500000000)) < 0.05);
    assert_true(off_by(account_quantile_ns(&sum, 0.99), INT64_C(990000000)) < 0.05);
    assert_true(account_quantile_ns(&sum, 0.99) <= sum.max_ns);
    /* what is longer than the longest bucket */
    count(account, true, INT64_MAX / 2);
    account_read(account, &sum);
    assert_int_equal(sum.max_ns, INT64_MAX / 2);
    assert_true(account_quantile_ns(&sum, 1) > INT64_C(4000000000000));
    account_unref(account);
}

static void *count_many(void *account)
{
    for (int i = 1; i <= 5000; i++)
        count(account, i % 5 != 0, i);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct account *account = account_new();
    struct account_sum sum, taken = {0};
    pthread_t threads[8];
    int64_t in_buckets = 0;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, count_many, account);
    for (int i = 0; i < 50; i++) /* while they count */
        if (account_take(account, &sum))
            account_sum_add(&taken, &sum);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    if (account_take(account, &sum))
        account_sum_add(&taken, &sum);
    for (size_t i = 0; i < ACCOUNT_BUCKETS; i++)
        in_buckets += taken.times[i];
    assert_int_equal(taken.calls, 40000);
    assert_int_equal(taken.errors, 8000);
    assert_int_equal(in_buckets, 40000);
    assert_int_equal(taken.max_ns, 5000);
    assert_int_equal(taken.total_ns, INT64_C(8) * 5000 * 5001 / 2);
    account_read(account, &sum);
    assert_memory_equal(&sum, &taken, sizeof(sum));
    account_unref(account);
}

static void test_sums_do_not_overflow(void **state)
{
    (void)state;
    struct account_sum sum = {.calls = INT64_MAX - 1}, more = {.calls = 5, .errors = -7};
    account_sum_add(&sum, &more);
    assert_int_equal(sum.calls, INT64_MAX);
    assert_int_equal(sum.errors, 0);
}

static void test_no_memory_for_times(void **state)
{
    (void)state;
    struct account *account = account_new();
    struct account_sum sum;
    fail_after(0);
    count(account, true, 500);
    assert_false(account_take(account, &sum));
    assert_true(fail_never());
    assert_true(account_take(account, &sum));
    assert_int_equal(sum.calls, 1);
    assert_int_equal(sum.total_ns, 500);
    account_unref(account);
}

/* ---- the file ---- */

static char folder[] = "/tmp/account.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state/a.jsonl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static void write_file(const char *text)
{
    char parent[64];
    snprintf(parent, sizeof(parent), "%s/state", folder);
    mkdir(parent, 0700);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void add(const char *plugin, const char *tool, int64_t calls)
{
    static struct account_entry entry;
    struct error error;
    entry = (struct account_entry){.plugin = plugin, .tool = tool};
    entry.sum = (struct account_sum){.calls = calls, .max_ns = calls * 10, .errors = 1};
    entry.sum.times[30] = calls;
    bool added = false;
    for (int i = 0; !added && i < 50; i++) /* the lock is not waited for for ever */
        added = account_file_add(path, &entry, 1, &error);
    if (!added)
        fail_msg("%s", error.message);
}

/* Its calls, or -1. */
static int64_t calls_of(const char *plugin, const char *tool)
{
    static struct account_sum sum;
    struct error error;
    json_t *book = account_file_read(path, &error);
    if (!book)
        fail_msg("%s", error.message);
    bool found = account_file_find(book, plugin, tool, &sum);
    json_decref(book);
    return found ? sum.calls : -1;
}

static void test_file_adds_up(void **state)
{
    (void)state;
    struct account_sum sum;
    struct error error;
    struct stat status;
    assert_int_equal(calls_of("p", "t"), -1); /* nothing is there, and nothing is made */
    assert_int_equal(access(path, F_OK), -1);
    add("p", "t", 5);
    add("p", "u", 1);
    add("p", "t", 3);
    json_t *book = account_file_read(path, &error);
    assert_true(account_file_find(book, "p", "t", &sum));
    assert_int_equal(sum.calls, 8);
    assert_int_equal(sum.errors, 2);
    assert_int_equal(sum.max_ns, 50);
    assert_int_equal(sum.times[30], 8);
    json_decref(book);
    assert_int_equal(calls_of("p", "u"), 1);
    assert_int_equal(calls_of("q", "t"), -1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_file_stays_small(void **state)
{
    (void)state;
    struct stat status;
    for (int i = 0; i < 3000; i++)
        add("plugin", "tool", 1);
    assert_int_equal(calls_of("plugin", "tool"), 3000);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size < 200 << 10);
}

static void test_processes_add_up(void **state)
{
    (void)state;
    enum { PROCESSES = 8, EACH = 250 }; /* they sum up several times */
    pid_t processes[PROCESSES];
    char plugin[200] = {0};
    memset(plugin, 'x', sizeof(plugin) - 1);
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            for (int n = 0; n < EACH; n++)
                add(plugin, "t", 1);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(calls_of(plugin, "t"), PROCESSES * EACH);
}

static void test_forget(void **state)
{
    (void)state;
    struct error error;
    bool found = true;
    assert_true(account_file_forget(path, "p", &found, &error));
    assert_false(found);
    assert_int_equal(access(path, F_OK), -1);
    add("p", "t", 1);
    add("q", "t", 2);
    assert_true(account_file_forget(path, "p", &found, &error));
    assert_true(found);
    assert_int_equal(calls_of("p", "t"), -1);
    assert_int_equal(calls_of("q", "t"), 2);
    assert_true(account_file_forget(path, "p", &found, &error));
    assert_false(found);
}

/* Whatever stands in the file: no crash, no number below zero, and good lines count. */
static void test_strange_files(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\n\n",
        "{oops\n",
        "[]\n",
        "null\n",
        "5\n",
        "{}\n",
        "{\"plugins\":5}\n",
        "{\"plugins\":{\"p\":5}}\n",
        "{\"plugins\":{\"p\":{\"t\":[]}}}\n",
        "{\"plugins\":{\"p\":{\"t\":{\"calls\":-5,\"times\":5}}}}\n",
        ("{\"plugins\":{\"p\":{\"t\":{\"calls\":\"x\",\"times\":{\"-1\":1,\"624\":1,\"x\":1,\"\":2,"
         "\"99999999999999999999\":1,\"3\":-1}}}}}\n"),
        "\xFF\xFE\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct account_sum sum;
        struct error error;
        write_file(lines[i]);
        add("p", "t", 4);
        assert_int_equal(calls_of("p", "t"), 4);
        json_t *book = account_file_read(path, &error);
        account_file_find(book, "p", "t", &sum);
        for (size_t bucket = 0; bucket < ACCOUNT_BUCKETS; bucket++)
            assert_int_equal(sum.times[bucket], bucket == 30 ? 4 : 0);
        json_decref(book);
    }
    write_file("{\"plugins\":{\"p\":{\"t\":{\"calls\":9223372036854775807}}}}\n");
    add("p", "t", 4);
    assert_int_equal(calls_of("p", "t"), INT64_MAX);
    write_file("{\"plugins\":{\"p\":{\"t\":{\"calls\":7}}}}"); /* its end is missing */
    assert_int_equal(calls_of("p", "t"), -1);
}

static void test_a_newer_version(void **state)
{
    (void)state;
    struct error error;
    write_file("{\"mortise_accounts\":2}\n");
    assert_null(account_file_read(path, &error));
    assert_non_null(strstr(error.message, "newer version"));
    assert_non_null(strstr(error.message, path));
}

static void assert_not_added(const char *what)
{
    static const struct account_entry entry = {.plugin = "p", .tool = "t", .sum.calls = 1};
    struct error error;
    assert_false(account_file_add(path, &entry, 1, &error));
    if (!strstr(error.message, what))
        fail_msg("%s", error.message);
}

static void test_what_cannot_be_written(void **state)
{
    (void)state;
    write_file("");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_not_added("cannot open");
    rmdir(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_not_added("cannot open");
    unlink(path);
    add("p", "t", 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_not_added("cannot lock"); /* and does not wait for ever */
    close(fd);
    assert_int_equal(calls_of("p", "t"), 1);
}

static void test_no_memory_for_the_file(void **state)
{
    (void)state;
    static struct account_entry entry = {.plugin = "p", .tool = "t"};
    struct error error;
    bool added = false;
    entry.sum.calls = 1;
    entry.sum.times[5] = 1;
    for (int n = 0; !added && n < 1000; n++) {
        fail_after(n);
        added = account_file_add(path, &entry, 1, &error);
        assert_int_equal(fail_never(), !added);
    }
    assert_true(added);
    assert_int_equal(calls_of("p", "t"), 1);
    json_t *book = NULL;
    for (int n = 0; !book && n < 1000; n++) {
        fail_after(n);
        book = account_file_read(path, &error);
        assert_int_equal(fail_never(), !book);
    }
    assert_non_null(book);
    json_decref(book);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_times_are_told_well),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_sums_do_not_overflow),
        cmocka_unit_test(test_no_memory_for_times),
        ON_DISK(test_file_adds_up),
        ON_DISK(test_file_stays_small),
        ON_DISK(test_processes_add_up),
        ON_DISK(test_forget),
        ON_DISK(test_strange_files),
        ON_DISK(test_a_newer_version),
        ON_DISK(test_what_cannot_be_written),
        ON_DISK(test_no_memory_for_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A hundred thousand calls of a plugin in a process of its own, one in a hundred of which kills that:
 * each call says what became of it, and the host has nothing more in the end than early on (D16). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "plugin/loader.h"
#include "remote/remote.h"
#include "tool/call.h"

#ifdef FEW_ROUNDS
#define CALLS 2000
#else
#define CALLS 100000
#endif
#define EARLY     (CALLS / 5)
#define ONE_IN    100
#define GROWTH_KB 1024 /* the heap has its own ways */
#define HELD      6    /* descriptors for one process, and that of the thread that starts them */

/* What a process can lose. */
struct holdings {
    long descriptors, threads, children, files, resident_kb;
};

static char temporary[] = "/tmp/mortise-soak-XXXXXX";

static long count_entries(const char *path)
{
    long count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Of all threads; those that are over and were not waited for are among them. */
static long count_children(void)
{
    long count = 0;
    char path[300];
    const struct dirent *entry;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    while ((entry = readdir(threads))) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fscanf(file, "%*d") == 0 && !feof(file))
            count++;
        if (file)
            fclose(file);
    }
    closedir(threads);
    return count;
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct holdings look(void)
{
    return (struct holdings){.descriptors = count_entries("/proc/self/fd"),
                             .threads = count_entries("/proc/self/task"),
                             .children = count_children(),
                             .files = count_entries(temporary),
                             .resident_kb = resident_kb()};
}

/* Another thread lets go of what belonged to a process that has ended, a moment later. */
static struct holdings look_for(long descriptors, long children)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    struct holdings now = look();
    for (int i = 0; i < 1000 && (now.descriptors != descriptors || now.children != children); i++) {
        nanosleep(&moment, NULL);
        now = look();
    }
    return now;
}

static bool in_a_process(void *unused, const char *plugin, struct isolation *isolation,
                         struct error *error)
{
    (void)unused;
    (void)plugin;
    (void)error;
    isolation->is_process = true;
    return true;
}

static void say_nothing(enum log_level level, const char *line)
{
    (void)level;
    (void)line;
}

static void call(struct registry *registry, bool crashes)
{
    struct tool_result result;
    const char *arguments = crashes ? "{\"kind\":\"segfault\"}" : "{\"kind\":\"behave\"}";
    tool_call(registry, "crime", arguments, strlen(arguments), NULL, NULL, &result);
    if (crashes) {
        assert_false(result.success);
        assert_string_equal(result.code, "plugin.died");
        assert_non_null(strstr(text_cstr(&result.text), "plugin 'crimes' was killed by signal 11"));
    } else {
        assert_string_equal(text_cstr(&result.text), "good");
        assert_true(result.success);
    }
    tool_result_release(&result);
}

static void test_soak(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct holdings early = {0}, before = look();
    struct loader loader = {.registry = registry_new(), .isolation = in_a_process,
                            .isolate = remote_isolate};
    uint32_t random = 20;
    long crashes = 0;
    assert_true(loader_load(&loader, CRIMES, &error));
    for (long i = 0; i < CALLS; i++) {
        random = random * 1664525u + 1013904223u;
        bool crash = random % 65536 < 65536 / ONE_IN;
        crashes += crash;
        call(loader.registry, crash);
        if (i == EARLY) {
            call(loader.registry, false); /* the process is there */
            early = look_for(before.descriptors + HELD, 1);
        }
    }
    call(loader.registry, false);
    struct holdings late = look_for(early.descriptors, 1);
    print_message("%d calls, %ld crashes; resident: %ld KiB, then %ld KiB\n", CALLS, crashes,
                  early.resident_kb, late.resident_kb);
    assert_in_range(crashes, CALLS / ONE_IN / 2, CALLS / ONE_IN * 2);
    assert_int_equal(early.descriptors, before.descriptors + HELD);
    assert_int_equal(late.descriptors, early.descriptors);
    assert_int_equal(late.threads, early.threads);
    assert_int_equal(late.children, early.children);
    assert_int_equal(late.children, 1);
    assert_int_equal(late.files, before.files);
#ifndef FEW_ROUNDS /* a sanitizer keeps what was freed */
    assert_in_range(late.resident_kb, 0, early.resident_kb + GROWTH_KB);
#endif
    registry_unref(loader.registry);
    late = look_for(before.descriptors + 1, 0);
    assert_int_equal(late.children, 0);
    assert_int_equal(late.descriptors, before.descriptors + 1); /* that of the thread that starts them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soak)};
    if (!mkdtemp(temporary) || setenv("TMPDIR", temporary, 1) != 0)
        return 1;
    child_set_program(MORTISE);
    log_set_sink(say_nothing);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(temporary);
    return failed;
}

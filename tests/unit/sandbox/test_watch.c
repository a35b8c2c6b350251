#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/sandbox/scene.h"

#define MIB (UINT64_C(1) << 20)

/* ---- what a child does until it is stopped ---- */

static int sleep_for_ever(void)
{
    while (pause() != 0) {
    }
    return 0;
}

static int refuse_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    return sleep_for_ever();
}

static int stop_itself(void)
{
    kill(getpid(), SIGSTOP);
    return 1;
}

static int spin(void)
{
    volatile bool more = true;
    while (more) {
    }
    return 0;
}

static int spin_on(void)
{
    signal(SIGXCPU, SIG_IGN);
    return spin();
}

static int take_memory(void)
{
    for (;;) {
        char *more = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED)
            return errno;
        memset(more, 1, MIB);
    }
}

static int reserve_memory(void)
{
    int rights = PROT_READ | PROT_WRITE;
    return mmap(NULL, 1024 * MIB, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno
                                                                                            : 0;
}

static int write_files(size_t size)
{
    static char block[4096];
    char name[16];
    if (chdir(scene.scratch) != 0)
        return errno;
    for (unsigned i = 0;; i++) {
        snprintf(name, sizeof(name), "%u", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        for (size_t done = 0; fd >= 0 && done < size; done += sizeof(block))
            if (write(fd, block, sizeof(block)) < 0)
                return errno;
        close(fd);
    }
}

static int fill_disk(void)
{
    return write_files(64 * 1024);
}

static int make_files(void)
{
    return write_files(0);
}

static int write_one_file(void)
{
    return write_files(64 * MIB);
}

static int hide_files(void)
{
    if (chdir(scene.scratch) != 0 || mkdir("hidden", 0700) != 0 || mkdir("hidden/x", 0) != 0)
        return errno;
    return sleep_for_ever();
}

/* Deeper than a path can be long. */
static int dig(void)
{
    if (chdir(scene.scratch) != 0)
        return errno;
    while (mkdir("folder", 0700) == 0 && chdir("folder") == 0) {
    }
    return errno;
}

static void *wait_in_thread(void *nothing)
{
    sleep_for_ever();
    return nothing;
}

static int start_threads(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    while (pthread_create(&thread, &small, wait_in_thread, NULL) == 0) {
    }
    return sleep_for_ever();
}

static int open_descriptors(void)
{
    int count = 0;
    while (open("/dev/null", O_RDONLY) >= 0)
        count++;
    return errno == EMFILE ? count : 0;
}

/* ---- which limit it was ---- */

static void empty_scratch(void)
{
    char command[300];
    snprintf(command, sizeof(command), "chmod -R u+rwx '%s' && find '%s' -mindepth 1 -delete",
             scene.scratch, scene.scratch);
    assert_int_equal(system(command), 0);
}

/* R17: killed, and the limit is named. */
static void test_each_limit(void **state)
{
    static const struct {
        int (*work)(void);
        struct sandbox_limits limits;
        enum sandbox_limit expected;
        const char *words;
    } cases[] = {
        {sleep_for_ever, {.wall_ms = 150}, SANDBOX_LIMIT_WALL, "the time limit of 150 ms"},
        {refuse_signals, {.wall_ms = 1000}, SANDBOX_LIMIT_WALL, "the time limit of 1 s"},
        {stop_itself, {.wall_ms = 150}, SANDBOX_LIMIT_WALL, "the time limit of 150 ms"},
        {spin, {.cpu_s = 1}, SANDBOX_LIMIT_CPU, "the processor time limit of 1 s"},
        {spin_on, {.cpu_s = 1}, SANDBOX_LIMIT_CPU, "the processor time limit of 1 s"},
        {take_memory,
         {.memory_bytes = 512 * MIB},
         SANDBOX_LIMIT_MEMORY,
         "the memory limit of 512 MiB"},
        {write_one_file, {.file_bytes = MIB}, SANDBOX_LIMIT_FILE, "the file size limit of 1 MiB"},
        {fill_disk, {.disk_bytes = 4 * MIB}, SANDBOX_LIMIT_DISK, "the disk space limit of 4 MiB"},
        {make_files, {.disk_files = 100}, SANDBOX_LIMIT_FILES, "the limit of 100 files"},
        {start_threads,
         {.processes = 20},
         SANDBOX_LIMIT_PROCESSES,
         "the limit of 20 processes and threads"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sandbox_rules rules = scene_rules();
        struct text words = TEXT_INIT;
        rules.limits = cases[i].limits;
        int64_t started_ms = clock_ms();
        struct sandbox_end end = scene_run(&rules, cases[i].work);
        sandbox_limit_describe(end.limit, &rules.limits, &words);
        assert_string_equal(text_cstr(&words), cases[i].words);
        assert_int_equal(end.limit, cases[i].expected);
        assert_true(WIFSIGNALED(end.status));
        assert_true(clock_ms() - started_ms < 15000);
        text_release(&words);
        empty_scratch();
    }
    scene_mend();
    assert_true(scene_is_unharmed());
}

/* What the watch of an ordinary user sees, whom nobody may look into: so is the host. */
static enum sandbox_limit limit_as_nobody(struct sandbox_limits limits, int (*work)(void))
{
    int status;
    pid_t child = scene_fork();
    if (child == 0) {
        struct sandbox_rules rules = scene_rules();
        scene_become_nobody();
        prctl(PR_SET_DUMPABLE, 0);
        rules.limits = limits;
        _exit((int)scene_run(&rules, work).limit);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (enum sandbox_limit)WEXITSTATUS(status);
}

static void test_a_host_that_is_hidden(void **state)
{
    struct sandbox_limits limits = {.memory_bytes = 512 * MIB, .wall_ms = 20000};
    (void)state;
    assert_int_equal(limit_as_nobody(limits, take_memory), SANDBOX_LIMIT_MEMORY);
}

static void test_what_is_hidden_counts(void **state)
{
    struct sandbox_limits limits = {.disk_files = 1000, .wall_ms = 10000};
    (void)state;
    assert_int_equal(limit_as_nobody(limits, hide_files), SANDBOX_LIMIT_FILES);
    empty_scratch();
    limits.disk_files = 1000000;
    assert_int_equal(limit_as_nobody(limits, dig), SANDBOX_LIMIT_FILES);
    empty_scratch();
    scene_mend();
}

static void test_limits_that_are_errors(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    rules.limits = (struct sandbox_limits){.descriptors = 20};
    assert_int_equal(scene_run(&rules, open_descriptors).status, 17 << 8);
#ifndef __SANITIZE_ADDRESS__ /* it reserves terabytes */
    rules.limits = (struct sandbox_limits){.address_bytes = 256 * MIB};
    assert_int_equal(scene_run(&rules, reserve_memory).status, ENOMEM << 8);
#endif
    rules.limits = (struct sandbox_limits){.cpu_s = 5};
    assert_int_equal(scene_run(&rules, reserve_memory).status, 0);
}

/* ---- all processes ---- */

/* Processes make processes until the watch, or in namespaces the kernel, has had enough. */
static void test_fork_bomb(void **state)
{
    static const char bomb[] = "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 60";
    struct sandbox_rules rules = scene_program_rules();
    (void)state;
    rules.limits = (struct sandbox_limits){.processes = 60, .wall_ms = 3000};
    assert_int_equal(scene_run_script(&rules, bomb).limit, SANDBOX_LIMIT_PROCESSES);
    rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    struct sandbox_end end = scene_run_script(&rules, bomb);
    assert_true(end.limit != SANDBOX_LIMIT_NONE || end.status != 0); /* a shell that cannot fork */
    assert_true(scene_is_unharmed());
}

static void test_memory_of_all(void **state)
{
    struct sandbox_rules rules = scene_program_rules();
    (void)state;
    rules.limits = (struct sandbox_limits){.memory_bytes = 100 * MIB, .wall_ms = 20000};
    struct sandbox_end end = scene_run_script(
        &rules, "for i in 1 2 3 4 5 6; do head -c 30M /dev/zero | tail -c 30M | sleep 60 & done; "
                "sleep 60");
    assert_int_equal(end.limit, SANDBOX_LIMIT_MEMORY);
}

static int write_for_ever(void)
{
    static char block[4096];
    while (write(1, block, sizeof(block)) > 0) {
    }
    return 1;
}

static void test_output(void **state)
{
    struct sandbox_rules rules = scene_rules();
    struct sandbox_end end;
    char block[4096];
    int ends[2];
    (void)state;
    rules.limits.output_bytes = MIB;
    struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
    assert_non_null(sandbox);
    assert_int_equal(pipe(ends), 0);
    pid_t parent = getpid(), child = scene_fork();
    if (child == 0) {
        dup2(ends[1], 1);
        _exit(sandbox_enter(sandbox, parent) ? 1 : write_for_ever());
    }
    close(ends[1]);
    struct sandbox_watch *watch = sandbox_watch_new(&rules, child, NULL);
    assert_non_null(watch);
    size_t total = 0;
    for (ssize_t got; (got = read(ends[0], block, sizeof(block))) > 0; total += (size_t)got)
        sandbox_watch_output(watch, (size_t)got);
    struct pollfd wait = {.fd = sandbox_watch_fd(watch), .events = POLLIN};
    do
        poll(&wait, 1, -1);
    while (sandbox_watch_step(watch));
    assert_true(sandbox_watch_reap(watch, &end));
    assert_int_equal(end.limit, SANDBOX_LIMIT_OUTPUT);
    assert_true(total > MIB && total < 2 * MIB);
    close(ends[0]);
    sandbox_watch_free(watch);
    sandbox_free(sandbox);
}

static pid_t fork_as(pid_t number)
{
    uint64_t arguments[10] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0, (uintptr_t)&number, 1};
    fflush(NULL);
    return (pid_t)syscall(435 /* clone3 */, arguments, sizeof(arguments));
}

/* The number of a child that was waited for is whosoever has it then. */
static void test_another_with_its_number(void **state)
{
    struct sandbox_rules rules = scene_rules();
    struct sandbox_end end;
    (void)state;
    pid_t child = scene_fork();
    if (child == 0)
        _exit(0);
    struct sandbox_watch *watch = sandbox_watch_new(&rules, child, NULL);
    assert_non_null(watch);
    struct pollfd wait = {.fd = sandbox_watch_fd(watch), .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 5000), 1);
    assert_false(sandbox_watch_step(watch));
    assert_true(sandbox_watch_reap(watch, &end));
    pid_t other = fork_as(child);
    if (other == 0) {
        sleep_for_ever();
        _exit(1);
    }
    sandbox_watch_kill(watch);
    assert_false(sandbox_watch_step(watch));
    sandbox_watch_free(watch);
    if (other < 0)
        skip(); /* only root chooses numbers */
    int status = 0;
    usleep(20000);
    pid_t ended = waitpid(other, &status, WNOHANG);
    kill(other, SIGKILL);
    assert_int_equal(ended, 0);
    assert_int_equal(waitpid(other, &status, 0), other);
}

/* A host that is killed leaves nothing behind: one process, and in namespaces any number. */
static void check_parent_death(struct sandbox_rules rules)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t host = scene_fork();
    if (host == 0) {
        struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
        pid_t parent = getpid(), child = scene_fork();
        if (child == 0) {
            dup2(ends[1], 1);
            scene_become_nobody();
            if (sandbox_enter(sandbox, parent) != SANDBOX_NO_LAYER)
                _exit(1);
            if (rules.may_fork)
                _Fork();
            _exit(write(1, "x", 1) == 1 ? sleep_for_ever() : 1);
        }
        close(ends[1]);
        sleep_for_ever();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    if (rules.may_fork)
        assert_int_equal(read(ends[0], &byte, 1), 1);
    kill(host, SIGKILL);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 5000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    waitpid(host, NULL, 0);
    close(ends[0]);
}

static void test_parent_death(void **state)
{
    struct text what = TEXT_INIT;
    const char *advice;
    (void)state;
    check_parent_death(scene_rules());
    struct sandbox_rules rules = scene_program_rules();
    rules.namespaces = SANDBOX_NAMESPACES_REQUIRED;
    if (sandbox_probe(SANDBOX_NAMESPACES, &what, &advice))
        check_parent_death(rules);
    else
        print_message("without namespaces: not tried with processes that fork\n");
    text_release(&what);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_limit),
        cmocka_unit_test(test_what_is_hidden_counts),
        cmocka_unit_test(test_limits_that_are_errors),
        cmocka_unit_test(test_a_host_that_is_hidden),
        cmocka_unit_test(test_fork_bomb),
        cmocka_unit_test(test_memory_of_all),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_another_with_its_number),
        cmocka_unit_test(test_parent_death),
    };
    return cmocka_run_group_tests(tests, scene_set_up, scene_tear_down);
}

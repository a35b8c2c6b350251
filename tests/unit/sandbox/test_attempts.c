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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "unit/sandbox/attempts.h"
#include "unit/sandbox/scene.h"

/* ---- what must not work ---- */

/* A number of another architecture ends the process, which is as good. */
static bool is_denied(int status)
{
    static const int reasons[] = {EPERM, EACCES, ENOSYS, ENOTSUP, EBADF, EXDEV};
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (WEXITSTATUS(status) == reasons[i])
            return true;
    return false;
}

static void describe(const char *where, const struct attempt *attempt, int status)
{
    if (WIFSIGNALED(status))
        print_error("%s: '%s': signal %d\n", where, attempt->name, WTERMSIG(status));
    else
        print_error("%s: '%s': %d (%s)\n", where, attempt->name, WEXITSTATUS(status),
                    WEXITSTATUS(status) ? strerror(WEXITSTATUS(status)) : "it works");
}

/* Each is first shown to work for the same user without a sandbox, where that does no harm: a test
 * whose attempts fail by themselves would show nothing. */
static unsigned try_all(const struct attempt *attempts, const struct sandbox_rules *rules,
                        unsigned *count)
{
    unsigned wrong = 0;
    for (const struct attempt *attempt = attempts; attempt->name; attempt++, ++*count) {
        struct sandbox_end bare = {0};
        scene_mend();
        if (attempt->works && !scene.landlock && !rules->namespaces)
            bare = scene_run(NULL, attempt->run); /* once is enough */
        if (bare.status != 0) {
            describe("without a sandbox", attempt, bare.status);
            wrong++;
        }
        scene_mend();
        struct sandbox_end inside = scene_run(rules, attempt->run);
        if (!is_denied(inside.status) || !scene_is_unharmed()) {
            describe("in the sandbox", attempt, inside.status);
            wrong++;
        }
    }
    return wrong;
}

static void test_everything_is_denied(void **state)
{
    struct sandbox_rules rules = scene_rules();
    unsigned count = 0;
    (void)state;
    unsigned wrong = try_all(attempts_at_files, &rules, &count) +
                     try_all(attempts_at_network, &rules, &count) +
                     try_all(attempts_at_processes, &rules, &count) +
                     try_all(attempts_at_kernel, &rules, &count); /* R16 */
    assert_int_equal(wrong, 0);
    print_message("%u attempts\n", count);
    assert_true(count >= 90);
}

/* Refused by the filter, and in a way that programs understand: what the kernel itself would say to
 * such arguments is mostly something else. */
static unsigned try_calls(const struct sandbox_rules *rules, unsigned *count)
{
    static const int answers[] = {EPERM, ENOSYS, ENOTSUP};
    unsigned wrong = 0;
    for (const struct attempt_call *call = attempts_by_number; call->name; call++, ++*count) {
        attempt_choose(call);
        int status = scene_run(rules, attempt_chosen).status;
        bool refused = false;
        for (size_t i = 0; WIFEXITED(status) && i < sizeof(answers) / sizeof(answers[0]); i++)
            refused |= WEXITSTATUS(status) == answers[i];
        if (refused && scene_is_unharmed())
            continue;
        describe("in the sandbox", &(struct attempt){.name = call->name}, status);
        wrong++;
    }
    return wrong;
}

static void test_calls_are_refused(void **state)
{
    struct sandbox_rules rules = scene_rules();
    unsigned count = 0;
    (void)state;
    scene_mend();
    unsigned wrong = try_calls(&rules, &count);
    rules.code = SANDBOX_CODE_FILES;
    rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    wrong += try_calls(&rules, &count); /* R16 */
    print_message("%u attempts by number\n", count);
    assert_int_equal(wrong, 0);
    assert_true(count >= 180);
}

/* Where Landlock is older, the filter has to hold what it does not: each of these versions is the
 * last that lacks something (moves between folders, truncation, signals). */
static void test_everything_is_denied_by_older_kernels(void **state)
{
    static const int versions[] = {1, 2, 5};
    struct sandbox_rules rules = scene_rules();
    struct sandbox_rules programs = scene_program_rules();
    unsigned count = 0, wrong = 0;
    (void)state;
    for (size_t i = 0; i < 3 && versions[i] <= landlock_version() && !wrong; i++) {
        scene.landlock = versions[i];
        wrong = try_all(attempts_at_files, &rules, &count) +
                try_all(attempts_at_processes, &rules, &count) +
                try_all(attempts_at_files, &programs, &count) +
                try_all(attempts_at_kernel, &programs, &count);
        if (wrong)
            print_error("with version %d of Landlock\n", scene.landlock);
    }
    scene.landlock = 0;
    print_message("%u attempts with older Landlocks\n", count);
    assert_int_equal(wrong, 0); /* R16 */
}

/* Where there are namespaces they take nothing of it away. */
static void test_everything_is_denied_in_namespaces(void **state)
{
    struct sandbox_rules rules = scene_rules();
    unsigned count = 0;
    (void)state;
    rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    unsigned wrong =
        try_all(attempts_at_files, &rules, &count) + try_all(attempts_at_kernel, &rules, &count);
    assert_int_equal(wrong, 0);
}

/* ---- limits that are gone round ---- */

/* R17: refused, or counted. */
static void check_memory(const struct sandbox_rules *rules, unsigned *count)
{
    unsigned wrong = 0;
    for (const struct attempt *attempt = attempts_at_memory; attempt->name; attempt++, ++*count) {
        struct sandbox_end bare = {0};
        if (!rules->may_fork) /* once is enough */
            bare = scene_run(NULL, attempt->run);
        struct sandbox_end inside = scene_run(rules, attempt->run);
        bool held = inside.limit == SANDBOX_LIMIT_MEMORY || is_denied(inside.status);
        if (bare.status != 0)
            describe("without a sandbox", attempt, bare.status);
        if (!held)
            describe("in the sandbox", attempt, inside.status);
        wrong += bare.status != 0 || !held;
    }
    assert_int_equal(wrong, 0);
}

static void test_memory_is_counted_wherever_it_is(void **state)
{
    struct sandbox_rules rules = scene_rules();
    unsigned count = 0;
    (void)state;
    rules.limits.memory_bytes = (uint64_t)256 << 20;
    check_memory(&rules, &count);
    rules.may_fork = true;
    check_memory(&rules, &count);
    print_message("%u attempts at memory\n", count);
}

static int write_a_file(void)
{
    int fd = chdir(scene.scratch) == 0 ? open("moved", O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    return fd < 0 ? errno : attempt_result(write(fd, "x", 1));
}

/* Where files last, the walk through the folders sees all of them. */
static void test_files_last(void **state)
{
    struct sandbox_rules rules = scene_rules();
    unsigned count = 0;
    (void)state;
    rules.lasting = true;
    assert_int_equal(try_all(attempts_at_disk, &rules, &count), 0);
    assert_int_equal(scene_run(&rules, write_a_file).status, 0);
}

/* ---- what must work ---- */

#define WORKS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 150 + 1;                                                             \
    } while (0)

static void *add_one(void *number)
{
    char *memory = malloc(100000);
    memset(memory, 1, 100000);
    *(int *)number += memory[5];
    free(memory);
    return NULL;
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static int use_files(void)
{
    char bytes[8];
    struct stat about;
    int fd = open("/dev/urandom", O_RDONLY);
    WORKS(chdir(scene.scratch) == 0);
    WORKS(fd >= 3 && read(fd, bytes, 8) == 8 && close(fd) == 0);
    fd = open("/dev/null", O_WRONLY);
    WORKS(write(fd, bytes, 8) == 8 && close(fd) == 0);
    fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    WORKS(write(fd, "12345678", 8) == 8 && ftruncate(fd, 4) == 0);
    WORKS(pread(fd, bytes, 8, 0) == 4 && fstat(fd, &about) == 0 && close(fd) == 0);
    WORKS(mkdir("folder", 0700) == 0 && rename("file", "folder/moved") == 0);
    WORKS(rename("folder/moved", "file") == 0 && rmdir("folder") == 0);
    WORKS(unlink("link") == 0);
    fd = open(scene.readable, O_RDONLY | O_DIRECTORY);
    WORKS(fd >= 0 && openat(fd, "file", O_RDONLY) >= 0);
    return 0;
}

static int use_threads_and_time(void)
{
    int numbers[8] = {0};
    pthread_t threads[8];
    struct timespec now, short_while = {0, 1000000};
    int ends[2];
    char byte;
    for (int i = 0; i < 8; i++)
        WORKS(pthread_create(&threads[i], NULL, add_one, &numbers[i]) == 0);
    for (int i = 0; i < 8; i++)
        WORKS(pthread_join(threads[i], NULL) == 0 && numbers[i] == 1);
    WORKS(clock_gettime(CLOCK_REALTIME, &now) == 0 && nanosleep(&short_while, NULL) == 0);
    WORKS(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    WORKS(poll(&wait, 1, 1000) == 1 && read(ends[0], &byte, 1) == 1);
    struct sigaction action = {.sa_handler = on_signal};
    WORKS(sigaction(SIGUSR1, &action, NULL) == 0);
    WORKS(kill(getpid(), SIGUSR1) == 0 && signalled == SIGUSR1);
    signalled = 0;
    WORKS(raise(SIGUSR1) == 0 && signalled == SIGUSR1);
    WORKS(prctl(PR_SET_NAME, "worker") == 0 && isatty(0) >= 0);
    return 0;
}

static void test_what_must_work(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    for (int i = 0; i < 2; i++) {
        scene_mend();
        assert_int_equal(scene_run(&rules, use_files).status, 0);
        assert_int_equal(scene_run(&rules, use_threads_and_time).status, 0); /* R19 */
        rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    }
}

static int abort_itself(void)
{
    abort();
}

static void test_abort_is_seen(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    int status = scene_run(&rules, abort_itself).status;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* ---- what is allowed on request, and no more ---- */

static int run_one(const struct attempt *attempts, const char *name,
                   const struct sandbox_rules *rules)
{
    const struct attempt *attempt = attempts;
    while (attempt->name && strcmp(attempt->name, name) != 0)
        attempt++;
    assert_non_null(attempt->name);
    scene_mend();
    return scene_run(rules, attempt->run).status;
}

static void test_network_on_request(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    rules.network = true;
    assert_int_equal(run_one(attempts_at_network, "connect by TCP", &rules), 0);
    assert_int_equal(run_one(attempts_at_network, "send by UDP", &rules), 0);
    assert_true(is_denied(run_one(attempts_at_network, "connect to a unix socket", &rules)));
    assert_true(is_denied(run_one(attempts_at_network, "open netlink", &rules)));
    assert_true(is_denied(run_one(attempts_at_network, "open a pair of datagram sockets", &rules)));
}

static void test_code_on_request(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    rules.code = SANDBOX_CODE_FILES;
    assert_true(is_denied(run_one(attempts_at_kernel, "make memory runnable", &rules)));
    assert_true(
        is_denied(run_one(attempts_at_kernel, "map memory that is written and run", &rules)));
#ifdef __x86_64__
    assert_int_equal(run_one(attempts_at_processes, "map a library's code", &rules), 0);
#endif
    rules.code = SANDBOX_CODE_ANY;
    assert_int_equal(run_one(attempts_at_kernel, "make memory runnable", &rules), 0);
    assert_int_equal(run_one(attempts_at_kernel, "map memory that is written and run", &rules), 0);
}

static void test_links_and_modes_on_request(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    rules.links = true;
    assert_int_equal(run_one(attempts_at_files, "make a symbolic link", &rules), 0);
    assert_true(is_denied(run_one(attempts_at_files, "read it by a link in scratch", &rules)));
    rules.modes = true;
    assert_int_equal(run_one(attempts_at_files, "change the mode of what may be read", &rules), 0);
    assert_true(is_denied(run_one(attempts_at_files, "change its owner", &rules)));
    assert_true(is_denied(run_one(attempts_at_files, "let others run a file as oneself", &rules)));
}

/* ---- programs ---- */

static int run_shell(const struct sandbox_rules *rules, const char *script)
{
    assert_int_equal(setenv("SCRATCH", scene.scratch, 1), 0);
    assert_int_equal(setenv("VICTIM", scene.victim, 1), 0);
    char witness[16];
    snprintf(witness, sizeof(witness), "%d", (int)scene.witness);
    assert_int_equal(setenv("WITNESS", witness, 1), 0);
    scene_mend();
    struct sandbox_end end = scene_run_script(rules, script);
    assert_true(scene_is_unharmed());
    return end.status;
}

static int exit_code(int code)
{
    return code << 8;
}

/* The children of a shell are held by the same rules. */
static void check_programs(const struct sandbox_rules *rules)
{
    assert_int_equal(run_shell(rules, "cd $SCRATCH && echo 3 | cat > x && exit $(cat x)"),
                     exit_code(3));
    assert_int_equal(run_shell(rules, "(sleep 60 & kill -TERM $! && wait $!) 2>/dev/null; exit $?"),
                     exit_code(128 + SIGTERM));
    assert_int_equal(run_shell(rules, "kill -TERM $$"), SIGTERM);
    assert_int_equal(run_shell(rules, "(cat $VICTIM || exit 7) 2>/dev/null"), exit_code(7));
    assert_int_equal(run_shell(rules, "(echo x > $VICTIM || exit 7) 2>/dev/null"), exit_code(7));
    assert_int_equal(run_shell(rules, "(kill -0 $WITNESS || exit 7) 2>/dev/null"), exit_code(7));
    assert_int_equal(run_shell(rules, "setsid true 2>/dev/null && exit 0; exit 7"), exit_code(7));
    assert_int_equal(run_shell(rules, "cp /bin/true $SCRATCH/t && chmod +x $SCRATCH/t 2>/dev/null"
                                      " && $SCRATCH/t && exit 0; exit 7"),
                     exit_code(7));
}

static void test_programs(void **state)
{
    struct sandbox_rules rules = scene_program_rules();
    (void)state;
    check_programs(&rules);
}

static void test_programs_in_namespaces(void **state)
{
    struct sandbox_rules rules = scene_program_rules();
    struct text what = TEXT_INIT;
    const char *advice;
    (void)state;
    bool present = sandbox_probe(SANDBOX_NAMESPACES, &what, &advice);
    text_release(&what);
    if (!present)
        skip();
    rules.namespaces = SANDBOX_NAMESPACES_REQUIRED;
    check_programs(&rules);
}

/* Even what made itself an orphan ends with the first process. */
static void test_nothing_is_left(void **state)
{
    struct sandbox_rules rules = scene_program_rules();
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_shell(&rules, "(sleep 600 & sleep 600 &) & exit 4"), exit_code(4));
        rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_denied),
        cmocka_unit_test(test_calls_are_refused),
        cmocka_unit_test(test_everything_is_denied_in_namespaces),
        cmocka_unit_test(test_everything_is_denied_by_older_kernels),
        cmocka_unit_test(test_memory_is_counted_wherever_it_is),
        cmocka_unit_test(test_files_last),
        cmocka_unit_test(test_what_must_work),
        cmocka_unit_test(test_abort_is_seen),
        cmocka_unit_test(test_network_on_request),
        cmocka_unit_test(test_code_on_request),
        cmocka_unit_test(test_links_and_modes_on_request),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_programs_in_namespaces),
        cmocka_unit_test(test_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, scene_set_up, scene_tear_down);
}

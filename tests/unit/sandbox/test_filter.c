/* The filter by itself, as it is for kernels whose Landlock holds less than this one's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/filter.h"
#include "unit/sandbox/scene.h"

/* The exit code of work() behind a filter. */
static int run_behind(unsigned kind, int (*work)(void))
{
    struct error error = ERROR_INIT;
    const struct filter *filter = filter_get(kind, &error);
    int status;
    if (!filter)
        fail_msg("%s", error.message);
    pid_t child = scene_fork();
    if (child == 0) {
        scene_become_nobody();
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !filter_enter(filter))
            _exit(199);
        _exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int open_victim(int flags)
{
    return open(scene.victim, flags) < 0 ? errno : 0;
}

static int cut_while_reading(void)
{
    return open_victim(O_RDONLY | O_TRUNC);
}

static int cut_while_neither(void)
{
    return open_victim(O_ACCMODE | O_TRUNC);
}

static int cut_by_path(void)
{
    return truncate(scene.victim, 0) == 0 ? 0 : errno;
}

static int cut_while_writing(void)
{
    int wrong = open_victim(O_RDWR | O_TRUNC);
    return wrong ? wrong : open_victim(O_WRONLY | O_TRUNC);
}

static int only_read(void)
{
    return open_victim(O_RDONLY);
}

/* Before version 3 Landlock lets what may be read be emptied. */
static void test_truncation_without_landlock(void **state)
{
    (void)state;
    scene_mend();
    assert_int_equal(run_behind(0, cut_while_reading), EPERM);
    assert_int_equal(run_behind(0, cut_while_neither), EPERM);
    assert_int_equal(run_behind(0, cut_by_path), EPERM);
    assert_true(scene_is_unharmed());
    assert_int_equal(run_behind(0, only_read), 0);
    assert_int_equal(run_behind(0, cut_while_writing), 0);
    assert_int_equal(run_behind(FILTER_TRUNCATES, cut_while_reading), 0);
    assert_int_equal(run_behind(FILTER_TRUNCATES, cut_by_path), 0);
    scene_mend();
}

static int signal_witness(void)
{
    return kill(scene.witness, 0) == 0 ? 0 : errno;
}

static int signal_itself(void)
{
    signal(SIGUSR1, SIG_IGN);
    return kill(getpid(), SIGUSR1) == 0 && raise(SIGUSR1) == 0 ? 0 : errno;
}

/* Before version 6 it does not hold signals. */
static void test_signals_without_landlock(void **state)
{
    (void)state;
    assert_int_equal(run_behind(0, signal_witness), EPERM);
    assert_int_equal(run_behind(FILTER_FORK, signal_witness), EPERM);
    assert_int_equal(run_behind(FILTER_SIGNALS, signal_witness), EPERM);
    assert_int_equal(run_behind(FILTER_FORK | FILTER_SIGNALS, signal_witness), 0);
    assert_int_equal(run_behind(0, signal_itself), 0);
    assert_int_equal(run_behind(FILTER_FORK, signal_itself), 0);
}

static int call_the_future(void)
{
    return syscall(500) < 0 ? errno : 0;
}

/* Libraries then take the way of older kernels. */
static void test_unknown_calls(void **state)
{
    (void)state;
    assert_int_equal(run_behind(0, call_the_future), ENOSYS);
}

/* All kinds there are can be made, and are short enough. */
static void test_every_kind(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FILTER_KINDS; kind++) {
        struct error error = ERROR_INIT;
        const struct filter *filter = filter_get(kind, &error);
        if (!filter)
            fail_msg("%s", error.message);
        assert_ptr_equal(filter_get(kind, NULL), filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation_without_landlock),
        cmocka_unit_test(test_signals_without_landlock),
        cmocka_unit_test(test_unknown_calls),
        cmocka_unit_test(test_every_kind),
    };
    return cmocka_run_group_tests(tests, scene_set_up, scene_tear_down);
}

/* Layers are taken away one at a time, by a filter that has the kernel refuse their calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/sandbox/scene.h"

enum { ANY = -1, LANDLOCK_CREATE = 444, LANDLOCK_RESTRICT = 446 };

struct refusal {
    int call;
    int first; /* argument, or ANY */
    int code;  /* errno */
};

/* From now on the kernel refuses this call of this process. */
static void refuse(const struct refusal *refusal)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refusal->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refusal->first, 0,
                 refusal->first == ANY ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)refusal->code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(198);
}

static char *shared_text(void)
{
    char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(text != MAP_FAILED);
    return text;
}

static int wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* The error of sandbox_prepare() where the kernel refuses a call. */
static void check_prepare(const struct refusal *refusal, const char *expected)
{
    struct sandbox_rules rules = scene_rules();
    struct error error = ERROR_INIT;
    char *text = shared_text();
    sandbox_free(sandbox_prepare(&rules, &error)); /* what is loaded once is loaded */
    pid_t child = scene_fork();
    if (child == 0) {
        refuse(refusal);
        struct sandbox *sandbox = sandbox_prepare(&rules, &error);
        snprintf(text, 4096, "%s", sandbox ? "it was made" : error.message);
        _exit(error.kind == ERROR_CONFIG ? 0 : 1);
    }
    wait_for(child);
    if (!strstr(text, expected) || strncmp(text, "cannot make a sandbox: ", 23) != 0)
        fail_msg("'%s' instead of '%s'", text, expected);
    munmap(text, 4096);
}

/* R15: it names the layer, and there is no sandbox without it. */
static void test_missing_layers_are_named(void **state)
{
    (void)state;
    static const struct {
        struct refusal refusal;
        const char *expected;
    } cases[] = {
        {{LANDLOCK_CREATE, ANY, ENOSYS}, "no Landlock: Function not implemented; a kernel from"},
        {{LANDLOCK_CREATE, ANY, EOPNOTSUPP}, "no Landlock: Operation not supported; add landlock"},
        {{SYS_seccomp, ANY, EINVAL}, "no seccomp filters: Invalid argument; a kernel with"},
        {{SYS_close_range, ANY, ENOSYS}, "no closing of descriptors: Function not implemented"},
        {{SYS_pidfd_open, ANY, EPERM}, "no process descriptors: Operation not permitted"},
        {{SYS_prlimit64, ANY, EPERM}, "no resource limits: Operation not permitted"},
        {{SYS_prctl, PR_GET_PDEATHSIG, EINVAL}, "no parent-death signal: Invalid argument"},
        {{SYS_prctl, PR_GET_NO_NEW_PRIVS, EINVAL}, "no no_new_privs: Invalid argument"},
        {{SYS_prctl, PR_CAP_AMBIENT, EINVAL}, "no capabilities that can be dropped"},
        {{SYS_openat, ANY, EACCES}, "no figures of processes: Permission denied; mount /proc"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_prepare(&cases[i].refusal, cases[i].expected);
}

/* What sandbox_enter() says where the kernel refuses a call, and whether errno is the kernel's. */
static void check_enter(const struct sandbox_rules *rules, const struct refusal *refusal,
                        enum sandbox_layer expected)
{
    struct error error = ERROR_INIT;
    struct sandbox *sandbox = sandbox_prepare(rules, &error);
    assert_non_null(sandbox);
    pid_t parent = getpid(), child = scene_fork();
    if (child == 0) {
        scene_become_nobody();
        refuse(refusal);
        enum sandbox_layer failed = sandbox_enter(sandbox, parent);
        _exit(failed && errno != refusal->code ? 197 : (int)failed);
    }
    int status = wait_for(child);
    if (status != (int)expected << 8)
        fail_msg("%s instead of %s (status %x)",
                 WEXITSTATUS(status) <= SANDBOX_SESSION
                     ? sandbox_layer_name((enum sandbox_layer)WEXITSTATUS(status))
                     : "?",
                 sandbox_layer_name(expected), (unsigned)status);
    sandbox_free(sandbox);
}

static void test_a_layer_that_fails_is_told(void **state)
{
    static const struct {
        struct refusal refusal;
        enum sandbox_layer expected;
    } cases[] = {
        {{SYS_unshare, CLONE_THREAD, EINVAL}, SANDBOX_ONE_THREAD},
        {{SYS_setsid, ANY, EPERM}, SANDBOX_SESSION},
        {{SYS_prlimit64, ANY, EPERM}, SANDBOX_LIMITS},
        {{SYS_capset, ANY, EPERM}, SANDBOX_CAPABILITIES},
        {{SYS_prctl, PR_SET_NO_NEW_PRIVS, EINVAL}, SANDBOX_NO_NEW_PRIVILEGES},
        {{SYS_prctl, PR_SET_PDEATHSIG, EINVAL}, SANDBOX_PARENT_DEATH},
        {{LANDLOCK_RESTRICT, ANY, E2BIG}, SANDBOX_LANDLOCK},
        {{SYS_close_range, ANY, ENOSYS}, SANDBOX_DESCRIPTORS},
        {{SYS_seccomp, ANY, ENOMEM}, SANDBOX_SECCOMP},
    };
    struct sandbox_rules rules = scene_rules();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_enter(&rules, &cases[i].refusal, cases[i].expected);
}

static void test_namespaces_are_tried_or_required(void **state)
{
    static const struct refusal refusal = {SYS_unshare, CLONE_NEWUSER | CLONE_NEWIPC | CLONE_NEWNET,
                                           ENOSPC};
    struct sandbox_rules rules = scene_rules();
    (void)state;
    rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    check_enter(&rules, &refusal, SANDBOX_NO_LAYER);
    rules.namespaces = SANDBOX_NAMESPACES_REQUIRED;
    check_enter(&rules, &refusal, SANDBOX_NAMESPACES);
}

static void test_another_parent(void **state)
{
    struct sandbox_rules rules = scene_rules();
    struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
    (void)state;
    assert_non_null(sandbox);
    pid_t child = scene_fork();
    if (child == 0)
        _exit((int)sandbox_enter(sandbox, scene.witness));
    assert_int_equal(wait_for(child), SANDBOX_PARENT_DEATH << 8);
    sandbox_free(sandbox);
}

/* A host that leaves its children to the kernel has no say in whether those in here are waited for.
 */
static void test_ignored_children(void **state)
{
    struct sandbox_rules rules = scene_program_rules();
    (void)state;
    rules.namespaces = SANDBOX_NAMESPACES_TRIED;
    struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
    assert_non_null(sandbox);
    pid_t parent = getpid(), child = scene_fork();
    if (child == 0) {
        scene_become_nobody();
        signal(SIGCHLD, SIG_IGN);
        _exit(sandbox_enter(sandbox, parent) == SANDBOX_NO_LAYER ? 5 : 1);
    }
    assert_int_equal(wait_for(child), 5 << 8);
    sandbox_free(sandbox);
}

static void *wait_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* The layers hold a thread; another one would stay outside. */
static void test_two_threads(void **state)
{
    struct sandbox_rules rules = scene_rules();
    struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
    (void)state;
    assert_non_null(sandbox);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            _exit(196);
        _exit((int)sandbox_enter(sandbox, parent));
    }
    assert_int_equal(wait_for(child), SANDBOX_ONE_THREAD << 8);
    sandbox_free(sandbox);
}

static void check_rules(const struct sandbox_rules *rules, const char *expected)
{
    struct error error = ERROR_INIT;
    struct sandbox *sandbox = sandbox_prepare(rules, &error);
    if (!expected)
        assert_non_null(sandbox);
    else
        assert_string_equal(error.message, expected);
    sandbox_free(sandbox);
}

static void test_paths(void **state)
{
    static const char *const nowhere[] = {"/nonexistent/mortise", NULL};
    struct sandbox_rules rules = {.readable = nowhere, .executable = nowhere};
    (void)state;
    check_rules(&rules, NULL); /* nothing is nothing */
    rules.writable = nowhere;
    check_rules(&rules, "cannot let a sandbox use '/nonexistent/mortise': "
                        "No such file or directory");
}

/* A child of root has nothing left that makes root more than the owner of its files. */
static int list_folder_of_nobody(void)
{
    return open(scene.scratch, O_RDONLY | O_DIRECTORY);
}

static void test_root_keeps_no_capability(void **state)
{
    struct sandbox_rules rules = scene_rules();
    (void)state;
    if (geteuid() != 0)
        skip();
    struct sandbox *sandbox = sandbox_prepare(&rules, NULL);
    char *seen = shared_text();
    pid_t parent = getpid(), child = scene_fork();
    if (child == 0) {
        enum sandbox_layer failed = sandbox_enter(sandbox, parent);
        int folder = failed ? -1 : list_folder_of_nobody();
        snprintf(seen, 4096, "%d %d", (int)failed, folder);
        _exit(0);
    }
    wait_for(child);
    assert_string_equal(seen, "0 -1");
    munmap(seen, 4096);
    sandbox_free(sandbox);
}

/* The same answers as `mortise doctor` gives. */
static void test_probe(void **state)
{
    (void)state;
    for (int layer = 1; layer < SANDBOX_LAYER_COUNT; layer++) {
        struct text what = TEXT_INIT;
        const char *advice = "none";
        bool present = sandbox_probe((enum sandbox_layer)layer, &what, &advice);
        assert_true(present || !sandbox_layer_required((enum sandbox_layer)layer));
        assert_int_equal(present, advice == NULL);
        assert_int_equal(present, strncmp(text_cstr(&what), "no ", 3) != 0);
        assert_non_null(strstr(text_cstr(&what), sandbox_layer_name((enum sandbox_layer)layer)));
        text_release(&what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_layers_are_named),
        cmocka_unit_test(test_a_layer_that_fails_is_told),
        cmocka_unit_test(test_namespaces_are_tried_or_required),
        cmocka_unit_test(test_another_parent),
        cmocka_unit_test(test_ignored_children),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_root_keeps_no_capability),
        cmocka_unit_test(test_probe),
    };
    return cmocka_run_group_tests(tests, scene_set_up, scene_tear_down);
}

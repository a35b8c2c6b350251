#include "sandbox/layer.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/cgroup.h"
#include "sandbox/figures.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp_api.h"

/* What a probe may find out beside yes or no. */
struct finding {
    struct text *detail; /* about a layer that is there, or why it is missing if errno is not */
    const char *advice;
};

static bool probe_privileges(struct finding *finding)
{
    (void)finding;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0;
}

static bool probe_seccomp(struct finding *finding)
{
    unsigned action = SECCOMP_RET_KILL_PROCESS;
    struct error error = ERROR_INIT;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0)
        return false;
    if (seccomp_api(&error))
        return true;
    const char *cure = strstr(error.message, "; install");
    size_t length = cure ? (size_t)(cure - error.message) : strlen(error.message);
    text_append(finding->detail, error.message, length);
    finding->advice = "install it with 'sudo apt-get install libseccomp2'";
    return false;
}

static bool probe_landlock(struct finding *finding)
{
    int version = landlock_version();
    if (version > 0)
        text_printf(finding->detail, "version %d", version);
    else if (errno == EOPNOTSUPP)
        finding->advice = "add landlock to lsm= on the kernel's command line";
    return version > 0;
}

static bool probe_limits(struct finding *finding)
{
    struct rlimit old;
    (void)finding;
    return getrlimit(RLIMIT_CPU, &old) == 0;
}

static bool probe_capabilities(struct finding *finding)
{
    (void)finding;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 0, 0, 0) >= 0;
}

/* There is no such descriptor. */
static bool probe_descriptors(struct finding *finding)
{
    (void)finding;
    return close_range(~0u, ~0u, 0) == 0;
}

static bool probe_parent_death(struct finding *finding)
{
    int number;
    (void)finding;
    return prctl(PR_GET_PDEATHSIG, &number) == 0;
}

static bool probe_process_descriptors(struct finding *finding)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    (void)finding;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool probe_figures(struct finding *finding)
{
    struct figures figures;
    (void)finding;
    return figures_of_process(getpid(), &figures);
}

/* Some systems allow the namespace and then take its rights away, so one of them is used. */
static bool probe_namespaces(struct finding *finding)
{
    int status = 0;
    (void)finding;
    pid_t child = _Fork();
    if (child == 0) {
        bool made = unshare(CLONE_NEWUSER) == 0 && unshare(CLONE_NEWPID | CLONE_NEWNET) == 0;
        _exit(made ? 0 : errno);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && status != 0)
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    return child > 0 && status == 0;
}

static bool probe_control_groups(struct finding *finding)
{
    return cgroup_probe(finding->detail, &finding->advice);
}

static const struct {
    const char *name;
    bool required;
    bool (*probe)(struct finding *);
    const char *advice;
} layers[] = {
    [SANDBOX_NO_LAYER] = {.name = "nothing"},
    [SANDBOX_NO_NEW_PRIVILEGES] = {"no_new_privs", true, probe_privileges,
                                   "a kernel from 3.5 on has it"},
    [SANDBOX_SECCOMP] = {"seccomp filters", true, probe_seccomp,
                         "a kernel with CONFIG_SECCOMP_FILTER has them"},
    [SANDBOX_LANDLOCK] = {"Landlock", true, probe_landlock,
                          "a kernel from 5.13 on has it; a container may hide it"},
    [SANDBOX_LIMITS] = {"resource limits", true, probe_limits, "a container may forbid them"},
    [SANDBOX_CAPABILITIES] = {"capabilities that can be dropped", true, probe_capabilities,
                              "a kernel from 4.3 on has them"},
    [SANDBOX_DESCRIPTORS] = {"closing of descriptors", true, probe_descriptors,
                             "a kernel from 5.9 on has it"},
    [SANDBOX_PARENT_DEATH] = {"parent-death signal", true, probe_parent_death,
                              "a container may forbid it"},
    [SANDBOX_PROCESS_DESCRIPTORS] = {"process descriptors", true, probe_process_descriptors,
                                     "a kernel from 5.3 on has them"},
    [SANDBOX_PROCESS_FIGURES] = {"figures of processes", true, probe_figures,
                                 "mount /proc without hidepid"},
    [SANDBOX_NAMESPACES] = {"user namespaces", false, probe_namespaces,
                            "look at kernel.unprivileged_userns_clone, user.max_user_namespaces "
                            "and kernel.apparmor_restrict_unprivileged_userns; a container may "
                            "forbid them"},
    [SANDBOX_CONTROL_GROUPS] = {"control group of its own", false, probe_control_groups,
                                "for limits of memory and processes start it by systemd-run "
                                "--user --scope -p Delegate=yes"},
    [SANDBOX_ONE_THREAD] = {.name = "being one thread", .required = true},
    [SANDBOX_SESSION] = {.name = "session of its own", .required = true},
};

const char *sandbox_layer_name(enum sandbox_layer layer)
{
    return layers[layer].name;
}

bool sandbox_layer_required(enum sandbox_layer layer)
{
    return layers[layer].required;
}

bool sandbox_probe(enum sandbox_layer layer, struct text *what, const char **advice)
{
    struct text detail = TEXT_INIT;
    struct finding finding = {.detail = &detail, .advice = layers[layer].advice};
    errno = 0;
    bool present = layers[layer].probe(&finding);
    if (!present && !detail.length)
        text_puts(&detail, strerror(errno));
    text_printf(what, "%s%s", present ? "" : "no ", layers[layer].name);
    if (detail.length)
        text_printf(what, "%s%s", present ? ", " : ": ", text_cstr(&detail));
    what->failed = what->failed || detail.failed;
    text_release(&detail);
    *advice = present ? NULL : finding.advice;
    return present;
}

bool sandbox_probe_required(struct error *error)
{
    struct text what = TEXT_INIT;
    const char *advice;
    bool all = true;
    for (int layer = 1; all && layer < SANDBOX_LAYER_COUNT; layer++) {
        if (!sandbox_layer_required((enum sandbox_layer)layer))
            continue;
        text_reset(&what);
        all = sandbox_probe((enum sandbox_layer)layer, &what, &advice);
    }
    if (!all && !what.failed)
        error_set(error, ERROR_CONFIG, "cannot make a sandbox: %s; %s", text_cstr(&what), advice);
    else if (!all)
        error_memory(error);
    text_release(&what);
    return all;
}

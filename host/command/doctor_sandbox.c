/*
 * doctor_sandbox - what this kernel, and what runs around this process, offer to lock code in.
 *
 * Each layer is asked by the system call that would be used, in a way that changes nothing; the
 * one that cannot be undone is tried in a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "command/doctor.h"

/* Of linux/landlock.h and its number, which older headers do not have; the number is the same on
 * every machine. */
enum { LANDLOCK_CREATE_RULESET = 444, LANDLOCK_VERSION_FLAG = 1 };

#define CGROUP_ROOT "/sys/fs/cgroup"

static void missing(struct doctor *doctor, const char *layer, const char *advice)
{
    doctor_tell(doctor, FINDING_WARNING, "sandbox", advice, "no %s: %s", layer, strerror(errno));
}

static void check_seccomp(struct doctor *doctor)
{
    unsigned action = SECCOMP_RET_KILL_PROCESS;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
        doctor_tell(doctor, FINDING_OK, "sandbox", NULL, "seccomp filters");
    else
        missing(doctor, "seccomp filters", "a kernel with CONFIG_SECCOMP_FILTER has them");
}

static void check_landlock(struct doctor *doctor)
{
    long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);
    if (version > 0)
        doctor_tell(doctor, FINDING_OK, "sandbox", NULL, "Landlock, version %ld", version);
    else
        missing(doctor, "Landlock",
                errno == EOPNOTSUPP ? "add landlock to lsm= on the kernel's command line"
                                    : "a kernel from 5.13 on has it; a container may hide it");
}

/* Some systems allow the namespace and then take its rights away, so one of them is used. */
static void check_namespaces(struct doctor *doctor)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        bool made = unshare(CLONE_NEWUSER) == 0 && unshare(CLONE_NEWNS | CLONE_NEWNET) == 0;
        _exit(made ? 0 : errno);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && status == 0) {
        doctor_tell(doctor, FINDING_OK, "sandbox", NULL, "user namespaces");
        return;
    }
    if (child > 0)
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    missing(doctor, "user namespaces",
            "look at kernel.unprivileged_userns_clone, user.max_user_namespaces and "
            "kernel.apparmor_restrict_unprivileged_userns; a container may forbid them");
}

/* The folder of this process in the one hierarchy of version 2: its line begins with "0::".  Empty
 * when there is none. */
static void find_cgroup(struct text *folder)
{
    struct text table = TEXT_INIT;
    struct error error = ERROR_INIT;
    bool read = file_read("/proc/self/cgroup", 1 << 16, &table, &error);
    folder->failed = error.kind == ERROR_INTERNAL;
    const char *line = read ? text_cstr(&table) : "";
    while (*line && strncmp(line, "0::", 3) != 0) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (*line) {
        text_puts(folder, CGROUP_ROOT);
        text_append(folder, line + 3, strcspn(line + 3, "\n"));
        if (folder->length && folder->data[folder->length - 1] == '/')
            folder->data[--folder->length] = '\0';
    }
    text_release(&table);
}

/* Which of its limits are there, in words; false: that cannot be read. */
static bool read_controllers(const char *folder, struct text *words)
{
    struct text file = TEXT_INIT;
    text_printf(&file, "%s/cgroup.controllers", folder);
    bool read = !file.failed && file_read(file.data, 4096, words, NULL);
    if (read && words->length)
        words->data[strcspn(words->data, "\n")] = '\0';
    text_release(&file);
    return read;
}

static void check_limits(struct doctor *doctor, const char *folder)
{
    static const char advice[] =
        "for limits of memory and processes start it by systemd-run --user "
        "--scope -p Delegate=yes";
    struct text words = TEXT_INIT;
    if (access(folder, W_OK) != 0)
        missing(doctor, "control group of its own", advice);
    else if (!read_controllers(folder, &words))
        doctor_tell(doctor, FINDING_WARNING, "sandbox", advice,
                    "no controllers of the control group '%s' can be read", folder);
    else if (!strstr(text_cstr(&words), "memory") || !strstr(text_cstr(&words), "pids"))
        doctor_tell(doctor, FINDING_WARNING, "sandbox", advice,
                    "the control group '%s' has no limits of memory and processes", folder);
    else
        doctor_tell(doctor, FINDING_OK, "sandbox", NULL, "control group '%s' with %s", folder,
                    words.data);
    text_release(&words);
}

static void check_cgroup(struct doctor *doctor)
{
    struct text folder = TEXT_INIT;
    find_cgroup(&folder);
    if (folder.failed)
        doctor_no_memory(doctor, "sandbox");
    else if (folder.length)
        check_limits(doctor, folder.data);
    else
        doctor_tell(doctor, FINDING_WARNING, "sandbox", "boot with the unified hierarchy",
                    "no control groups of version 2");
    text_release(&folder);
}

static void check_pidfd(struct doctor *doctor)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd >= 0) {
        doctor_tell(doctor, FINDING_OK, "sandbox", NULL, "process descriptors");
        close(fd);
    } else {
        missing(doctor, "process descriptors", "a kernel from 5.3 on has them");
    }
}

void doctor_sandbox(struct doctor *doctor)
{
    check_seccomp(doctor);
    check_landlock(doctor);
    check_namespaces(doctor);
    check_cgroup(doctor);
    check_pidfd(doctor);
}

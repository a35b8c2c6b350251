/* A small filter of system calls beside the one of the host's sandbox. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include <mortise/sandbox.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__LP64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#define OTHER_NUMBERS 0x40000000u /* from here on, on x86_64: those of x32 */

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ANSWER(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
/* The next instruction is for this one call. */
#define ON(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1)

/* The lower half of clone()'s flags is where all of them are, on machines of this byte order. */
static const struct sock_filter code[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1),
    ANSWER(EPERM),
    ON(SYS_clone3),
    ANSWER(ENOSYS),
    ON(SYS_execve),
    ANSWER(EPERM),
    ON(SYS_execveat),
    ANSWER(EPERM),
#ifdef SYS_fork
    ON(SYS_fork),
    ANSWER(EPERM),
    ON(SYS_vfork),
    ANSWER(EPERM),
#endif
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(args),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
    ANSWER(EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* For all threads, or for none. */
static int enter(void)
{
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]),
                                       (struct sock_filter *)(uintptr_t)code};
    long thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (thread > 0) /* which has a filter of its own */
        errno = EBUSY;
    return thread == 0;
}

mortise_status mortise_no_more_processes(void)
{
    if (enter())
        return MORTISE_OK;
    if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return MORTISE_UNSUPPORTED;
    return enter() ? MORTISE_OK : MORTISE_UNSUPPORTED;
}

#else

mortise_status mortise_no_more_processes(void)
{
    errno = ENOTSUP;
    return MORTISE_UNSUPPORTED;
}

#endif

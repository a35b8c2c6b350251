#include "processes.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0 /* no call is let through */
#endif

#define LOAD(offset)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define END(action)      BPF_STMT(BPF_RET | BPF_K, action)
#define DENY(call, code) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), END(SECCOMP_RET_ERRNO | code)

bool give_up_processes(void)
{
    struct sock_filter code[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        END(SECCOMP_RET_KILL_PROCESS),
        LOAD(offsetof(struct seccomp_data, nr)),
        DENY(SYS_execve, EPERM),
        DENY(SYS_execveat, EPERM),
        DENY(SYS_clone3, ENOSYS), /* its flags cannot be seen; clone() comes then */
#ifdef SYS_fork
        DENY(SYS_fork, EPERM),
        DENY(SYS_vfork, EPERM),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        END(SECCOMP_RET_ALLOW),
        LOAD(offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        END(SECCOMP_RET_ERRNO | EPERM),
        END(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

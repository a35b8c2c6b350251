/* attempts_calls - calls that are not even to reach the kernel, by their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/sandbox/attempts.h"
#include "unit/sandbox/scene.h"

/* Stands for the process that is outside. */
enum { WITNESS = -4711 };

/* The same on every machine; older headers lack them. */
enum {
    OPEN_TREE = 428,
    MOVE_MOUNT = 429,
    FSOPEN = 430,
    FSPICK = 433,
    PIDFD_GETFD = 438,
    PROCESS_MADVISE = 440,
    MOUNT_SETATTR = 442,
    QUOTACTL_FD = 443,
    LANDLOCK_CREATE = 444,
    LANDLOCK_RESTRICT = 446,
    MEMFD_SECRET = 447,
    PROCESS_MRELEASE = 448,
    FCHMODAT2 = 452,
    MAP_SHADOW_STACK = 453,
    STATMOUNT = 457,
    LISTMOUNT = 458,
    SETXATTRAT = 463
};

/* Arguments that harm nobody where there is no sandbox. */
const struct attempt_call attempts_by_number[] = {
    /* other processes */
    {"get another's descriptor", PIDFD_GETFD, {-1, 0}},
    {"advise on another's memory", PROCESS_MADVISE, {-1}},
    {"release another's memory", PROCESS_MRELEASE, {-1}},
    {"compare with another", SYS_kcmp, {WITNESS, WITNESS, 0}},
    {"signal another's thread, the old way", SYS_tkill, {WITNESS, 0}},
    {"queue a signal for a thread", SYS_rt_tgsigqueueinfo, {WITNESS, WITNESS, SIGUSR1, 0}},
    {"move another's memory", SYS_migrate_pages, {WITNESS, 0, 0, 0}},
    {"move another's pages", SYS_move_pages, {WITNESS, 0}},
    {"have another scheduled", SYS_sched_setscheduler, {WITNESS, SCHED_BATCH, 0}},
    {"have another scheduled, the new way", SYS_sched_setattr, {WITNESS, 0}},
    {"slow another's disk down", SYS_ioprio_set, {1, WITNESS, 0}},
    {"ask for another's lists", SYS_get_robust_list, {WITNESS, 0, 0}},
    {"be in another's group", SYS_setpgid, {0, WITNESS}},
    {"be traced", SYS_ptrace, {PTRACE_TRACEME}},
    /* the process itself, and what it is held by */
    {"lower a limit", SYS_prlimit64, {0, RLIMIT_CORE, 1}},
    {"set the limit of another", SYS_prlimit64, {WITNESS, RLIMIT_CORE, 0, 0}},
    {"hide from the host", SYS_prctl, {PR_SET_DUMPABLE, 0}},
    {"take others' orphans", SYS_prctl, {PR_SET_CHILD_SUBREAPER, 1}},
    {"change what its memory is called", SYS_prctl, {PR_SET_MM, 0}},
    {"change its bits of security", SYS_prctl, {PR_SET_SECUREBITS, 0}},
    {"change its capabilities", SYS_capset, {0, 0}},
    {"get a signal before its time", SYS_prctl, {PR_SET_PDEATHSIG, SIGUSR1}},
    {"let anyone trace it", SYS_prctl, {PR_SET_PTRACER, -1}},
    {"let another clock tell", SYS_prctl, {PR_SET_TSC, PR_TSC_SIGSEGV}},
    {"become another user", SYS_setuid, {0}},
    {"become another group", SYS_setgid, {0}},
    {"have other groups", SYS_setgroups, {0, 0}},
    {"look at files as another", SYS_setfsuid, {0}},
    {"make Landlock's rules", LANDLOCK_CREATE, {0, 0, 1}},
    {"enter Landlock again", LANDLOCK_RESTRICT, {-1, 0}},
    /* memory */
    {"run memory by a key", SYS_pkey_mprotect, {0, 4096, PROT_EXEC, -1}},
    {"get a key of memory", SYS_pkey_alloc, {0, 0}},
    {"map pages in another order", SYS_remap_file_pages, {0, 0, 0, 0, 0}},
    {"lock memory", SYS_mlock, {0, 0}},
    {"lock all memory", SYS_mlockall, {MCL_CURRENT}},
    {"say where memory is", SYS_mbind, {0, 0, 0, 0, 0, 0}},
    {"have secret memory", MEMFD_SECRET, {0}},
    {"have a shadow stack", MAP_SHADOW_STACK, {0, 0, 0}},
    {"give pages to a pipe", SYS_vmsplice, {-1, 0, 0, 0}},
    {"attach shared memory", SYS_shmat, {-1, 0, 0}},
    {"get semaphores", SYS_semget, {0, 1, 0600}},
    {"get a queue of messages", SYS_msgget, {0, 0600}},
    /* files */
    {"open by a handle", SYS_open_by_handle_at, {-1, 0, 0}},
    {"make a device", SYS_mknodat, {AT_FDCWD, 0, 0600, 0}},
    {"change an owner by descriptor", SYS_fchown, {0, 0, 0}},
    {"change an owner by folder", SYS_fchownat, {0, 0, 0, 0, AT_EMPTY_PATH}},
    {"change a mode, the new way", FCHMODAT2, {AT_FDCWD, 0, 0600, 0}},
    {"change attributes, the new way", SETXATTRAT, {0}},
    {"remove attributes", SYS_removexattr, {0, 0}},
    {"allocate behind a file's end", SYS_fallocate, {-1, 1, 0, 4096}},
    {"write all disks", SYS_sync, {0}},
    {"write a disk", SYS_syncfs, {0}},
    {"take a lease", SYS_fcntl, {0, F_SETLEASE, F_RDLCK}},
    {"be told of a folder's changes", SYS_fcntl, {0, F_NOTIFY, DN_CREATE}},
    {"choose the signal of a descriptor", SYS_fcntl, {0, F_SETSIG, SIGKILL}},
    {"seal a file", SYS_fcntl, {0, F_ADD_SEALS, 0}},
    {"make a pipe larger", SYS_fcntl, {0, F_SETPIPE_SZ, 1 << 20}},
    {"have signals sent by a control", SYS_ioctl, {0, FIOSETOWN, 0}},
    {"take a terminal", SYS_ioctl, {0, TIOCSCTTY, 0}},
    {"paste into a terminal", SYS_ioctl, {0, 0x541c /* TIOCLINUX */, 0}},
    {"clone a file", SYS_ioctl, {0, 0x40049409 /* FICLONE */, -1}},
    {"mark a file", SYS_ioctl, {0, 0x40086602 /* FS_IOC_SETFLAGS */, 0}},
    /* the system */
    {"open a file system", FSOPEN, {0, 0}},
    {"pick a file system", FSPICK, {-1, 0, 0}},
    {"open a tree of mounts", OPEN_TREE, {-1, 0, 0}},
    {"move a mount", MOVE_MOUNT, {-1, 0, -1, 0, 0}},
    {"set a mount's attributes", MOUNT_SETATTR, {-1, 0, 0, 0, 0}},
    {"ask about mounts", STATMOUNT, {0}},
    {"list mounts", LISTMOUNT, {0}},
    {"set a quota", SYS_quotactl, {-1, 0, 0, 0}},
    {"set a quota by descriptor", QUOTACTL_FD, {-1, 0, 0, 0}},
    {"read the kernel's log", SYS_syslog, {10, 0, 0}},
    {"account for processes", SYS_acct, {-1}},
    {"load another kernel", SYS_kexec_load, {0, 0, 0, -1}},
    {"remove a module", SYS_delete_module, {0, 0}},
    {"change the clock's speed", SYS_adjtimex, {0}},
    {"set the clock, the old way", SYS_settimeofday, {-1, -1}},
    {"set the domain's name", SYS_setdomainname, {0, -1}},
    {"hang the terminal up", SYS_vhangup, {0}},
    {"request a key", SYS_request_key, {0, 0, 0, 0}},
    /* descriptors of the network */
    {"open a socket of ciphers", SYS_socket, {38 /* AF_ALG */, SOCK_SEQPACKET, 0}},
    {"open a socket of the machine", SYS_socket, {40 /* AF_VSOCK */, SOCK_STREAM, 0}},
    {"open a socket of keys", SYS_socket, {15 /* AF_KEY */, SOCK_RAW, 2}},
    {"open a raw socket", SYS_socket, {AF_INET, SOCK_RAW, 1}},
    {"open a pair of sockets", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, 0}},
    {"send to an address", SYS_sendto, {0, 0, 0, 0, 1, 16}},
    {"send many", SYS_sendmmsg, {-1, 0, 0, 0}},
    /* processes and threads in other places */
    {"clone into a namespace of users", SYS_clone, {CLONE_NEWUSER | SIGCHLD}},
    {"have a thread in another namespace", SYS_clone, {CLONE_THREAD | CLONE_NEWNS}},
    {"enter a namespace of mounts", SYS_setns, {-1, CLONE_NEWNS}},
#ifdef __x86_64__
    {"change segments", SYS_modify_ldt, {0, 0, 0}},
    {"use ports", SYS_ioperm, {0, 1, 0}},
    {"use all ports", SYS_iopl, {0}},
    {"set a limit, the old way", SYS_setrlimit, {RLIMIT_CORE, 1}},
#endif
    {NULL, 0, {0}},
};

static const struct attempt_call *chosen;

void attempt_choose(const struct attempt_call *call)
{
    chosen = call;
}

int attempt_chosen(void)
{
    long values[6];
    for (size_t i = 0; i < 6; i++)
        values[i] = chosen->arguments[i] == WITNESS ? scene.witness : chosen->arguments[i];
    return attempt_result(
        syscall(chosen->number, values[0], values[1], values[2], values[3], values[4], values[5]));
}

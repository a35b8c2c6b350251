/*
 * filter_calls - the system calls that every sandbox may make, whatever their arguments.
 *
 * Each works on what the process has, or on files, which Landlock holds.  Not here, for each
 * reaches further: what makes processes or sockets, signals, changes files that are named and not
 * opened, or makes memory executable (filter.c); inotify, message queues, System V IPC, memory
 * files (a program can be run from one), limits (they stay as they are set), other processes'
 * descriptors and memory, io_uring (its calls pass no filter), keys, namespaces, mounts, tracing,
 * BPF, personalities, clocks that are set, sessions and process groups that are left.
 */
#ifndef SANDBOX_FILTER_CALLS_H
#define SANDBOX_FILTER_CALLS_H

#define FILTER_CALLS_OF_DESCRIPTORS(X)                                                             \
    X(read)                                                                                        \
    X(write)                                                                                       \
    X(readv)                                                                                       \
    X(writev)                                                                                      \
    X(pread64)                                                                                     \
    X(pwrite64)                                                                                    \
    X(preadv) X(pwritev) X(preadv2) X(pwritev2) X(close) X(close_range) X(lseek) X(fstat)          \
        X(fstatfs) X(dup) X(dup2) X(dup3) X(pipe) X(pipe2) X(flock) X(fsync) X(fdatasync)          \
            X(sync_file_range) X(ftruncate) X(copy_file_range) X(sendfile) X(splice) X(tee)        \
                X(fadvise64) X(readahead) X(getdents) X(getdents64) X(poll) X(ppoll) X(select)     \
                    X(pselect6) X(epoll_create) X(epoll_create1) X(epoll_ctl) X(epoll_wait)        \
                        X(epoll_pwait) X(epoll_pwait2) X(eventfd) X(eventfd2) X(signalfd4)         \
                            X(timerfd_create) X(timerfd_settime) X(timerfd_gettime) X(shutdown)    \
                                X(getsockopt) X(recvfrom) X(recvmsg) X(sendmsg)    \
                                    X(getsockname) X(getpeername)

#define FILTER_CALLS_OF_FILES(X)                                                                   \
    X(creat)                                                                                       \
    X(stat)                                                                                        \
    X(lstat)                                                                                       \
    X(newfstatat)                                                                                  \
    X(statx)                                                                                       \
    X(statfs)                                                                                      \
    X(access) X(faccessat) X(faccessat2) X(readlink) X(readlinkat) X(getcwd) X(chdir) X(fchdir)    \
        X(mkdir) X(mkdirat) X(unlink) X(unlinkat) X(rmdir) X(rename) X(renameat) X(renameat2)      \
            X(link) X(linkat) X(umask)

#define FILTER_CALLS_OF_MEMORY(X)                                                                  \
    X(brk) X(munmap) X(mremap) X(madvise) X(mincore) X(msync) X(membarrier)

#define FILTER_CALLS_OF_THREADS(X)                                                                 \
    X(futex)                                                                                       \
    X(set_robust_list)                                                                             \
    X(rseq)                                                                                        \
    X(set_tid_address)                                                                             \
    X(arch_prctl)                                                                                  \
    X(rt_sigaction)                                                                                \
    X(rt_sigprocmask) X(rt_sigreturn) X(rt_sigpending) X(rt_sigtimedwait) X(rt_sigsuspend)         \
        X(sigaltstack) X(pause) X(alarm) X(getitimer) X(setitimer) X(timer_create)                 \
            X(timer_settime) X(timer_gettime) X(timer_getoverrun) X(timer_delete) X(clock_gettime) \
                X(clock_getres) X(clock_nanosleep) X(nanosleep) X(gettimeofday) X(time) X(times)   \
                    X(restart_syscall) X(sched_yield) X(sched_getaffinity) X(sched_getparam)       \
                        X(sched_getscheduler) X(sched_get_priority_max) X(sched_get_priority_min)  \
                            X(getcpu) X(getrandom) X(exit) X(exit_group) X(wait4) X(waitid)

#define FILTER_CALLS_OF_FIGURES(X)                                                                 \
    X(getpid)                                                                                      \
    X(gettid)                                                                                      \
    X(getppid)                                                                                     \
    X(getpgrp)                                                                                     \
    X(getpgid)                                                                                     \
    X(getsid)                                                                                      \
    X(getuid) X(geteuid) X(getgid) X(getegid) X(getresuid) X(getresgid) X(getgroups)               \
        X(getpriority) X(getrusage) X(getrlimit) X(uname) X(sysinfo)

#define FILTER_CALLS(X)                                                                            \
    FILTER_CALLS_OF_DESCRIPTORS(X)                                                                 \
    FILTER_CALLS_OF_FILES(X)                                                                       \
    FILTER_CALLS_OF_MEMORY(X)                                                                      \
    FILTER_CALLS_OF_THREADS(X)                                                                     \
    FILTER_CALLS_OF_FIGURES(X)

/* Attributes of files, which programs then take for such that the file system has none of. */
#define FILTER_CALLS_UNSUPPORTED(X)                                                                \
    X(getxattr)                                                                                    \
    X(lgetxattr)                                                                                   \
    X(fgetxattr) X(listxattr) X(llistxattr) X(flistxattr) X(setxattr) X(lsetxattr) X(fsetxattr)

/* Newer than what libraries must do without. */
#define FILTER_CALLS_UNKNOWN(X) X(clone3) X(futex_waitv) X(pidfd_open)

#endif

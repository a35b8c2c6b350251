/* attempts_system - the network, other processes, and the rest of the kernel. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit/sandbox/attempts.h"
#include "unit/sandbox/scene.h"

/* Numbers that older headers lack; the same on every machine. */
enum { IO_URING_SETUP = 425, CLONE3 = 435, PIDFD_OPEN = 434, PIDFD_SEND_SIGNAL = 424 };

/* ---- network ---- */

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_tcp(void)
{
    struct sockaddr_in to = loopback(scene.port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : attempt_result(connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

static int listen_tcp(void)
{
    struct sockaddr_in at = loopback(0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : attempt_result(bind(fd, (struct sockaddr *)&at, sizeof(at)));
}

static int send_udp(void)
{
    struct sockaddr_in to = loopback(scene.udp_port);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    return fd < 0 ? errno
                  : attempt_result(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

static int connect_unix(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", scene.unix_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? errno : attempt_result(connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

static int bind_abstract(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "\0mortise-test"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? errno : attempt_result(bind(fd, (struct sockaddr *)&at, sizeof(at)));
}

static int open_netlink(void)
{
    return attempt_result(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int open_packet(void)
{
    return attempt_result(socket(AF_PACKET, SOCK_RAW, 0));
}

static int open_pair(void)
{
    int pair[2];
    return attempt_result(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
}

const struct attempt attempts_at_network[] = {
    {"connect by TCP", connect_tcp, true},
    {"listen on TCP", listen_tcp, true},
    {"send by UDP", send_udp, true},
    {"connect to a unix socket", connect_unix, true},
    {"bind an abstract socket", bind_abstract, true},
    {"open netlink", open_netlink, true},
    {"open a packet socket", open_packet, false},
    {"open a pair of datagram sockets", open_pair, true},
    {NULL, NULL, false},
};

/* ---- processes ---- */

static int end_of(pid_t child)
{
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(0);
    return attempt_result(waitpid(child, NULL, 0));
}

static int call_fork(void)
{
    return end_of(_Fork());
}

static int call_vfork(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    return child < 0 ? errno : 0;
}

static int call_clone(void)
{
    return end_of((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int call_clone3(void)
{
    uint64_t arguments[8] = {0, 0, 0, 0, SIGCHLD};
    return end_of((pid_t)syscall(CLONE3, arguments, sizeof(arguments)));
}

static int make_sibling(void)
{
    long child = syscall(SYS_clone, CLONE_PARENT, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    return attempt_result(child);
}

static int execute(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return errno;
}

static int execute_by_loader(void)
{
    int fd = open("/usr/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY);
    if (fd < 0)
        return ENOSYS; /* another machine's name: nothing is tried */
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? errno : 0;
}

static int execute_memory(void)
{
    return attempt_result(memfd_create("x", 0));
}

static int execute_descriptor(void)
{
    int fd = open("/usr/lib", O_PATH);
    char *none[] = {NULL};
    syscall(SYS_execveat, fd, "../bin/true", none, none, 0);
    return errno;
}

static int signal_witness(void)
{
    return attempt_result(kill(scene.witness, 0));
}

static int signal_parent(void)
{
    return attempt_result(kill(scene.parent, SIGKILL));
}

static int signal_everyone(void)
{
    return attempt_result(kill(-1, 0));
}

static int signal_thread(void)
{
    return attempt_result(syscall(SYS_tgkill, scene.witness, scene.witness, 0));
}

static int queue_signal(void)
{
    return attempt_result(sigqueue(scene.witness, 0, (union sigval){0}));
}

static int signal_by_descriptor(void)
{
    int fd = (int)syscall(PIDFD_OPEN, scene.witness, 0);
    return fd < 0 ? errno : attempt_result(syscall(PIDFD_SEND_SIGNAL, fd, 0, NULL, 0));
}

static int signal_by_owner(void)
{
    int ends[2];
    return pipe(ends) != 0 ? errno : attempt_result(fcntl(ends[0], F_SETOWN, scene.witness));
}

/* PTRACE_ATTACH would stop it. */
static int trace_witness(void)
{
    return attempt_result(ptrace(PTRACE_SEIZE, scene.witness, 0, 0));
}

static int read_memory_of_witness(void)
{
    char bytes[8];
    struct iovec mine = {bytes, sizeof(bytes)}, its = {(void *)(uintptr_t)&scene, sizeof(bytes)};
    return attempt_result(process_vm_readv(scene.witness, &mine, 1, &its, 1, 0));
}

static char scratch_memory[8]; /* at the same address in both */

static int write_memory_of_witness(void)
{
    char bytes[8] = "";
    struct iovec mine = {bytes, sizeof(bytes)}, its = {scratch_memory, sizeof(bytes)};
    return attempt_result(process_vm_writev(scene.witness, &mine, 1, &its, 1, 0));
}

static int limit_witness(void)
{
    struct rlimit old;
    return attempt_result(prlimit(scene.witness, RLIMIT_CORE, NULL, &old));
}

static int slow_witness(void)
{
    return attempt_result(setpriority(PRIO_PROCESS, (id_t)scene.witness, 1));
}

static int pin_witness(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return attempt_result(sched_setaffinity(scene.witness, sizeof(set), &set));
}

static int leave_session(void)
{
    return attempt_result(setsid());
}

static int outlive_parent(void)
{
    return attempt_result(prctl(PR_SET_PDEATHSIG, 0));
}

static int become_dumpable(void)
{
    return attempt_result(prctl(PR_SET_DUMPABLE, 1));
}

static int type_into_terminal(void)
{
    return attempt_result(ioctl(0, TIOCSTI, "x"));
}

const struct attempt attempts_at_processes[] = {
    {"fork", call_fork, true},
    {"vfork", call_vfork, true},
    {"clone", call_clone, true},
    {"clone3", call_clone3, true},
    {"give the parent a child", make_sibling, false},
    {"execute", execute, false},
    {"map a library's code", execute_by_loader, false},
    {"make a memory file", execute_memory, true},
    {"execute by descriptor", execute_descriptor, false},
    {"signal another process", signal_witness, true},
    {"kill the parent", signal_parent, false},
    {"signal everyone", signal_everyone, true},
    {"signal another's thread", signal_thread, true},
    {"queue a signal", queue_signal, true},
    {"signal by descriptor", signal_by_descriptor, true},
    {"have signals sent", signal_by_owner, true},
    {"trace another process", trace_witness, true},
    {"read its memory", read_memory_of_witness, true},
    {"write its memory", write_memory_of_witness, true},
    {"ask for its limits", limit_witness, true},
    {"slow it down", slow_witness, true},
    {"move it to a processor", pin_witness, true},
    {"leave the process group", leave_session, true},
    {"outlive the parent", outlive_parent, true},
    {"be looked into", become_dumpable, true},
    {"type into the terminal", type_into_terminal, false},
    {NULL, NULL, false},
};

/* ---- the kernel ---- */

static int mount_something(void)
{
    return attempt_result(mount("x", scene.scratch, "tmpfs", 0, NULL));
}

static int unmount(void)
{
    return attempt_result(umount2(scene.scratch, MNT_DETACH));
}

static int make_namespace(void)
{
    return attempt_result(unshare(CLONE_NEWUSER));
}

static int enter_namespace(void)
{
    return attempt_result(setns(0, CLONE_NEWNET));
}

static int change_root(void)
{
    return attempt_result(chroot(scene.scratch));
}

static int pivot(void)
{
    return attempt_result(syscall(SYS_pivot_root, scene.scratch, scene.scratch));
}

static int use_io_uring(void)
{
    char parameters[256] = {0};
    return attempt_result(syscall(IO_URING_SETUP, 4, parameters));
}

static int use_userfaultfd(void)
{
    return attempt_result(syscall(SYS_userfaultfd, 1 /* user mode only */));
}

static int use_keys(void)
{
    return attempt_result(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
}

static int add_key(void)
{
    return attempt_result(
        syscall(SYS_add_key, "user", "mortise", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

static int use_bpf(void)
{
    char attributes[128] = {0};
    return attempt_result(syscall(SYS_bpf, 0, attributes, sizeof(attributes)));
}

static int use_perf(void)
{
    char attributes[128] = {0};
    return attempt_result(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
}

static int change_personality(void)
{
    return attempt_result(personality(READ_IMPLIES_EXEC));
}

static int map_writable_code(void)
{
    int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    return mmap(NULL, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? errno : attempt_result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int share_memory(void)
{
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    return id < 0 ? errno : attempt_result(shmctl(id, IPC_RMID, NULL));
}

static int open_queue(void)
{
    return attempt_result(mq_open("/mortise-test", O_RDWR));
}

static int watch_files(void)
{
    return attempt_result(inotify_init1(0));
}

static int watch_all_files(void)
{
    return attempt_result(fanotify_init(0, O_RDONLY));
}

static int load_module(void)
{
    return attempt_result(syscall(SYS_finit_module, -1, "", 0));
}

static int set_filter(void)
{
    return attempt_result(prctl(PR_SET_SECCOMP, 1));
}

static int set_filter_by_call(void)
{
    return attempt_result(syscall(SYS_seccomp, 0, 0, NULL));
}

static int become_root(void)
{
    return attempt_result(setresuid(0, 0, 0));
}

static int set_clock(void)
{
    return attempt_result(clock_settime(CLOCK_REALTIME, &(struct timespec){-1, 0}));
}

static int restart(void)
{
    return attempt_result(syscall(SYS_reboot, 0, 0, 0, NULL)); /* with none of its magic numbers */
}

static int set_host_name(void)
{
    return attempt_result(syscall(SYS_sethostname, "x", -1));
}

static int swap(void)
{
    return attempt_result(syscall(SYS_swapoff, ""));
}

#ifdef __x86_64__
/* Both numbers are getpid()'s. */
static int call_as_32_bits(void)
{
    long value = 20;
    __asm__ volatile("int $0x80" : "+a"(value) : : "memory");
    return value > 0 ? 0 : ENOSYS;
}

static int call_as_x32(void)
{
    return attempt_result(syscall(0x40000000 | SYS_getpid));
}
#endif

const struct attempt attempts_at_kernel[] = {
    {"mount", mount_something, false},
    {"unmount", unmount, false},
    {"make a namespace", make_namespace, false},
    {"enter a namespace", enter_namespace, false},
    {"change the root", change_root, false},
    {"pivot the root", pivot, false},
    {"io_uring", use_io_uring, false},
    {"userfaultfd", use_userfaultfd, false},
    {"look for keys", use_keys, false},
    {"add a key", add_key, false},
    {"bpf", use_bpf, false},
    {"perf", use_perf, false},
    {"change the personality", change_personality, true},
    {"map memory that is written and run", map_writable_code, true},
    {"make memory runnable", make_code, true},
    {"share memory", share_memory, false},
    {"open a message queue", open_queue, false},
    {"watch files", watch_files, true},
    {"watch all files", watch_all_files, false},
    {"load a module", load_module, false},
    {"set a filter", set_filter, false},
    {"set a filter by its call", set_filter_by_call, false},
    {"become root", become_root, false},
    {"set the clock", set_clock, false},
    {"restart the machine", restart, false},
    {"set the host's name", set_host_name, false},
    {"turn swapping off", swap, false},
#ifdef __x86_64__
    {"call by the numbers of 32 bits", call_as_32_bits, false},
    {"call by the numbers of x32", call_as_x32, false},
#endif
    {NULL, NULL, false},
};

#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include "sandbox/filter_calls.h"
#include "sandbox/seccomp_api.h"

/* Stands in the code for the process that enters: more than a process can have as its number. */
#define ITSELF 0x7ffffff1u

/* Numbers that no kernel had when this was written fail as on such a kernel. */
enum { FIRST_UNKNOWN = 451, UNKNOWN_COUNT = 64 };

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* names of memory, which libraries give */
#endif
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

/* The flag of a file without a name, which says that it is in a folder as well. */
#define NAMELESS ((unsigned)(O_TMPFILE & ~O_DIRECTORY))

/* Where the order of arguments was looked at: clone() has others on some. */
#if defined(__x86_64__) || defined(__aarch64__)
enum { KNOWN_MACHINE = 1 };
#else
enum { KNOWN_MACHINE = 0 };
#endif

struct builder {
    const struct seccomp_api *api;
    scmp_filter_ctx context;
    int failed; /* the first error of the library, sticky */
};

typedef struct scmp_arg_cmp condition;

static condition is(unsigned argument, uint64_t value)
{
    return (condition){argument, SCMP_CMP_EQ, value, 0};
}

static condition masked(unsigned argument, uint64_t mask, uint64_t value)
{
    return (condition){argument, SCMP_CMP_MASKED_EQ, mask, value};
}

static void add(struct builder *builder, uint32_t action, int call, unsigned count,
                const condition *conditions)
{
    int code = builder->api->rule_add_array(builder->context, action, call, count, conditions);
    if (code < 0 && !builder->failed)
        builder->failed = code;
}

static void allow(struct builder *builder, int call)
{
    add(builder, SCMP_ACT_ALLOW, call, 0, NULL);
}

static void allow_if(struct builder *builder, int call, condition only)
{
    add(builder, SCMP_ACT_ALLOW, call, 1, &only);
}

static void allow_if_both(struct builder *builder, int call, condition first, condition second)
{
    condition both[] = {first, second};
    add(builder, SCMP_ACT_ALLOW, call, 2, both);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void allow_all(struct builder *builder, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        allow(builder, calls[i]);
}

static void refuse_all(struct builder *builder, uint32_t code, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(builder, SCMP_ACT_ERRNO(code), calls[i], 0, NULL);
}

static void allow_values(struct builder *builder, int call, unsigned argument, const int *values,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        allow_if(builder, call, is(argument, (uint64_t)values[i]));
}

/* ---- what is allowed ---- */

static void always(struct builder *builder)
{
#define X(name) SCMP_SYS(name),
    static const int calls[] = {FILTER_CALLS(X)};
    static const int unknown[] = {FILTER_CALLS_UNKNOWN(X)};
    static const int unsupported[] = {FILTER_CALLS_UNSUPPORTED(X)};
#undef X
    /* No owner of a descriptor, who gets signals; of terminals, nothing that types. */
    static const int controls[] = {
        F_DUPFD,  F_GETFD,     F_SETFD,     F_GETFL,      F_SETFL,         F_GETLK,     F_SETLK,
        F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_DUPFD_CLOEXEC, F_GETPIPE_SZ};
    static const int device_controls[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};
    static const int options[] = {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_GET_DUMPABLE};
    allow_all(builder, calls, COUNT(calls));
    allow_values(builder, SCMP_SYS(fcntl), 1, controls, COUNT(controls));
    allow_values(builder, SCMP_SYS(ioctl), 1, device_controls, COUNT(device_controls));
    allow_values(builder, SCMP_SYS(prctl), 0, options, COUNT(options));
    allow_if_both(builder, SCMP_SYS(prlimit64), is(0, 0), is(2, 0)); /* its own, to read */
    allow_if(builder, SCMP_SYS(fallocate), is(1, 0)); /* else RLIMIT_FSIZE does not hold it */
    /* Further filters, which only take more away. */
    allow_if_both(builder, SCMP_SYS(seccomp), is(0, SECCOMP_SET_MODE_FILTER),
                  is(1, SECCOMP_FILTER_FLAG_TSYNC));
    refuse_all(builder, ENOSYS, unknown, COUNT(unknown));
    refuse_all(builder, ENOTSUP, unsupported, COUNT(unsupported));
    for (int call = FIRST_UNKNOWN; call < FIRST_UNKNOWN + UNKNOWN_COUNT; call++)
        add(builder, SCMP_ACT_ERRNO(ENOSYS), call, 0, NULL);
}

/* Landlock before its third version lets a file be cut that may only be read, and no version holds
 * files without a name. */
static void opens(struct builder *builder, unsigned kind)
{
    static const struct {
        int call;
        unsigned flags;
    } calls[] = {{SCMP_SYS(open), 1}, {SCMP_SYS(openat), 2}};
    unsigned never = kind & FILTER_LASTING ? NAMELESS : 0;
    for (size_t i = 0; i < COUNT(calls); i++) {
        if (kind & FILTER_TRUNCATES) {
            allow_if(builder, calls[i].call, masked(calls[i].flags, never, 0));
            continue;
        }
        allow_if(builder, calls[i].call, masked(calls[i].flags, never | O_TRUNC, 0));
        allow_if(builder, calls[i].call, masked(calls[i].flags, never | O_ACCMODE, O_WRONLY));
        allow_if(builder, calls[i].call, masked(calls[i].flags, never | O_ACCMODE, O_RDWR));
    }
    /* The flags of openat2() are in memory, where no filter looks. */
    if (kind & FILTER_TRUNCATES && !never)
        allow(builder, SCMP_SYS(openat2));
    else
        add(builder, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0, NULL);
}

static void files(struct builder *builder, unsigned kind)
{
    static const int links[] = {SCMP_SYS(symlink), SCMP_SYS(symlinkat)};
    static const int times[] = {SCMP_SYS(utimensat), SCMP_SYS(utime), SCMP_SYS(utimes)};
    static const struct {
        int call;
        unsigned mode;
    } modes[] = {{SCMP_SYS(chmod), 1}, {SCMP_SYS(fchmod), 1}, {SCMP_SYS(fchmodat), 2}};
    opens(builder, kind);
    if (kind & FILTER_TRUNCATES)
        allow(builder, SCMP_SYS(truncate));
    if (kind & FILTER_LINKS)
        allow_all(builder, links, COUNT(links));
    if (!(kind & FILTER_MODES))
        return;
    allow_all(builder, times, COUNT(times));
    for (size_t i = 0; i < COUNT(modes); i++) /* none that runs as the user for others */
        allow_if(builder, modes[i].call, masked(modes[i].mode, S_ISUID | S_ISGID, 0));
}

/* Memory that is shared and has no file is none, for it may be there while no process has it
 * mapped: no limit of memory would see it. */
static void map(struct builder *builder, unsigned rights, unsigned value)
{
    static const unsigned kind = MAP_ANONYMOUS | MAP_TYPE;
    allow_if_both(builder, SCMP_SYS(mmap), masked(2, rights, value), masked(3, MAP_ANONYMOUS, 0));
    if (!(value & PROT_EXEC))
        allow_if_both(builder, SCMP_SYS(mmap), masked(2, rights, value),
                      masked(3, kind, MAP_ANONYMOUS | MAP_PRIVATE));
}

static void memory(struct builder *builder, unsigned kind)
{
    if (kind & FILTER_CODE_ANY) {
        map(builder, 0, 0);
        allow(builder, SCMP_SYS(mprotect));
        return;
    }
    map(builder, PROT_EXEC, 0);
    allow_if(builder, SCMP_SYS(mprotect), masked(2, PROT_EXEC, 0));
    if (kind & FILTER_CODE_FILES)
        map(builder, PROT_EXEC | PROT_WRITE, PROT_EXEC);
}

/* No new namespaces, and no child that becomes a child of the host.  clone3() hides its flags from
 * a filter; libraries go without. */
static void processes(struct builder *builder, unsigned kind)
{
    static const uint64_t namespaces = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                                       CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    static const int forks[] = {SCMP_SYS(fork), SCMP_SYS(vfork)};
    if (kind & FILTER_FORK) {
        /* Only the effective one, as posix_spawn() does: done, and nothing is done, for it is what it
         * would be; in a namespace the user's own number is no number. */
        const condition effective[] = {masked(0, UINT32_MAX, UINT32_MAX),
                                       masked(2, UINT32_MAX, UINT32_MAX)};
        add(builder, SCMP_ACT_ERRNO(0), SCMP_SYS(setresuid), 2, effective);
        add(builder, SCMP_ACT_ERRNO(0), SCMP_SYS(setresgid), 2, effective);
        /* Whoever starts processes looks after them, in life and death. */
        allow_if_both(builder, SCMP_SYS(prctl), is(0, PR_SET_CHILD_SUBREAPER), is(1, 1));
        allow_if_both(builder, SCMP_SYS(prctl), is(0, PR_SET_PDEATHSIG), is(1, SIGKILL));
        allow_if(builder, SCMP_SYS(clone), masked(0, namespaces | CLONE_PARENT | CLONE_PTRACE, 0));
        allow_all(builder, forks, COUNT(forks));
        allow_if_both(builder, SCMP_SYS(socketpair), is(0, AF_UNIX), masked(1, 0xf, SOCK_STREAM));
    } else {
        allow_if(builder, SCMP_SYS(clone), masked(0, namespaces | CLONE_THREAD, CLONE_THREAD));
    }
    if (kind & FILTER_EXEC)
        allow(builder, SCMP_SYS(execve));
}

/* 0 is the process group, which is the sandbox's. */
static void signals(struct builder *builder, unsigned kind)
{
    if (kind & FILTER_FORK && kind & FILTER_SIGNALS) {
        allow(builder, SCMP_SYS(kill));
        allow(builder, SCMP_SYS(tgkill));
        return;
    }
    allow_if(builder, SCMP_SYS(kill), is(0, 0));
    allow_if(builder, SCMP_SYS(kill), is(0, ITSELF));
    allow_if(builder, SCMP_SYS(tgkill), is(0, ITSELF));
}

/* No unix sockets: services of the machine listen there.  What is inherited may be used. */
static void network(struct builder *builder, unsigned kind)
{
    static const int calls[] = {SCMP_SYS(connect), SCMP_SYS(bind),     SCMP_SYS(listen),
                                SCMP_SYS(accept),  SCMP_SYS(accept4),  SCMP_SYS(sendto),
                                SCMP_SYS(setsockopt), SCMP_SYS(sendmmsg), SCMP_SYS(recvmmsg)};
    static const int domains[] = {AF_INET, AF_INET6};
    static const struct {
        int type, protocol;
    } kinds[] = {
        {SOCK_STREAM, 0}, {SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, 0}, {SOCK_DGRAM, IPPROTO_UDP}};
    if (!(kind & FILTER_NETWORK)) {
        allow_if(builder, SCMP_SYS(sendto), is(4, 0)); /* no address: to who is connected */
        return;
    }
    allow_all(builder, calls, COUNT(calls));
    for (size_t i = 0; i < COUNT(domains); i++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            add(builder, SCMP_ACT_ALLOW, SCMP_SYS(socket), 3,
                (condition[]){is(0, (uint64_t)domains[i]), masked(1, 0xf, (uint64_t)kinds[k].type),
                              is(2, (uint64_t)kinds[k].protocol)});
}

/* ---- making it ---- */

static bool fail(const char *what, int code, struct error *error)
{
    return error_set(error, code == ENOMEM ? ERROR_INTERNAL : ERROR_CONFIG,
                     "cannot make a sandbox: seccomp: %s: %s", what, strerror(code));
}

/* The library writes to descriptors only. */
static struct filter *export_code(const struct builder *builder, struct error *error)
{
    struct filter *filter = NULL;
    struct stat about;
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int failed = fd < 0 ? -errno : builder->api->export_bpf(builder->context, fd);
    if (failed < 0 || fstat(fd, &about) != 0) {
        fail("cannot write the filter", failed < 0 ? -failed : errno, error);
        goto end;
    }
    size_t size = (size_t)about.st_size, count = size / sizeof(filter->code[0]);
    if (count == 0 || count > FILTER_MOST) {
        fail("the filter is too long", E2BIG, error);
        goto end;
    }
    filter = malloc(sizeof(*filter) + size);
    if (!filter || pread(fd, filter->code, size, 0) != (ssize_t)size) {
        free(filter);
        filter = NULL;
        fail("cannot read the filter", errno, error);
        goto end;
    }
    filter->count = (unsigned short)count;
end:
    if (fd >= 0)
        close(fd);
    return filter;
}

static struct filter *build(const struct seccomp_api *api, unsigned kind, struct error *error)
{
    struct builder builder = {.api = api, .context = api->init(SCMP_ACT_ERRNO(EPERM))};
    struct filter *filter = NULL;
    if (!builder.context) {
        error_memory(error);
        return NULL;
    }
    /* A tree and not a chain: what a kernel works out for each call when it takes the filter. */
    builder.failed = api->attr_set(builder.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    always(&builder);
    files(&builder, kind);
    memory(&builder, kind);
    processes(&builder, kind);
    signals(&builder, kind);
    network(&builder, kind);
    if (builder.failed < 0)
        fail("cannot add a rule", -builder.failed, error);
    else
        filter = export_code(&builder, error);
    api->release(builder.context);
    return filter;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct filter *made[FILTER_KINDS];

const struct filter *filter_get(unsigned kind, struct error *error)
{
    const struct seccomp_api *api = seccomp_api(error);
    if (!api)
        return NULL;
    if (!KNOWN_MACHINE) {
        fail("no filter is known for this kind of processor", ENOTSUP, error);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!made[kind])
        made[kind] = build(api, kind, error);
    const struct filter *filter = made[kind];
    pthread_mutex_unlock(&lock);
    return filter;
}

bool filter_enter(const struct filter *filter)
{
    struct sock_filter code[FILTER_MOST];
    struct sock_fprog program = {filter->count, code};
    uint32_t itself = (uint32_t)getpid();
    memcpy(code, filter->code, filter->count * sizeof(code[0]));
    for (unsigned i = 0; i < filter->count; i++)
        if (BPF_CLASS(code[i].code) == BPF_JMP && code[i].k == ITSELF)
            code[i].k = itself;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

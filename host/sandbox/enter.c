/*
 * enter - the way into a sandbox: one function for each layer, in the order that works.
 *
 * Namespaces come first, for they need what is given up after them; Landlock comes before the
 * descriptors are closed, for its rules are one; the filter comes last, for it forbids the rest.
 * Nothing here takes a lock or memory.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "sandbox/tree.h"

struct entry {
    const struct sandbox *sandbox;
    pid_t parent;
    bool apart;       /* in namespaces of its own */
    bool forks_apart; /* and the next child is in one of processes */
};

/* The kernel shares no thread group on these terms, and changes nothing for one thread. */
static bool check_one_thread(struct entry *entry)
{
    (void)entry;
    return unshare(CLONE_THREAD) == 0;
}

/* No terminal, and a process group that a signal reaches as a whole: the filter lets none leave. */
static bool enter_session(struct entry *entry)
{
    (void)entry;
    return setsid() >= 0 || (getsid(0) == getpid() && getpgrp() == getpid());
}

static bool enter_namespaces(struct entry *entry)
{
    const struct sandbox *sandbox = entry->sandbox;
    int flags = CLONE_NEWUSER | CLONE_NEWIPC | (sandbox->network ? 0 : CLONE_NEWNET) |
                (sandbox->may_fork ? CLONE_NEWPID : 0);
    if (sandbox->namespaces == SANDBOX_NAMESPACES_NONE)
        return true;
    entry->apart = unshare(flags) == 0;
    entry->forks_apart = entry->apart && sandbox->may_fork;
    return entry->apart || sandbox->namespaces == SANDBOX_NAMESPACES_TRIED;
}

/* `more`: what is allowed between the signal and the end. */
static bool limit(unsigned what, uint64_t value, uint64_t more)
{
    struct rlimit old;
    if (value == 0)
        return true;
    if (getrlimit(what, &old) != 0)
        return false;
    rlim_t soft = value < old.rlim_max ? (rlim_t)value : old.rlim_max;
    rlim_t hard = value + more < old.rlim_max ? (rlim_t)(value + more) : old.rlim_max;
    return setrlimit(what, &(struct rlimit){soft, hard}) == 0;
}

/* A limit of one byte is the one that keeps the system's collector of core dumps from being started
 * as well, which runs outside.
 *
 * The kernel counts the processes of a user, in a namespace of users those of the namespace: where
 * there is none, the limit would count what has nothing to do with this, and the parent counts. */
static bool enter_limits(struct entry *entry)
{
    const struct sandbox_limits *limits = &entry->sandbox->limits;
    uint64_t more = entry->forks_apart ? TREE_PROCESSES : 0;
    uint64_t processes = entry->apart && limits->processes ? limits->processes + more : 0;
    return limit(RLIMIT_CORE, 1, 0) && limit(RLIMIT_CPU, (uint64_t)limits->cpu_s, 1) &&
           limit(RLIMIT_AS, limits->address_bytes, 0) &&
           limit(RLIMIT_FSIZE, limits->file_bytes, 0) &&
           limit(RLIMIT_NOFILE, limits->descriptors, 0) && limit(RLIMIT_NPROC, processes, 0);
}

static bool drop_capabilities(struct entry *entry)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
    (void)entry;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
           syscall(SYS_capset, &header, none) == 0;
}

static bool give_up_privileges(struct entry *entry)
{
    (void)entry;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* The parent may have ended before it was asked for; then another one has the child. */
static bool die_with_parent(struct entry *entry)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return false;
    if (getppid() == entry->parent)
        return true;
    errno = ESRCH;
    return false;
}

static bool enter_landlock(struct entry *entry)
{
    return landlock_enter(entry->sandbox->ruleset);
}

static bool close_descriptors(struct entry *entry)
{
    close(entry->sandbox->ruleset);
    return close_range(entry->sandbox->keep_descriptors, ~0u, 0) == 0;
}

static bool enter_tree(struct entry *entry)
{
    return !entry->forks_apart || tree_enter();
}

static bool enter_filter(struct entry *entry)
{
    return filter_enter(entry->sandbox->filter);
}

enum sandbox_layer sandbox_enter(const struct sandbox *sandbox, pid_t parent)
{
    static const struct {
        enum sandbox_layer layer;
        bool (*enter)(struct entry *);
    } steps[] = {
        {SANDBOX_ONE_THREAD, check_one_thread},    {SANDBOX_SESSION, enter_session},
        {SANDBOX_NAMESPACES, enter_namespaces},    {SANDBOX_LIMITS, enter_limits},
        {SANDBOX_CAPABILITIES, drop_capabilities}, {SANDBOX_NO_NEW_PRIVILEGES, give_up_privileges},
        {SANDBOX_PARENT_DEATH, die_with_parent},   {SANDBOX_LANDLOCK, enter_landlock},
        {SANDBOX_DESCRIPTORS, close_descriptors},  {SANDBOX_NAMESPACES, enter_tree},
        {SANDBOX_SECCOMP, enter_filter},
    };
    struct entry entry = {.sandbox = sandbox, .parent = parent};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (!steps[i].enter(&entry))
            return steps[i].layer;
    return SANDBOX_NO_LAYER;
}

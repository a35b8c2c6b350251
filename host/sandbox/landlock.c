#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on every machine. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION_FLAG = 1, PATH_BENEATH = 1 };

#define RIGHT(number) (UINT64_C(1) << (number))
#define EXECUTE       RIGHT(0)
#define WRITE_FILE    RIGHT(1)
#define READ_FILE     RIGHT(2)
#define READ_DIR      RIGHT(3)
#define REMOVE_DIR    RIGHT(4)
#define REMOVE_FILE   RIGHT(5)
#define MAKE_DIR      RIGHT(7)
#define MAKE_REG      RIGHT(8)
#define MAKE_SYM      RIGHT(12)
#define REFER         RIGHT(13)
#define TRUNCATE      RIGHT(14)
/* How many rights there are, by version: moving between folders came with 2, truncation with 3,
 * ioctl() of devices with 5. */
static const unsigned right_counts[] = {0, 13, 14, 15, 15, 16};

#define READ       (READ_FILE | READ_DIR)
#define WRITE      (WRITE_FILE | TRUNCATE)
#define REMOVE     (REMOVE_DIR | REMOVE_FILE | REFER) /* moving is that, and making */
#define CHANGE     (READ | WRITE | MAKE_DIR | MAKE_REG)
#define OF_A_FILE  (EXECUTE | READ_FILE | WRITE)
#define ALL_TCP    UINT64_C(3) /* bind() and connect(), from version 4 on */
#define ALL_SCOPES UINT64_C(3) /* abstract sockets and signals, from version 6 on */

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct path_rule {
    uint64_t rights;
    int32_t folder;
} __attribute__((packed));

/* What programs expect to be there, and gives nothing away.  Zeros that are mapped to be written
 * are shared memory, see filter.c. */
static const char *const sources[] = {"/dev/zero", "/dev/random", "/dev/urandom", NULL};
static const char *const sink[] = {"/dev/null", NULL};

int landlock_version(void)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
    return version > 0 ? (int)version : 0;
}

static uint64_t all_rights(int version)
{
    size_t last = sizeof(right_counts) / sizeof(right_counts[0]) - 1;
    size_t known = (size_t)version < last ? (size_t)version : last;
    return RIGHT(right_counts[known]) - 1;
}

static size_t size_of(int version)
{
    if (version >= LANDLOCK_HOLDS_SIGNALS)
        return sizeof(struct ruleset);
    return version >= 4 ? offsetof(struct ruleset, scopes) : offsetof(struct ruleset, network);
}

static bool add_path(int ruleset, const char *path, uint64_t rights)
{
    struct stat about;
    struct path_rule rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    if (rule.folder < 0)
        return false;
    bool done = fstat(rule.folder, &about) == 0;
    if (done && !S_ISDIR(about.st_mode))
        rule.rights &= OF_A_FILE;
    done = done && syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) == 0;
    int code = errno;
    close(rule.folder);
    errno = code;
    return done;
}

/* False with *error. */
static bool add_paths(int ruleset, const char *const *paths, uint64_t rights, bool must_exist,
                      struct error *error)
{
    for (; paths && *paths; paths++)
        if (!add_path(ruleset, *paths, rights) && (must_exist || errno != ENOENT))
            return error_set(error, ERROR_CONFIG, "cannot let a sandbox use '%s': %s", *paths,
                             strerror(errno));
    return true;
}

static bool add_rules(int ruleset, const struct sandbox_rules *rules, uint64_t all,
                      struct error *error)
{
    uint64_t change = CHANGE | (rules->links ? MAKE_SYM : 0) | (rules->lasting ? 0 : REMOVE);
    return add_paths(ruleset, sources, READ_FILE & all, false, error) &&
           add_paths(ruleset, sink, (READ_FILE | WRITE_FILE) & all, false, error) &&
           add_paths(ruleset, rules->readable, READ & all, false, error) &&
           add_paths(ruleset, rules->executable, (READ | EXECUTE) & all, false, error) &&
           add_paths(ruleset, rules->writable, change & all, true, error);
}

int landlock_make(const struct sandbox_rules *rules, int version, struct error *error)
{
    struct ruleset rights = {all_rights(version), rules->network ? 0 : ALL_TCP, ALL_SCOPES};
    int ruleset = (int)syscall(CREATE_RULESET, &rights, size_of(version), 0);
    if (ruleset < 0) {
        error_set(error, ERROR_CONFIG, "cannot make a sandbox: Landlock refuses its rules: %s",
                  strerror(errno));
        return -1;
    }
    if (add_rules(ruleset, rules, rights.files, error))
        return ruleset;
    close(ruleset);
    return -1;
}

bool landlock_enter(int ruleset)
{
    return syscall(RESTRICT_SELF, ruleset, 0) == 0;
}

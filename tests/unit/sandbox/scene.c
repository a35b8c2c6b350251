#include "unit/sandbox/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/prepared.h"

enum { NOBODY = 65534 };

struct scene scene;
static int listeners[3];

pid_t scene_fork(void)
{
    fflush(NULL);
    return _Fork();
}

void scene_become_nobody(void)
{
    if (geteuid() != 0)
        return;
    if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
        setresuid(NOBODY, NOBODY, NOBODY) != 0)
        _exit(199);
    prctl(PR_SET_DUMPABLE, 1); /* as a process is that was always its user's */
}

static void give_to_nobody(const char *path)
{
    if (geteuid() == 0)
        assert_int_equal(lchown(path, NOBODY, NOBODY), 0);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, 0600), 0);
    close(fd);
    give_to_nobody(path);
}

static const char *below(const char *folder, const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

void scene_mend(void)
{
    char path[256];
    unlink(below(scene.scratch, "link"));
    write_file(scene.victim, "secret");
    write_file(below(scene.readable, "file"), "library");
    write_file(below(scene.scratch, "file"), "mine");
    snprintf(path, sizeof(path), "%s/link", scene.scratch);
    assert_int_equal(symlink(scene.victim, path), 0);
    static const char *const left[] = {"evil", "moved", "fifo", "symlink", "hard", NULL};
    for (size_t i = 0; left[i]; i++) {
        unlink(below(scene.root, left[i]));
        rmdir(below(scene.root, left[i]));
        unlink(below(scene.scratch, left[i]));
    }
}

static bool holds(const char *path, const char *text)
{
    char read_back[64] = "";
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, read_back, sizeof(read_back) - 1);
    bool same = fstat(fd, &about) == 0 && (about.st_mode & 07777) == 0600 && about.st_mtime > 0;
    close(fd);
    return same && length == (ssize_t)strlen(text) && strcmp(read_back, text) == 0;
}

bool scene_is_unharmed(void)
{
    return holds(scene.victim, "secret") && holds(below(scene.readable, "file"), "library") &&
           access(below(scene.root, "evil"), F_OK) != 0 &&
           access(below(scene.root, "moved"), F_OK) != 0 && kill(scene.witness, 0) == 0;
}

static int listen_on(int type, struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, address, length), 0);
    assert_int_equal(getsockname(fd, address, &length), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 16), 0);
    return fd;
}

static void open_listeners(void)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in udp = tcp;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", scene.unix_path);
    listeners[0] = listen_on(SOCK_STREAM, (struct sockaddr *)&tcp, sizeof(tcp));
    listeners[1] = listen_on(SOCK_DGRAM, (struct sockaddr *)&udp, sizeof(udp));
    listeners[2] = listen_on(SOCK_STREAM, (struct sockaddr *)&name, sizeof(name));
    give_to_nobody(scene.unix_path);
    scene.port = ntohs(tcp.sin_port);
    scene.udp_port = ntohs(udp.sin_port);
}

static void start_witness(void)
{
    scene.witness = scene_fork();
    assert_true(scene.witness >= 0);
    if (scene.witness > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    scene_become_nobody();
    for (;;)
        pause();
}

/* A mount that got through must not reach the machine. */
static void leave_mounts(void)
{
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

int scene_set_up(void **state)
{
    (void)state;
    leave_mounts();
    snprintf(scene.root, sizeof(scene.root), "/tmp/mortise-sandbox-XXXXXX");
    assert_non_null(mkdtemp(scene.root));
    assert_int_equal(chmod(scene.root, 0755), 0);
    snprintf(scene.scratch, sizeof(scene.scratch), "%s/scratch", scene.root);
    snprintf(scene.readable, sizeof(scene.readable), "%s/readable", scene.root);
    snprintf(scene.victim, sizeof(scene.victim), "%s/victim", scene.root);
    snprintf(scene.unix_path, sizeof(scene.unix_path), "%s/socket", scene.root);
    assert_int_equal(mkdir(scene.scratch, 0700), 0);
    assert_int_equal(mkdir(scene.readable, 0700), 0);
    give_to_nobody(scene.root);
    give_to_nobody(scene.scratch);
    give_to_nobody(scene.readable);
    scene.parent = getpid();
    scene.inherited = open(scene.root, O_RDONLY | O_DIRECTORY);
    assert_true(scene.inherited >= 0);
    open_listeners();
    start_witness();
    scene_mend();
    return 0;
}

int scene_tear_down(void **state)
{
    char command[128];
    (void)state;
    kill(scene.witness, SIGKILL);
    waitpid(scene.witness, NULL, 0);
    for (size_t i = 0; i < 3; i++)
        close(listeners[i]);
    close(scene.inherited);
    snprintf(command, sizeof(command), "rm -rf '%s'", scene.root);
    return system(command);
}

struct sandbox_rules scene_rules(void)
{
    static const char *readable[4], *writable[2];
    readable[0] = "/usr/lib";
    readable[1] = "/etc/ld.so.cache";
    readable[2] = scene.readable;
    writable[0] = scene.scratch;
    return (struct sandbox_rules){.readable = readable,
                                  .writable = writable,
                                  .keep_descriptors = 3,
                                  .limits = {.wall_ms = 20000, .descriptors = 64}};
}

struct sandbox_rules scene_program_rules(void)
{
    static const char *const executable[] = {"/usr/bin", "/usr/lib", "/bin",
                                             "/lib",     "/lib64",   NULL};
    struct sandbox_rules rules = scene_rules();
    rules.executable = executable;
    rules.may_fork = true;
    return rules;
}

struct sandbox_end scene_watch(const struct sandbox_rules *rules, pid_t child)
{
    struct error error = ERROR_INIT;
    struct sandbox_end end;
    struct sandbox_watch *watch = sandbox_watch_new(rules, child, &error);
    if (!watch)
        fail_msg("%s", error.message);
    struct pollfd wait = {.fd = sandbox_watch_fd(watch), .events = POLLIN};
    do
        poll(&wait, 1, -1);
    while (sandbox_watch_step(watch));
    assert_true(sandbox_watch_reap(watch, &end));
    sandbox_watch_free(watch);
    return end;
}

static struct sandbox *prepare(const struct sandbox_rules *rules, struct error *error)
{
    return scene.landlock ? sandbox_prepare_version(rules, scene.landlock, error)
                          : sandbox_prepare(rules, error);
}

static struct sandbox_end run(const struct sandbox_rules *rules, int (*work)(void),
                              const char *const *words)
{
    static const struct sandbox_rules none;
    struct error error = ERROR_INIT;
    struct sandbox *sandbox = rules ? prepare(rules, &error) : NULL;
    if (rules && !sandbox)
        fail_msg("%s", error.message);
    pid_t parent = getpid(), child = scene_fork();
    assert_true(child >= 0);
    if (child == 0) {
        scene_become_nobody();
        enum sandbox_layer failed = sandbox ? sandbox_enter(sandbox, parent) : SANDBOX_NO_LAYER;
        if (failed != SANDBOX_NO_LAYER)
            _exit(SCENE_LAYER + (int)failed);
        if (work)
            _exit(work());
        execv(words[0], (char *const *)(uintptr_t)words);
        _exit(errno);
    }
    struct sandbox_end end = scene_watch(rules ? rules : &none, child);
    sandbox_free(sandbox);
    return end;
}

struct sandbox_end scene_run(const struct sandbox_rules *rules, int (*work)(void))
{
    return run(rules, work, NULL);
}

struct sandbox_end scene_run_program(const struct sandbox_rules *rules, const char *const *words)
{
    return run(rules, NULL, words);
}

/* Whoever is left holds the end of a pipe. */
struct sandbox_end scene_run_script(const struct sandbox_rules *rules, const char *script)
{
    const char *words[] = {"/bin/sh", "-c", script, NULL};
    char byte;
    int ends[2], out = dup(1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(stdout);
    assert_int_equal(dup2(ends[1], 1), 1);
    close(ends[1]);
    struct sandbox_end end = scene_run_program(rules, words);
    dup2(out, 1);
    close(out);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 5000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    return end;
}

/* No path, no link and no race leads a tool of this plugin out of the workspace: with openat2,
 * where the kernel lacks it, and where a sandbox forbids it. */
#include <mortise/test.h>

#include "beneath.h"
#include "files.c"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is outside and must neither be seen nor touched. */
#define SECRET  "CONTENTS-OF-SECRET\n"
#define WITNESS "WITNESS"
#define TRIES   2500

static char base[32], workspace[64], outside[64];

/* ---- the world ---------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static const char *in(const char *folder, const char *name)
{
    static char path[4][4096];
    static size_t turn;
    char *out = path[turn++ % 4];
    snprintf(out, sizeof(path[0]), "%s/%s", folder, name);
    return out;
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    mortise_test_true(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void link_to(const char *target, const char *name)
{
    mortise_test_true(symlink(target, in(workspace, name)) == 0);
}

static void make_links(void)
{
    char name[32], target[32];
    link_to(in(outside, "secret.txt"), "link_abs");
    link_to("../outside/secret.txt", "link_rel");
    link_to(outside, "dir_abs");
    link_to("../outside", "dir_rel");
    link_to("chain2", "chain1");
    link_to("a/chain3", "chain2");
    link_to("../../outside/secret.txt", "a/chain3");
    link_to("../../outside", "a/mid");
    link_to("../..", "a/up");
    link_to("..", "dots");
    link_to("/", "top");
    link_to("/proc/self/root", "proc_root");
    link_to("/proc/self/cwd", "proc_cwd");
    link_to("/proc/self/fd/0", "proc_fd");
    link_to("loop", "loop");
    link_to("loop_b", "loop_a");
    link_to("loop_a", "loop_b");
    link_to("a/../../outside/secret.txt", "inside_out");
    link_to("a/b/../../../outside/secret.txt", "inside_out2");
    link_to(workspace, "self");
    link_to("/dev/null", "null");
    link_to("../workspace/x.txt", "round"); /* out and in again */
    link_to("../outside/made-here", "dangling");
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        snprintf(target, sizeof(target), i < 49 ? "many%d" : "dots/outside/secret.txt", i + 1);
        link_to(target, name);
    }
    link_to("x.txt", "good");
    link_to("../x.txt", "a/good");
    link_to("a/b", "good_dir");
}

static void make_world(void)
{
    strcpy(base, "/tmp/test_beneath.XXXXXX");
    mortise_test_true(mkdtemp(base) != NULL);
    snprintf(workspace, sizeof(workspace), "%s/workspace", base);
    snprintf(outside, sizeof(outside), "%s/outside", base);
    mkdir(workspace, 0777);
    mkdir(outside, 0777);
    mkdir(in(workspace, "a"), 0777);
    mkdir(in(workspace, "a/b"), 0777);
    mkdir(in(base, "workspace-evil"), 0777);
    put(in(base, "workspace-evil/secret.txt"), SECRET);
    put(in(outside, "secret.txt"), SECRET);
    put(in(outside, WITNESS), SECRET);
    put(in(workspace, "x.txt"), "harmless\n");
    put(in(workspace, "a/b/y.txt"), "harmless\n");
    make_links();
    mkfifo(in(workspace, "pipe"), 0666);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", workspace);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mortise_test_true(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    close(fd);
}

static bool holds(const char *path, const char *text)
{
    char data[256] = "";
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(data, 1, sizeof(data) - 1, file) : 0;
    if (file)
        fclose(file);
    return length == strlen(text) && strcmp(data, text) == 0;
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static bool is_untouched(void)
{
    return holds(in(outside, "secret.txt"), SECRET) && holds(in(outside, WITNESS), SECRET) &&
           count_entries(outside) == 4;
}

/* ---- the tools ---------------------------------------------------------------------------- */

enum { READ, GREP, LIST, GLOB, WRITE, EDIT, TOOLS };

static const mortise_test_result *use(mortise_test *test, int tool, const char *path)
{
    static const edit_text_args edits[] = {{.old_text = "S", .new_text = "X", .replace_all = true}};
    switch (tool) {
    case READ:
        return mortise_test_run(test, &read_file_tool,
                                &(read_file_args){.path = path, .offset = 1, .limit = 100});
    case GREP:
        return mortise_test_run(test, &grep_tool,
                                &(grep_args){.pattern = ".",
                                             .path = path,
                                             .output = "content",
                                             .limit = 100,
                                             .hidden = true,
                                             .ignored = true});
    case LIST:
        return mortise_test_run(
            test, &list_files_tool,
            &(list_files_args){
                .path = path, .depth = 9, .limit = 1000, .hidden = true, .ignored = true});
    case GLOB:
        return mortise_test_run(test, &glob_tool,
                                &(glob_args){.pattern = "**",
                                             .path = path,
                                             .sort = "time",
                                             .limit = 1000,
                                             .hidden = true,
                                             .ignored = true});
    case WRITE:
        return mortise_test_run(test, &write_file_tool,
                                &(write_file_args){.path = path, .content = "written\n"});
    default:
        return mortise_test_run(test, &edit_file_tool,
                                &(edit_file_args){.path = path, .edits = {edits, 1}});
    }
}

/* As if the session had read the secret under this name, so that nothing but the way is checked. */
static void pretend_read(mortise_test *test, const char *path)
{
    struct files *files = mortise_test_tool(test, "edit_file")->state;
    char absolute[32768];
    snprintf(absolute, sizeof(absolute), "%s%s%s", path[0] == '/' ? "" : workspace,
             path[0] == '/' ? "" : "/", path);
    seen_note(&files->seen, "s", absolute, content_of(SECRET, strlen(SECRET)), 1, 1, 1);
}

static bool leaks(const mortise_test_result *result)
{
    return strstr(result->text, "CONTENTS") || strstr(result->text, WITNESS) ||
           strstr(result->message, "CONTENTS") || strstr(result->message, WITNESS);
}

/* Every tool with the path, which leads out: no one reads or writes there; those that work on a
 * file or folder that exists fail. */
static void check_denied(mortise_test *test, const char *said)
{
    char path[16384]; /* in() uses its buffers again */
    snprintf(path, sizeof(path), "%s", said);
    for (int tool = 0; tool < TOOLS; tool++) {
        pretend_read(test, path);
        const mortise_test_result *result = use(test, tool, path);
        bool is_good =
            !leaks(result) && is_untouched() && (tool == WRITE || result->status == MORTISE_FAILED);
        if (!is_good)
            fprintf(stderr, "tool %d, path '%.200s': %s%s\n", tool, path, result->text,
                    result->message);
        mortise_test_true(is_good);
    }
    /* and with the folder that it is in */
    char folder[16384];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    for (int tool = GREP; slash && tool <= GLOB; tool++)
        mortise_test_true(!leaks(use(test, tool, folder)));
}

/* ---- ways out
 * ------------------------------------------------------------------------------------ */

static void no_path_leads_out(mortise_test *test)
{
    static const char *const paths[] = {
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "a/b/../../../outside/secret.txt",
        "./../outside/secret.txt",
        "..//outside//secret.txt",
        "a/./.././../outside/secret.txt",
        "/../outside/secret.txt",
        "/etc/passwd",
        "/etc/../etc/passwd",
        "//etc/passwd",
        "..",
        "../..",
        "link_abs",
        "link_rel",
        "dir_abs/secret.txt",
        "dir_rel/secret.txt",
        "dir_abs",
        "dir_rel",
        "chain1",
        "a/chain3",
        "a/mid/secret.txt",
        "a/mid",
        "a/up/outside/secret.txt",
        "a/up",
        "dots/outside/secret.txt",
        "dots",
        "dots/workspace/x.txt",
        "top/etc/passwd",
        "top",
        "/proc/self/root/etc/passwd",
        "proc_root/etc/passwd",
        "proc_cwd/../etc/passwd/..",
        "proc_fd",
        "loop",
        "loop_a",
        "loop_a/x",
        "many0",
        "inside_out",
        "inside_out2",
        "self/x.txt",
        "self/../outside/secret.txt",
        "round",
        "null",
        "pipe",
        "socket",
        "/dev/zero",
        "~/x",
        "~",
        "file:///etc/passwd",
        "..\\outside\\secret.txt",
        "%2e%2e/outside/secret.txt",
        "x\n/../../outside/secret.txt",
        "a/mid/../secret.txt",
        "dangling",
    };
    char path[8192];
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        check_denied(test, paths[i]);
    check_denied(test, in(outside, "secret.txt"));
    check_denied(test, in(workspace, "../outside/secret.txt"));
    check_denied(test, in(workspace, "dir_rel/secret.txt"));
    check_denied(test, in(base, "workspace-evil/secret.txt"));
    snprintf(path, sizeof(path), "/proc/self/root%s/secret.txt", outside);
    check_denied(test, path);
    snprintf(path, sizeof(path), "proc_root%s/secret.txt", outside);
    check_denied(test, path);
    snprintf(path, sizeof(path), "top%s/secret.txt", outside);
    check_denied(test, path);
    memset(path, 'n', 300); /* a name that is too long */
    path[300] = '\0';
    check_denied(test, path);
    path[0] = '\0'; /* a path that is too long, and one that is too deep */
    for (int i = 0; i < 2000; i++)
        strcat(path, "dd/");
    check_denied(test, path);
    path[0] = '\0';
    for (int i = 0; i < 1000; i++)
        strcat(path, "../");
    strcat(path, "etc/passwd");
    check_denied(test, path);
}

static void what_was_written_is_inside(mortise_test *test)
{
    mortise_test_true(use(test, WRITE, "dangling")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "dangling/x")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "dir_rel/new/deep/x")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "dots/new.txt")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "link_rel")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "pipe")->status == MORTISE_FAILED);
    mortise_test_true(use(test, WRITE, "socket")->status == MORTISE_FAILED);
    mortise_test_true(count_entries(base) == 5 && is_untouched());
}

static void links_that_stay_inside_work(mortise_test *test)
{
    mortise_test_text(use(test, READ, "good"), "harmless\n");
    mortise_test_text(use(test, READ, "a/good"), "harmless\n");
    mortise_test_text(use(test, READ, "good_dir/y.txt"), "harmless\n");
    mortise_test_contains(use(test, WRITE, "good_dir/z/new.txt")->text, "made");
    mortise_test_true(holds(in(workspace, "a/b/z/new.txt"), "written\n"));
    mortise_test_error(use(test, WRITE, "good"), MORTISE_FORBIDDEN, "name the file itself");
    mortise_test_true(holds(in(workspace, "x.txt"), "harmless\n"));
}

/* Needs root: to make them. */
static void devices_and_foreign_hard_links_are_refused(mortise_test *test)
{
    if (geteuid() != 0)
        return;
    if (mknod(in(workspace, "zero"), S_IFCHR | 0666, makedev(1, 5)) == 0)
        check_denied(test, "zero");
    put(in(base, "owned"), SECRET);
    mortise_test_true(chown(in(base, "owned"), 12345, 12345) == 0);
    mortise_test_true(link(in(base, "owned"), in(workspace, "hard")) == 0);
    mortise_test_error(use(test, READ, "hard"), MORTISE_FORBIDDEN, "hard link");
    check_denied(test, "hard");
    mortise_test_true(!leaks(use(test, GREP, ".")));
    unlink(in(workspace, "hard"));
    unlink(in(base, "owned"));
}

static void the_whole_tree_shows_nothing_of_the_outside(mortise_test *test)
{
    for (int tool = GREP; tool <= GLOB; tool++)
        mortise_test_true(!leaks(use(test, tool, ".")));
    mortise_test_true(!leaks(use(test, GREP, workspace)));
}

/* ---- races
 * ----------------------------------------------------------------------------------------- */

struct swapper {
    const char *one, *other; /* in the workspace */
    atomic_bool stop;
    pthread_t thread;
};

static void *swap(void *data)
{
    struct swapper *swapper = data;
    char one[256], other[256];
    snprintf(one, sizeof(one), "%s/%s", workspace, swapper->one);
    snprintf(other, sizeof(other), "%s/%s", workspace, swapper->other);
    while (!atomic_load(&swapper->stop))
        renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    return NULL;
}

/* Each tool so often, while a folder on its way, or the file itself, is swapped against a link that
 * leads out. */
static void race(mortise_test *test, const char *one, const char *other, const char *path,
                 const char *folder)
{
    struct swapper swapper = {.one = one, .other = other};
    size_t done = 0, denied = 0, leaked = 0;
    pthread_create(&swapper.thread, NULL, swap, &swapper);
    for (int i = 0; i < TRIES; i++) {
        int tool = i % TOOLS;
        pretend_read(test, path);
        const mortise_test_result *result =
            use(test, tool, folder && tool >= LIST && tool <= GLOB ? folder : path);
        leaked += leaks(result);
        done += result->status == MORTISE_OK;
        denied += result->status != MORTISE_OK;
    }
    atomic_store(&swapper.stop, true);
    pthread_join(swapper.thread, NULL);
    mortise_test_true(leaked == 0);
    mortise_test_true(done > 0 && denied > 0); /* else nothing was swapped */
    mortise_test_true(is_untouched());
}

static void no_race_leads_out(mortise_test *test)
{
    mkdir(in(workspace, "swap"), 0777);
    mkdir(in(workspace, "swap/sub"), 0777);
    put(in(workspace, "swap/sub/secret.txt"), "harmless\n");
    put(in(workspace, "swap/secret.txt"), "harmless\n");
    link_to("../outside", "swap_link");
    race(test, "swap", "swap_link", "swap/secret.txt", "swap");

    mkdir(in(workspace, "deep"), 0777); /* a link that leads out by "..", if it is swapped */
    mkdir(in(workspace, "deep/er"), 0777);
    link_to("../../x.txt", "deep/er/up");
    link_to("deep/er", "flat");
    race(test, "deep/er", "flat", "deep/er/up", NULL);

    put(in(workspace, "file"), "harmless\n");
    link_to("../outside/secret.txt", "file_link");
    race(test, "file", "file_link", "file", NULL);
}

/* ---- all of it, in three kinds of process
 * ------------------------------------------------------------- */

static int everything(void)
{
    make_world();
    mortise_test *test = mortise_test_open("{\"write\":true}");
    mortise_test_context(test, "workspace", workspace);
    mortise_test_context(test, "session", "s");
    no_path_leads_out(test);
    what_was_written_is_inside(test);
    links_that_stay_inside_work(test);
    devices_and_foreign_hard_links_are_refused(test);
    the_whole_tree_shows_nothing_of_the_outside(test);
    no_race_leads_out(test);
    nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return mortise_test_close(test);
}

/* From now on openat2 fails with this error. */
static bool forbid_openat2(unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    struct open_how how = {.flags = O_PATH};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how)) < 0 && errno == (int)error;
}

static void in_child(unsigned error)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        bool is_forbidden = forbid_openat2(error);
        mortise_test_true(is_forbidden);
        exit(everything());
    }
    mortise_test_true(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    in_child(ENOSYS);
    in_child(EPERM);
    everything();
    return mortise_test_status();
}

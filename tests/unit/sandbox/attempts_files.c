/* attempts_files - by path, by link, by descriptor, through /proc. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit/sandbox/attempts.h"
#include "unit/sandbox/scene.h"

int attempt_result(long value)
{
    return value < 0 ? errno : 0;
}

static char buffer[512];

static const char *in(const char *folder, const char *name)
{
    snprintf(buffer, sizeof(buffer), "%s/%s", folder, name);
    return buffer;
}

static int read_from(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    return fd < 0 ? errno : attempt_result(read(fd, &byte, 1));
}

static int read_victim(void)
{
    return read_from(scene.victim);
}

static int read_by_link(void)
{
    return read_from(in(scene.scratch, "link"));
}

static int read_by_parent(void)
{
    return read_from(in(scene.scratch, "../victim"));
}

static int read_by_folder_descriptor(void)
{
    char byte;
    int folder = open(scene.scratch, O_PATH | O_DIRECTORY);
    int fd = openat(folder, "../victim", O_RDONLY);
    return fd < 0 ? errno : attempt_result(read(fd, &byte, 1));
}

static int read_by_working_folder(void)
{
    return chdir(scene.root) == 0 ? read_from("victim") : errno;
}

static int read_users(void)
{
    return read_from("/etc/passwd");
}

static int read_proc_of_parent(void)
{
    snprintf(buffer, sizeof(buffer), "/proc/%d/environ", (int)scene.witness);
    return attempt_result(open(buffer, O_RDONLY));
}

static int read_own_maps(void)
{
    return read_from("/proc/self/maps");
}

static int read_by_proc_root(void)
{
    snprintf(buffer, sizeof(buffer), "/proc/self/root%s", scene.victim);
    return read_from(buffer);
}

static int read_by_proc_of_another(void)
{
    snprintf(buffer, sizeof(buffer), "/proc/%d/cwd", (int)scene.witness);
    return attempt_result(open(buffer, O_RDONLY | O_DIRECTORY));
}

static int write_own_memory(void)
{
    return attempt_result(open("/proc/self/mem", O_RDWR));
}

static int list_outside(void)
{
    return opendir(scene.root) ? 0 : errno;
}

static int use_inherited_folder(void)
{
    return attempt_result(openat(scene.inherited, "victim", O_RDONLY));
}

static int use_any_descriptor(void)
{
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 0;
    return EBADF;
}

static int write_victim(void)
{
    int fd = open(scene.victim, O_WRONLY);
    return fd < 0 ? errno : attempt_result(write(fd, "x", 1));
}

static int append_to_library(void)
{
    return attempt_result(open(in(scene.readable, "file"), O_WRONLY | O_APPEND));
}

static int cut_victim(void)
{
    return attempt_result(truncate(scene.victim, 0));
}

static int cut_library(void)
{
    return attempt_result(truncate(in(scene.readable, "file"), 0));
}

static int cut_library_while_reading(void)
{
    return attempt_result(open(in(scene.readable, "file"), O_RDONLY | O_TRUNC));
}

static int create_outside(void)
{
    return attempt_result(open(in(scene.root, "evil"), O_WRONLY | O_CREAT, 0600));
}

static int create_in_tmp(void)
{
    return attempt_result(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}

static int make_folder_outside(void)
{
    return attempt_result(mkdir(in(scene.root, "evil"), 0700));
}

static int remove_victim(void)
{
    return attempt_result(unlink(scene.victim));
}

static int move_victim_in(void)
{
    return attempt_result(rename(scene.victim, in(scene.scratch, "moved")));
}

static int move_file_out(void)
{
    char from[128];
    snprintf(from, sizeof(from), "%s/file", scene.scratch);
    return attempt_result(rename(from, in(scene.root, "moved")));
}

static int link_victim_in(void)
{
    return attempt_result(link(scene.victim, in(scene.scratch, "hard")));
}

static int make_symbolic_link(void)
{
    return attempt_result(symlink("/etc/passwd", in(scene.scratch, "symlink")));
}

static int make_fifo(void)
{
    return attempt_result(mkfifo(in(scene.scratch, "fifo"), 0600));
}

static int change_mode(void)
{
    return attempt_result(chmod(scene.victim, 0666));
}

static int change_mode_of_library(void)
{
    int fd = open(in(scene.readable, "file"), O_RDONLY);
    return fd < 0 ? errno : attempt_result(fchmod(fd, 0666));
}

static int change_owner(void)
{
    return attempt_result(chown(scene.victim, geteuid(), getegid()));
}

static int change_times(void)
{
    return attempt_result(
        utimensat(AT_FDCWD, scene.victim, (struct timespec[2]){{0, 0}, {0, 0}}, 0));
}

static int change_attributes(void)
{
    return attempt_result(setxattr(scene.victim, "user.x", "x", 1, 0));
}

static int open_by_handle(void)
{
    struct {
        struct file_handle head;
        unsigned char rest[128];
    } handle = {.head.handle_bytes = 128};
    int mount_id;
    return attempt_result(
        name_to_handle_at(AT_FDCWD, scene.victim, (struct file_handle *)&handle, &mount_id, 0));
}

static int read_by_root_of_another(void)
{
    snprintf(buffer, sizeof(buffer), "/proc/%d/root%s", (int)scene.witness, scene.victim);
    return read_from(buffer);
}

static const char *by_descriptor(int fd)
{
    snprintf(buffer, sizeof(buffer), "/proc/self/fd/%d", fd);
    return buffer;
}

/* No layer keeps from having such a descriptor, which is only a place. */
static int read_by_place(void)
{
    int fd = open(scene.victim, O_PATH);
    return fd < 0 ? errno : read_from(by_descriptor(fd));
}

static int link_place_in(void)
{
    char to[128];
    int fd = open(scene.victim, O_PATH);
    snprintf(to, sizeof(to), "%s/hard", scene.scratch);
    return attempt_result(linkat(AT_FDCWD, by_descriptor(fd), AT_FDCWD, to, AT_SYMLINK_FOLLOW));
}

static int link_file_out(void)
{
    char from[128];
    snprintf(from, sizeof(from), "%s/file", scene.scratch);
    return attempt_result(link(from, in(scene.root, "evil")));
}

static int exchange_victim(void)
{
    char mine[128];
    snprintf(mine, sizeof(mine), "%s/file", scene.scratch);
    return attempt_result(renameat2(AT_FDCWD, mine, AT_FDCWD, scene.victim, RENAME_EXCHANGE));
}

static int replace_victim(void)
{
    char mine[128];
    snprintf(mine, sizeof(mine), "%s/file", scene.scratch);
    return attempt_result(rename(mine, scene.victim));
}

static int remove_by_folder_descriptor(void)
{
    int folder = open(scene.root, O_PATH | O_DIRECTORY);
    return folder < 0 ? errno : attempt_result(unlinkat(folder, "victim", 0));
}

static int remove_from_readable(void)
{
    return attempt_result(unlink(in(scene.readable, "file")));
}

static int write_by_place(void)
{
    int fd = open(scene.victim, O_PATH);
    return fd < 0 ? errno : attempt_result(open(by_descriptor(fd), O_WRONLY | O_TRUNC));
}

static int change_mode_by_place(void)
{
    int fd = open(scene.victim, O_PATH);
    return fd < 0 ? errno : attempt_result(chmod(by_descriptor(fd), 0666));
}

static int change_times_of_library(void)
{
    int fd = open(in(scene.readable, "file"), O_RDONLY);
    return fd < 0 ? errno : attempt_result(futimens(fd, (struct timespec[2]){{0, 0}, {0, 0}}));
}

static int map_library_to_write(void)
{
    int fd = open(in(scene.readable, "file"), O_RDWR);
    if (fd < 0)
        return errno;
    char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return errno;
    bytes[0] = 'x';
    return 0;
}

static int read_attributes(void)
{
    char value[8];
    int code = attempt_result(getxattr(scene.victim, "user.x", value, sizeof(value)));
    return code == ENODATA ? 0 : code; /* it said that there is none */
}

static int run_as_user(void)
{
    return attempt_result(chmod(in(scene.scratch, "file"), 04755));
}

static int lease_library(void)
{
    int fd = open(in(scene.readable, "file"), O_RDONLY);
    return fd < 0 ? errno : attempt_result(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int read_by_rules(void)
{
    uint64_t how[3] = {O_RDONLY};
    return attempt_result(syscall(437 /* openat2 */, AT_FDCWD, scene.victim, how, sizeof(how)));
}

static int cut_by_rules(void)
{
    uint64_t how[3] = {O_RDONLY | O_TRUNC};
    const char *file = in(scene.readable, "file");
    return attempt_result(syscall(437 /* openat2 */, AT_FDCWD, file, how, sizeof(how)));
}

const struct attempt attempts_at_files[] = {
    {"read a file by rules", read_by_rules, true},
    {"cut what may be read by rules", cut_by_rules, true},
    {"read by another process's root", read_by_root_of_another, true},
    {"read what a place is", read_by_place, true},
    {"link what a place is in", link_place_in, true},
    {"link a file out", link_file_out, true},
    {"exchange a file for one's own", exchange_victim, true},
    {"replace a file", replace_victim, true},
    {"remove a file from a folder's descriptor", remove_by_folder_descriptor, true},
    {"remove what may be read", remove_from_readable, true},
    {"write what a place is", write_by_place, true},
    {"change the mode of what a place is", change_mode_by_place, true},
    {"change the times of what may be read", change_times_of_library, true},
    {"map what may be read to write it", map_library_to_write, true},
    {"read a file's attributes", read_attributes, true},
    {"let others run a file as oneself", run_as_user, true},
    {"take a lease of what may be read", lease_library, true},
    {"read a file", read_victim, true},
    {"read it by a link in scratch", read_by_link, true},
    {"read it by ..", read_by_parent, true},
    {"read it from a folder's descriptor", read_by_folder_descriptor, true},
    {"read it from its folder", read_by_working_folder, true},
    {"read /etc/passwd", read_users, true},
    {"read another process's environment", read_proc_of_parent, true},
    {"read one's own maps", read_own_maps, true},
    {"read by /proc/self/root", read_by_proc_root, true},
    {"open another process's folder", read_by_proc_of_another, true},
    {"open one's own memory", write_own_memory, true},
    {"list a folder", list_outside, true},
    {"use an inherited folder", use_inherited_folder, true},
    {"find any descriptor", use_any_descriptor, true},
    {"write a file", write_victim, true},
    {"append to what may be read", append_to_library, true},
    {"cut a file", cut_victim, true},
    {"cut what may be read", cut_library, true},
    {"cut it by opening it to read", cut_library_while_reading, true},
    {"create a file", create_outside, true},
    {"create one without a name in /tmp", create_in_tmp, false},
    {"make a folder", make_folder_outside, true},
    {"remove a file", remove_victim, true},
    {"move a file in", move_victim_in, true},
    {"move a file out", move_file_out, true},
    {"link a file in", link_victim_in, true},
    {"make a symbolic link", make_symbolic_link, true},
    {"make a fifo", make_fifo, true},
    {"change a file's mode", change_mode, true},
    {"change the mode of what may be read", change_mode_of_library, true},
    {"change its owner", change_owner, true},
    {"change its times", change_times, true},
    {"change its attributes", change_attributes, false},
    {"take a handle of a file", open_by_handle, false},
    {NULL, NULL, false},
};

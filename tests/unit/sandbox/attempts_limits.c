/* attempts_limits - memory and files that are held where a limit might not look for them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/sandbox/attempts.h"
#include "unit/sandbox/scene.h"

#define MIB ((size_t)1 << 20)

/* Twice what the test allows. */
enum { HELD_MIB = 512, STEP_MIB = 4 };

/* Long enough for the watch to look. */
static int hold(void)
{
    usleep(200000);
    return 0;
}

static char *take(int flags)
{
    int rights = PROT_READ | PROT_WRITE;
    return mmap(NULL, HELD_MIB * MIB, rights, flags | MAP_NORESERVE, -1, 0);
}

static int take_and_hold(void)
{
    char *memory = take(MAP_PRIVATE | MAP_ANONYMOUS);
    if (memory == MAP_FAILED)
        return errno;
    memset(memory, 1, HELD_MIB * MIB);
    return hold();
}

static void *take_in_thread(void *nothing)
{
    (void)nothing;
    _exit(take_and_hold());
}

/* The process goes on, but where it is looked for first there is nothing any more. */
static int end_first_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_in_thread, NULL) != 0)
        return errno;
    for (;;)
        syscall(SYS_exit, 0);
}

static int forget_shared(char *memory, size_t size)
{
    return madvise(memory, size, MADV_DONTNEED);
}

static int fill_and_drop(char *memory)
{
    for (size_t at = 0; at < HELD_MIB * MIB; at += STEP_MIB * MIB) {
        memset(memory + at, 1, STEP_MIB * MIB);
        if (forget_shared(memory + at, STEP_MIB * MIB) != 0)
            return errno;
    }
    return hold();
}

/* Shared memory is there until its last mapping goes, whether it is looked at or not. */
static int drop_shared(void)
{
    char *memory = take(MAP_SHARED | MAP_ANONYMOUS);
    if (memory == MAP_FAILED)
        return errno;
    return fill_and_drop(memory);
}

static int unmap_shared(void)
{
    char *memory = take(MAP_SHARED | MAP_ANONYMOUS);
    if (memory == MAP_FAILED)
        return errno;
    for (size_t at = STEP_MIB * MIB; at < HELD_MIB * MIB; at += STEP_MIB * MIB) {
        memset(memory + at, 1, STEP_MIB * MIB);
        if (munmap(memory + at, STEP_MIB * MIB) != 0)
            return errno;
    }
    return hold();
}

/* The same by the device that is also memory. */
static int drop_device(void)
{
    int fd = open("/dev/zero", O_RDWR);
    if (fd < 0)
        return errno;
    char *memory = mmap(NULL, HELD_MIB * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    return fill_and_drop(memory);
}

/* Each page that is only read is the one page of zeros, but the tables that say so are many. */
static int fill_tables(void)
{
    enum { TABLE_MIB = 2, TABLE_BYTES = 4096 };
    size_t tables = HELD_MIB * MIB / TABLE_BYTES, size = tables * TABLE_MIB * MIB;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    volatile char *memory = mmap(NULL, size, PROT_READ, flags, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    for (size_t i = 0; i < tables; i++)
        (void)memory[i * TABLE_MIB * MIB];
    return hold();
}

const struct attempt attempts_at_memory[] = {
    {"take memory", take_and_hold, true},
    {"take it when the first thread has ended", end_first_thread, true},
    {"drop shared memory", drop_shared, true},
    {"unmap shared memory in part", unmap_shared, true},
    {"drop shared memory of a device", drop_device, true},
    {"fill tables of pages", fill_tables, true},
    {NULL, NULL, false},
};

/* ---- files ---- */

static int remove_and_hold(void)
{
    int fd = chdir(scene.scratch) == 0 ? open("file", O_RDWR) : -1;
    return fd < 0 ? errno : attempt_result(unlink("file"));
}

static int replace_and_hold(void)
{
    int fd = chdir(scene.scratch) == 0 ? open("evil", O_RDWR | O_CREAT, 0600) : -1;
    return fd < 0 ? errno : attempt_result(rename("file", "evil"));
}

static int make_without_name(void)
{
    return attempt_result(open(scene.scratch, O_TMPFILE | O_RDWR, 0600));
}

static int make_without_name_by_rules(void)
{
    uint64_t how[3] = {O_TMPFILE | O_RDWR, 0600};
    return attempt_result(syscall(437 /* openat2 */, AT_FDCWD, scene.scratch, how, sizeof(how)));
}

static int remove_link(void)
{
    return chdir(scene.scratch) == 0 ? attempt_result(unlink("link")) : errno;
}

static int remove_folder(void)
{
    int code = chdir(scene.scratch) == 0 ? attempt_result(mkdir("evil", 0700)) : errno;
    return code == 0 ? attempt_result(rmdir("evil")) : code;
}

const struct attempt attempts_at_disk[] = {
    {"remove a file that is open", remove_and_hold, true},
    {"replace a file that is open", replace_and_hold, true},
    {"make a file without a name", make_without_name, true},
    {"make a file without a name by rules", make_without_name_by_rules, true},
    {"remove a link", remove_link, true},
    {"remove a folder", remove_folder, true},
    {NULL, NULL, false},
};

/*
 * folder - a folder of a test's own, and files in it.  Include after <cmocka.h>.
 */
#ifndef TEST_PLUGIN_FOLDER_H
#define TEST_PLUGIN_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A failing test shows the whole text. */
#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" has no \"%s\"", (text), (part));                                      \
    } while (0)

static char root[64];

static inline int make_root(void)
{
    snprintf(root, sizeof(root), "/tmp/mortise-load-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *status, int type,
                             struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static inline int remove_root(void)
{
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* One of the last four. */
static inline const char *in_root(const char *name)
{
    static char paths[4][160];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
    return path;
}

static inline void write_file(const char *name, const void *data, size_t length)
{
    int fd = open(in_root(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), length);
    assert_int_equal(fchmod(fd, 0755), 0); /* whatever the umask */
    close(fd);
}

static inline void *read_file(const char *path, size_t *length)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        fail_msg("cannot read '%s'", path);
    *length = (size_t)status.st_size;
    void *data = malloc(*length);
    assert_int_equal(read(fd, data, *length), status.st_size);
    close(fd);
    return data;
}

/* A copy is another object, so every test has its own counters. */
static inline void copy(const char *from, const char *name)
{
    size_t length;
    void *data = read_file(from, &length);
    write_file(name, data, length);
    free(data);
}

/* Puts a copy in the place of what was there, as an installation should. */
static inline void put(const char *from, const char *name)
{
    char to[160];
    snprintf(to, sizeof(to), "%s", in_root(name));
    copy(from, ".new");
    assert_int_equal(rename(in_root(".new"), to), 0);
}

#endif

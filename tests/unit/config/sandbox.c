#include "sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static char root[64];

static void forget_variables(void)
{
    for (char **entry = environ; *entry;) {
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*entry, "="), *entry);
        if (strncmp(name, "MORTISE_", 8) == 0 || strncmp(name, "XDG_", 4) == 0) {
            assert_int_equal(unsetenv(name), 0);
            entry = environ; /* the list has moved */
        } else {
            entry++;
        }
    }
}

int sandbox_enter(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/mortise-test-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(mkdir(sandbox_path("home"), 0700), 0);
    assert_int_equal(mkdir(sandbox_path("project"), 0700), 0);
    assert_int_equal(chdir(sandbox_path("project")), 0);
    forget_variables();
    assert_int_equal(setenv("HOME", sandbox_path("home"), 1), 0);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

int sandbox_leave(void **state)
{
    (void)state;
    return chdir("/") || nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *sandbox_path(const char *tail)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", root, tail);
    return path;
}

static void make_folders(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

void sandbox_write(const char *tail, const char *text, mode_t mode)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", sandbox_path(tail));
    make_folders(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static void *json_memory(size_t bytes)
{
    return malloc(bytes);
}

static void json_memory_free(void *memory)
{
    free(memory);
}

void sandbox_hook_json(void)
{
    json_set_alloc_funcs(json_memory, json_memory_free);
}

#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "ignore.h"

struct name {
    unsigned char type;
    char text[NAME_MAX + 1];
};

struct names {
    struct name **list;
    size_t count;
};

/* The path of what is looked at; each folder on the way puts its name behind it. */
struct path {
    char text[2 * PATH_MAX];
    size_t length;
    size_t start; /* of what is below the folder where the walk began */
};

/* ---- one folder --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct name *left = *(struct name *const *)a, *right = *(struct name *const *)b;
    return strcmp(left->text, right->text);
}

static int compare_folders_first(const void *a, const void *b)
{
    const struct name *left = *(struct name *const *)a, *right = *(struct name *const *)b;
    bool l = left->type == DT_DIR, r = right->type == DT_DIR;
    return l == r ? compare(a, b) : r - l;
}

static void release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static unsigned char type_of(int folder, const struct dirent *entry)
{
    struct stat status;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(status.st_mode);
}

static bool keep(struct names *names, const char *text, unsigned char type)
{
    if ((names->count & (names->count - 1)) == 0) {
        size_t room = names->count ? names->count * 2 : 1;
        struct name **list = realloc(names->list, room * sizeof(*list));
        if (!list)
            return false;
        names->list = list;
    }
    size_t length = strlen(text);
    struct name *name = malloc(offsetof(struct name, text) + length + 1);
    if (!name)
        return false;
    name->type = type;
    memcpy(name->text, text, length + 1);
    names->list[names->count++] = name;
    return true;
}

static bool is_wanted(const struct walk *walk, const struct ignore *ignore, struct path *path,
                      const char *name, unsigned char type)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    if (name[0] == '.' && !walk->hidden)
        return false;
    size_t length = strlen(name);
    if (path->length + length + 2 > sizeof(path->text)) /* a folder gets a slash */
        return false;
    if (walk->ignored)
        return true;
    memcpy(path->text + path->length, name, length + 1);
    bool is_ignored = ignore_has(ignore, path->text, type == DT_DIR);
    path->text[path->length] = '\0';
    return !is_ignored;
}

/* What is in the folder and wanted, in order; 0 or an errno. */
static int list(struct walk *walk, const struct ignore *ignore, struct path *path, DIR *folder,
                struct names *names)
{
    const struct dirent *entry;
    int fd = dirfd(folder);
    while ((entry = readdir(folder)) && !walk->is_cut && !walk->is_cancelled) {
        unsigned char type = type_of(fd, entry);
        walk->is_cut = ++walk->entries > WALK_ENTRIES;
        walk->is_cancelled = mortise_cancelled(walk->call);
        if (is_wanted(walk, ignore, path, entry->d_name, type) && !keep(names, entry->d_name, type))
            return ENOMEM;
    }
    if (names->count)
        qsort(names->list, names->count, sizeof(*names->list),
              walk->by_folders ? compare_folders_first : compare);
    return 0;
}

/* ---- going down
 * ---------------------------------------------------------------------------------- */

static int go(struct walk *walk, const struct ignore *above, struct path *path, int fd, int depth,
              bool *stop);

static int go_below(struct walk *walk, const struct ignore *ignore, struct path *path, int folder,
                    const char *name, int depth, bool *stop)
{
    if (strcmp(name, ".git") == 0)
        return 0;
    if (depth >= WALK_DEPTH) {
        walk->is_cut = true;
        return 0;
    }
    int fd = beneath_open_subfolder(folder, name);
    if (fd < 0) {
        walk->unreadable += errno != ENOENT;
        return 0;
    }
    size_t length = path->length;
    path->length += strlen(path->text + path->length);
    strcpy(path->text + path->length++, "/");
    int error = go(walk, ignore, path, fd, depth + 1, stop);
    path->length = length;
    return error;
}

static int visit_all(struct walk *walk, const struct ignore *ignore, struct path *path, int folder,
                     const struct names *names, int depth, bool *stop)
{
    size_t most = walk->most && walk->most < names->count ? walk->most : names->count;
    int error = 0;
    for (size_t i = 0; i < most && !error && !*stop; i++) {
        const struct name *name = names->list[i];
        walk->is_cancelled = walk->is_cancelled || mortise_cancelled(walk->call);
        strcpy(path->text + path->length, name->text);
        const struct walk_entry entry = {
            folder, name->text, path->text, path->text + path->start, name->type, depth};
        enum walk_next next = walk->is_cancelled ? WALK_STOP : walk->visit(walk->data, &entry);
        *stop = next == WALK_STOP;
        if (next == WALK_ON && name->type == DT_DIR)
            error = go_below(walk, ignore, path, folder, name->text, depth, stop);
    }
    path->text[path->length] = '\0';
    if (!error && !*stop && walk->leave)
        walk->leave(walk->data, depth, names->count - most);
    return error;
}

/* The folder `fd`, which it closes, at `path`, which ends with a slash or is empty. */
static int go(struct walk *walk, const struct ignore *above, struct path *path, int fd, int depth,
              bool *stop)
{
    struct ignore ignore = {.above = above, .below = path->length};
    struct names names = {0};
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return ENOMEM;
    }
    if (!walk->ignored)
        ignore_read(&ignore, fd, ".gitignore");
    int error = list(walk, &ignore, path, folder, &names);
    if (!error)
        error = visit_all(walk, &ignore, path, fd, &names, depth, stop);
    release(&names);
    ignore_release(&ignore);
    closedir(folder);
    return error;
}

/* ---- where it begins
 * --------------------------------------------------------------------------------- */

/* Reads the rules of the folders from the root down to where the walk begins, which are `count`
 * sets, and goes. */
static int begin(struct walk *walk, struct path *path, int fd)
{
    struct ignore above[WALK_DEPTH + 2] = {{.above = NULL}};
    size_t count = 1;
    bool stop = false;
    if (!walk->ignored)
        ignore_read(&above[0], walk->place->root, ".git/info/exclude");
    for (const char *at = path->text; !walk->ignored && *at && count <= WALK_DEPTH;) {
        char folder[PATH_MAX];
        size_t length = (size_t)(at - path->text);
        snprintf(folder, sizeof(folder), "%.*s", (int)length, path->text);
        int one = beneath_open_folder(walk->place->root, length ? folder : ".");
        above[count] = (struct ignore){.above = &above[count - 1], .below = length};
        if (one >= 0) {
            ignore_read(&above[count], one, ".gitignore");
            close(one);
        }
        count++;
        at += strcspn(at, "/");
        at += *at == '/';
    }
    int error = go(walk, &above[count - 1], path, fd, 1, &stop);
    while (count)
        ignore_release(&above[--count]);
    return error;
}

int walk_run(struct walk *walk)
{
    struct path path = {.length = 0};
    struct stat own;
    int fd = beneath_open_folder(walk->place->root, walk->place->path);
    if (fd < 0 || fstat(walk->place->root, &own) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return error;
    }
    walk->owner = own.st_uid;
    if (strcmp(walk->place->path, ".") != 0)
        path.length = (size_t)snprintf(path.text, sizeof(path.text), "%s/", walk->place->path);
    path.start = path.length;
    return begin(walk, &path, fd);
}

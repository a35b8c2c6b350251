#include "remote/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* ---- making ---- */

static bool is_usable(const char *folder)
{
    return folder && folder[0] == '/' && access(folder, W_OK | X_OK) == 0;
}

char *scratch_new_in(const char *folder, struct error *error)
{
    struct text path = TEXT_INIT;
    text_printf(&path, "%s/mortise-XXXXXX", folder);
    char *name = text_take(&path, NULL);
    if (!name) {
        error_memory(error);
        return NULL;
    }
    if (mkdtemp(name)) /* with mode 0700 */
        return name;
    error_set(error, ERROR_PLUGIN, "no scratch folder can be made in '%.200s': %s", folder,
              strerror(errno));
    free(name);
    return NULL;
}

char *scratch_new(struct error *error)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    size_t i = 0;
    while (i < 2 && !is_usable(places[i]))
        i++;
    return scratch_new_in(places[i], error);
}

/* ---- removing ---- */

/* A tree of any depth is brought to its top first: what lies in a folder of the top becomes part of
 * the top, so that no path is ever long. */
struct removal {
    int top;
    unsigned long number; /* names what was brought up */
};

/* Removes what a name stands for; false: it is a folder that is not empty, which can be read now. */
static bool remove_one(int folder, const char *name)
{
    struct stat about;
    if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return true;
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode) &&
           fchmodat(folder, name, 0700, 0) == 0 && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static bool bring_up(struct removal *removal, int folder, const char *name)
{
    char place[32];
    do
        snprintf(place, sizeof(place), ".%lu", removal->number++);
    while (renameat2(folder, name, removal->top, place, RENAME_NOREPLACE) != 0 && errno == EEXIST);
    return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

static bool is_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes all out of a folder; `fd` is closed. */
static bool empty(struct removal *removal, int fd)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool ok = folder;
    if (!folder && fd >= 0)
        close(fd);
    while (ok && (entry = readdir(folder)))
        ok = is_itself(entry->d_name) || remove_one(fd, entry->d_name) ||
             bring_up(removal, fd, entry->d_name);
    if (folder)
        closedir(folder);
    return ok;
}

/* One round: empties the folders at the top.  *left tells whether there are any. */
static bool empty_folders(struct removal *removal, bool *left)
{
    int fd = openat(removal->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *top = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool ok = top;
    *left = false;
    if (!top && fd >= 0)
        close(fd);
    while (ok && (entry = readdir(top))) {
        if (is_itself(entry->d_name) || remove_one(removal->top, entry->d_name))
            continue;
        *left = true;
        int folder = openat(removal->top, entry->d_name,
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = empty(removal, folder) &&
             (unlinkat(removal->top, entry->d_name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY);
    }
    if (top)
        closedir(top);
    return ok;
}

bool scratch_remove(const char *path)
{
    struct removal removal = {.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    bool left = true, ok = removal.top >= 0;
    while (ok && left)
        ok = empty_folders(&removal, &left);
    if (removal.top >= 0)
        close(removal.top);
    return ok && rmdir(path) == 0;
}

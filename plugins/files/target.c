#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "beneath.h"

/* ---- what is not written to ------------------------------------------------------------------ */

/* Git runs what its folder says (hooks, aliases, filters). */
static bool is_gits(const char *path)
{
    while (*path) {
        size_t n = strcspn(path, "/");
        if (n == 4 && strncasecmp(path, ".git", 4) == 0)
            return true;
        path += n;
        path += *path == '/';
    }
    return false;
}

/* Also when links led there; where /proc is not, the path that was given has to do. */
static bool is_gits_folder(int folder)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", folder);
    ssize_t length = readlink(name, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return is_gits(path);
}

static bool has_control(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 127)
            return true;
    return false;
}

/* ---- its folder --------------------------------------------------------------------------- */

/* Opens the folder `path`, and makes it in `above` if it is missing; -1 with errno. */
static int open_or_make(const struct target *target, int above, const char *path, bool make,
                        bool *made)
{
    int fd = beneath_open(target->place->root, path, O_PATH | O_DIRECTORY);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (has_control(name)) {
        errno = EILSEQ; /* its caller's word for this */
        return -1;
    }
    *made = mkdirat(above, name, 0777) == 0;
    if (!*made && errno != EEXIST)
        return -1;
    return openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Every folder on the way is resolved from the root, so links may lead anywhere inside. */
static int open_folder(struct target *target, bool make)
{
    char path[PATH_MAX];
    strcpy(path, target->place->path);
    int fd = beneath_open(target->place->root, ".", O_PATH | O_DIRECTORY);
    for (char *slash = strchr(path, '/'); slash && fd >= 0; slash = strchr(slash + 1, '/')) {
        bool made = false;
        *slash = '\0';
        int next = open_or_make(target, fd, path, make, &made);
        int error = errno;
        close(fd);
        errno = error;
        fd = next;
        target->folders_made += made;
        *slash = '/';
    }
    return fd;
}

/* ---- opening ------------------------------------------------------------------------------ */

static mortise_status load(mortise_call *call, struct target *target)
{
    struct stat root;
    int fd = fstat(target->place->root, &root) == 0
                 ? beneath_open_entry(target->folder, target->name, root.st_uid, &target->status)
                 : -1;
    if (fd < 0 && errno == ENOENT)
        return MORTISE_OK;
    if (fd < 0)
        return place_fail(call, target->place, "write", errno);
    target->exists = true;
    target->data = place_load(fd, &target->status, FILES_MOST_BYTES, &target->length);
    int error = errno;
    close(fd);
    if (!target->data)
        return place_fail(call, target->place, "write", error);
    if (!(target->status.st_mode & 0222) ||
        faccessat(target->folder, target->name, W_OK, AT_EACCESS) != 0)
        return mortise_fail_as(call, MORTISE_FORBIDDEN, "files.denied",
                               "'%s' is write-protected; nothing was written",
                               target->place->shown);
    return MORTISE_OK;
}

static void target_close(struct target *target)
{
    if (target->folder >= 0)
        close(target->folder);
    free(target->data);
    target->folder = -1;
    target->data = NULL;
}

static mortise_status target_open(mortise_call *call, const struct place *place, bool make_folders,
                                  struct target *target)
{
    *target = (struct target){.place = place, .folder = -1};
    if (strcmp(place->path, ".") == 0 || place->names_folder)
        return place_fail(call, place, "write", EISDIR);
    const char *slash = strrchr(place->path, '/');
    strcpy(target->name, slash ? slash + 1 : place->path);
    if (!is_gits(place->path)) {
        target->folder = open_folder(target, make_folders);
        if (target->folder < 0 && errno == EILSEQ)
            return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.path",
                                   "no folder is made whose name has control characters");
        if (target->folder < 0)
            return place_fail(call, place, "write", errno);
    }
    if (target->folder < 0 || is_gits_folder(target->folder)) {
        target_close(target);
        return mortise_fail_as(call, MORTISE_FORBIDDEN, "files.git",
                               "'%s' is in git's own folder, which is not written to: git runs "
                               "what stands there",
                               place->shown);
    }
    mortise_status status = load(call, target);
    if (status == MORTISE_OK && !target->exists && has_control(target->name))
        status = mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.path",
                                 "no file is made whose name has control characters");
    if (status != MORTISE_OK)
        target_close(target);
    return status;
}

mortise_status target_with(struct files *files, mortise_call *call, const char *path,
                           bool make_folders, target_change *change, const void *what)
{
    struct place place;
    struct target target;
    mortise_status status = place_open(files, call, path, &place);
    if (status != MORTISE_OK)
        return status;
    pthread_mutex_lock(&files->writing);
    status = target_open(call, &place, make_folders, &target);
    if (status == MORTISE_OK) {
        status = change(files, call, &target, what);
        target_close(&target);
    }
    pthread_mutex_unlock(&files->writing);
    place_close(&place);
    return status;
}

/* ---- what was read
 * -------------------------------------------------------------------------------- */

uint64_t target_lines(const char *data, size_t length)
{
    uint64_t lines = length && data[length - 1] != '\n';
    const char *end = data + length;
    while (data < end && (data = memchr(data, '\n', (size_t)(end - data)))) {
        lines++;
        data++;
    }
    return lines;
}

mortise_status target_check_seen(struct files *files, mortise_call *call,
                                 const struct target *target, bool whole)
{
    const char *shown = target->place->shown;
    enum seen_state state = seen_ask(&files->seen, place_session(call), target->place->absolute,
                                     content_of(target->data, target->length));
    if (state == SEEN_WHOLE || (state == SEEN_PART && !whole))
        return MORTISE_OK;
    if (state == SEEN_PART)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.unread",
                               "only a part of '%s' was read: read the rest before you overwrite "
                               "it (lines that were cut cannot be), or change what you know with "
                               "edit_file",
                               shown);
    if (state == SEEN_CHANGED)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.changed",
                               "'%s' has changed since it was read: read it again with read_file, "
                               "then repeat this with its present content in mind",
                               shown);
    return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.unread",
                           "'%s' exists and was not read: read it with read_file first, so that "
                           "nothing is lost",
                           shown);
}

/* ---- saving ------------------------------------------------------------------------------- */

static int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        data += n;
        length -= (size_t)n;
    }
    return 0;
}

/* A new file beside the target; its name goes to `name`. */
static int make_temporary(const struct target *target, char name[64])
{
    for (int i = 0; i < 16; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -1;
        snprintf(name, 64, ".mortise-%016" PRIx64 ".tmp", random);
        int fd = openat(target->folder, name,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                        target->exists ? 0600 : 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Owner and mode of the old file, as far as they can be kept; never more rights than it had. */
static int keep_mode(const struct target *target, int fd)
{
    struct stat made;
    if (!target->exists)
        return 0;
    if (fstat(fd, &made) != 0)
        return errno;
    bool is_other = made.st_uid != target->status.st_uid || made.st_gid != target->status.st_gid;
    mode_t mode = target->status.st_mode & 0777;
    if (is_other && fchown(fd, target->status.st_uid, target->status.st_gid) != 0 &&
        made.st_gid != target->status.st_gid && fchown(fd, (uid_t)-1, target->status.st_gid) != 0)
        mode = (mode & 0707) | ((mode & 0007) << 3); /* another group has no more than others */
    return fchmod(fd, mode) == 0 ? 0 : errno;
}

/* Whether the name still stands for what was looked at. */
static bool is_unchanged(const struct target *target)
{
    struct stat now;
    if (fstatat(target->folder, target->name, &now, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    const struct stat *then = &target->status;
    return now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

/* 0 or an errno; EEXIST and ESTALE: somebody was faster. */
static int put_in_place(const struct target *target, const char *temporary)
{
    int folder = target->folder;
    if (target->exists) {
        if (!is_unchanged(target))
            return ESTALE;
        return renameat(folder, temporary, folder, target->name) == 0 ? 0 : errno;
    }
    if (renameat2(folder, temporary, folder, target->name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (linkat(folder, temporary, folder, target->name, 0) != 0) /* never replaces either */
        return errno;
    return unlinkat(folder, temporary, 0) == 0 ? 0 : errno;
}

mortise_status target_save(struct files *files, mortise_call *call, const struct target *target,
                           const char *data, size_t length)
{
    char temporary[64];
    int fd = make_temporary(target, temporary);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        error = write_all(fd, data, length);
        error = error ? error : keep_mode(target, fd);
        error = error ? error : fdatasync(fd) == 0 ? 0 : errno;
        error = close(fd) == 0 || error ? error : errno;
        error = error ? error : put_in_place(target, temporary);
        if (error)
            unlinkat(target->folder, temporary, 0);
    }
    if (error == EEXIST || error == ESTALE)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.changed",
                               "somebody else wrote '%s' meanwhile, so it was left as it is: read "
                               "it with read_file, then repeat this",
                               target->place->shown);
    if (error)
        return place_fail(call, target->place, "write", error);
    uint64_t lines = target_lines(data, length);
    seen_note(&files->seen, place_session(call), target->place->absolute, content_of(data, length),
              lines > 0, lines, lines);
    return MORTISE_OK;
}

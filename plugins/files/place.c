#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "beneath.h"

/* ---- the text of a path ------------------------------------------------------------------- */

/* `said` without ".", "..", and doubled slashes, without one in front; "." when nothing is left.
 * 0 or an errno: EXDEV, it begins above where it started. */
static int normalise(const char *said, char out[PATH_MAX])
{
    size_t length = 0;
    while (*said) {
        size_t n = strcspn(said, "/");
        if (n == 2 && said[0] == '.' && said[1] == '.') {
            if (!length)
                return EXDEV;
            while (length && out[length - 1] != '/')
                length--;
            length -= length > 0;
        } else if (n > NAME_MAX || length + n + 2 > PATH_MAX) {
            return ENAMETOOLONG;
        } else if (n && !(n == 1 && said[0] == '.')) {
            if (length)
                out[length++] = '/';
            memcpy(out + length, said, n);
            length += n;
        }
        said += n;
        said += *said == '/';
    }
    out[length] = '\0';
    if (!length)
        strcpy(out, ".");
    return 0;
}

/* What is left of the absolute `path` (normalised, so without its first slash) below `root`, or
 * NULL. */
static const char *below(const char *root, const char *path)
{
    size_t length = strlen(root + 1);
    if (strcmp(path, ".") == 0)
        return length ? NULL : path;
    if (strncmp(root + 1, path, length) != 0)
        return NULL;
    if (!length)
        return path;
    return path[length] == '\0' ? "." : path[length] == '/' ? path + length + 1 : NULL;
}

static mortise_status fail_outside(const struct files *files, mortise_call *call, const char *said)
{
    struct text text = TEXT_INIT;
    const char *workspace = mortise_context(call, "workspace");
    text_puts(&text, "'");
    text_line(&text, said, strlen(said), 200);
    text_puts(&text, "' is outside of what can be reached here: use a path below ");
    if (workspace)
        text_printf(&text, "the workspace '%s', such as 'src/main.c'", workspace);
    for (size_t i = 0; files->roots[i]; i++)
        text_printf(&text, "%s'%s'", i || workspace ? " or " : "", files->roots[i]);
    if (!workspace && !files->roots[0])
        text_puts(&text, "a workspace, of which none is known");
    mortise_status status = mortise_fail_as(call, MORTISE_FORBIDDEN, "files.outside", "%s",
                                            text.data ? text.data : "outside of the workspace");
    text_release(&text);
    return status;
}

/* ---- its root ------------------------------------------------------------------------------- */

/* The root that has the absolute path, and the path below it; the longest wins. */
static const char *choose(const struct files *files, const char *workspace, const char *path,
                          const char **rest)
{
    const char *best = NULL;
    for (size_t i = 0; i <= FILES_ROOTS; i++) {
        const char *root = i == FILES_ROOTS ? workspace : files->roots[i];
        const char *left = root ? below(root, path) : NULL;
        if (left && (!best || strlen(root) > strlen(best))) {
            best = root;
            *rest = left;
        }
    }
    return best;
}

static void show(struct place *place, const char *root, bool is_workspace)
{
    bool is_root = strcmp(place->path, ".") == 0;
    const char *slash = root[1] ? "/" : "";
    snprintf(place->absolute, sizeof(place->absolute), "%s%s%s", root, is_root ? "" : slash,
             is_root ? "" : place->path);
    place->root_length = is_workspace ? 0 : strlen(root) + strlen(slash);
    snprintf(place->shown, sizeof(place->shown), "%s",
             is_workspace ? place->path : place->absolute);
}

mortise_status place_open(struct files *files, mortise_call *call, const char *said,
                          struct place *place)
{
    const char *workspace = mortise_context(call, "workspace");
    const char *root = workspace, *rest = place->path;
    size_t length = strlen(said);
    char path[PATH_MAX];
    int error = normalise(said, path);
    place->root = -1;
    place->names_folder = length && said[length - 1] == '/';
    if (error == ENAMETOOLONG)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.path",
                               "the path is too long: at most %d bytes, and %d for one name",
                               PATH_MAX - 1, NAME_MAX);
    if (said[0] == '~' && (said[1] == '/' || !said[1]))
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.path",
                               "'~' is not expanded: use a path below the workspace");
    if (said[0] == '/' && !error)
        root = choose(files, workspace, path, &rest);
    else
        rest = path;
    if (error || !root)
        return fail_outside(files, call, said);
    memmove(place->path, rest, strlen(rest) + 1);
    show(place, root, root == workspace);
    place->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->root < 0)
        return mortise_fail_as(call, MORTISE_UNAVAILABLE, "files.root", "cannot open '%s': %s",
                               root, strerror(errno));
    return MORTISE_OK;
}

void place_put(const struct place *place, struct text *out, const char *path)
{
    struct text whole = TEXT_INIT;
    text_printf(&whole, "%.*s", (int)place->root_length, place->absolute);
    if (place->root_length && whole.data && whole.data[whole.length - 1] != '/')
        text_puts(&whole, "/"); /* the place is the root itself */
    text_puts(&whole, path);
    if (whole.failed)
        out->failed = true;
    else
        text_name(out, whole.data);
    text_release(&whole);
}

void place_close(struct place *place)
{
    if (place->root >= 0)
        close(place->root);
    place->root = -1;
}

const char *place_session(mortise_call *call)
{
    const char *session = mortise_context(call, "session");
    return session ? session : "";
}

/* ---- names that were perhaps meant -------------------------------------------------------- */

/* How many characters differ between two short names, at most 9. */
static size_t distance(const char *a, const char *b)
{
    size_t row[65], la = strlen(a), lb = strlen(b);
    if (la > 64 || lb > 64)
        return 9;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t change = before + (a[i - 1] != b[j - 1]);
            before = row[j];
            size_t least = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[lb] < 9 ? row[lb] : 9;
}

static bool is_near(const char *name, const char *other)
{
    size_t stem = strcspn(name, "."), other_stem = strcspn(other, ".");
    return strcasecmp(name, other) == 0 || distance(name, other) <= 1 + strlen(name) / 5 ||
           (stem > 1 && stem == other_stem && strncmp(name, other, stem) == 0);
}

/* Puts " (did you mean 'a' or 'b'?)" for the names beside what is not there. */
static void suggest(const struct place *place, struct text *text)
{
    char folder[PATH_MAX];
    strcpy(folder, place->path);
    char *slash = strrchr(folder, '/');
    const char *name = slash ? slash + 1 : place->path;
    if (slash)
        *slash = '\0';
    int fd = beneath_open_folder(place->root, slash ? folder : ".");
    DIR *open_folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!open_folder && fd >= 0)
        close(fd);
    if (fd < 0 && slash)
        text_printf(text, " (nor is the folder '%s')", folder);
    size_t found = 0, looked = 0;
    const struct dirent *entry;
    while (open_folder && found < 3 && ++looked < 5000 && (entry = readdir(open_folder))) {
        if (entry->d_name[0] == '.' || !is_near(name, entry->d_name))
            continue;
        text_puts(text, found++ ? " or '" : " (did you mean '");
        if (slash)
            text_printf(text, "%s/", folder);
        text_line(text, entry->d_name, strlen(entry->d_name), 255);
        text_puts(text, "'");
    }
    if (found)
        text_puts(text, "?)");
    if (open_folder)
        closedir(open_folder);
}

/* ---- errors ------------------------------------------------------------------------------- */

static mortise_status fail_missing(mortise_call *call, const struct place *place)
{
    struct text text = TEXT_INIT;
    suggest(place, &text);
    mortise_status status = mortise_fail_as(call, MORTISE_MISSING, "files.missing",
                                            "'%s' is not there%s; glob or list_files tell what is",
                                            place->shown, text.data ? text.data : "");
    text_release(&text);
    return status;
}

mortise_status place_fail(mortise_call *call, const struct place *place, const char *verb,
                          int error)
{
    static const struct {
        int error;
        mortise_category category;
        const char *code, *text;
    } known[] = {
        {EXDEV, MORTISE_FORBIDDEN, "files.outside",
         "a symbolic link on the way leads out of the workspace, or is absolute; only what is "
         "inside can be reached"},
        {ELOOP, MORTISE_FORBIDDEN, "files.outside",
         "it is, or goes through, a symbolic link that cannot be followed here; name the file "
         "itself"},
        {EMEDIUMTYPE, MORTISE_FORBIDDEN, "files.special",
         "it is not a regular file but a device, a pipe, a socket or a part of the kernel's"},
        {EMLINK, MORTISE_FORBIDDEN, "files.special",
         "it is a hard link to a file of somebody else, which may lie outside of the workspace"},
        {EISDIR, MORTISE_INVALID_INPUT, "files.folder",
         "it is a folder; list_files shows what is in it"},
        {ENOTDIR, MORTISE_INVALID_INPUT, "files.no_folder",
         "it, or a name on the way to it, is not a folder"},
        {ENAMETOOLONG, MORTISE_INVALID_INPUT, "files.path", "the path is too long or too deep"},
        {EFBIG, MORTISE_INVALID_INPUT, "files.size", "it is too large for this"},
        {EAGAIN, MORTISE_UNAVAILABLE, "files.busy",
         "somebody renames folders on the way; try again"},
    };
    if (error == ENOENT)
        return fail_missing(call, place);
    if (error == ENOMEM)
        return MORTISE_NO_MEMORY;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].error == error)
            return mortise_fail_as(call, known[i].category, known[i].code, "cannot %s '%s': %s",
                                   verb, place->shown, known[i].text);
    bool is_denied = error == EACCES || error == EPERM || error == EROFS;
    return mortise_fail_as(call, is_denied ? MORTISE_FORBIDDEN : MORTISE_INTERNAL,
                           is_denied ? "files.denied" : "files.failed", "cannot %s '%s': %s", verb,
                           place->shown, strerror(error));
}

char *place_load(int fd, const struct stat *status, size_t most, size_t *length)
{
    if (status->st_size < 0 || (uint64_t)status->st_size > most) {
        errno = EFBIG;
        return NULL;
    }
    size_t room = (size_t)status->st_size + 1, used = 0;
    char *data = malloc(room + 1);
    while (data) {
        ssize_t n = read(fd, data + used, room - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0) {
                data[used] = '\0';
                *length = used;
                return data;
            }
            break;
        }
        used += (size_t)n;
        if (used < room)
            continue;
        if (used > most) {
            errno = EFBIG;
            break;
        }
        room = room * 2 < most + 1 ? room * 2 : most + 1; /* it has grown */
        char *larger = realloc(data, room + 1);
        if (!larger)
            break;
        data = larger;
    }
    int error = errno;
    free(data);
    errno = error;
    return NULL;
}

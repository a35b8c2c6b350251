#include "service/artifact_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* ---- file names ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._+-", c));
}

void artifact_file_name(struct text *out, uint32_t version, const char *mime_type)
{
    text_printf(out, "%" PRIu32 ".", version);
    for (const char *c = mime_type; *c; c++) {
        if (*c == '/')
            text_putc(out, '=');
        else if (is_plain(*c))
            text_putc(out, *c);
        else
            text_printf(out, "%%%02X", (unsigned char)*c);
    }
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* The byte of "%XX"; -1: it is none. */
static int read_escape(const char *c)
{
    int high = *c == '%' ? hex_value(c[1]) : -1;
    int low = high >= 0 ? hex_value(c[2]) : -1;
    return low >= 0 ? high * 16 + low : -1;
}

/* Whether artifact_file_name() may have written it. */
static bool is_type(const char *file)
{
    for (const char *c = file; *c; c++)
        if (*c != '=' && !is_plain(*c)) {
            int byte = read_escape(c);
            if (byte < ' ' || byte > '~')
                return false;
            c += 2;
        }
    return *file;
}

static void read_type(struct text *out, const char *file)
{
    for (const char *c = file; *c; c++)
        if (*c == '%') {
            text_putc(out, (char)read_escape(c));
            c += 2;
        } else {
            text_putc(out, *c == '=' ? '/' : *c);
        }
}

/* What stands before the type; 0: this is no version. */
static uint32_t read_version(const char *file, const char **type)
{
    char *rest;
    if (*file < '1' || *file > '9')
        return 0;
    errno = 0;
    unsigned long long number = strtoull(file, &rest, 10);
    *type = rest + 1;
    return errno == 0 && number <= UINT32_MAX && *rest == '.' ? (uint32_t)number : 0;
}

/* ---- folders ---- */

int artifact_folder_open(const char *folder, const char *owner, const char *name, bool create)
{
    struct text path = TEXT_INIT;
    struct error error;
    text_printf(&path, "%s/%s%s%s/", folder, owner, name ? "/" : "", name ? name : "");
    errno = ENOMEM;
    int fd = -1;
    if (!path.failed && (!create || file_make_folders(path.data, &error))) {
        path.data[path.length - 1] = '\0'; /* so that the last one is no link either */
        fd = open(path.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    int reason = errno;
    text_release(&path);
    errno = reason;
    return fd;
}

/* The name of the file that has it; *found is 0 when there is none.  What was not written by us,
 * such as an editor's copy, is no version. */
static bool search(DIR *entries, uint32_t version, struct text *file, uint32_t *found)
{
    const struct dirent *entry;
    const char *type;
    *found = 0;
    while ((entry = readdir(entries))) {
        uint32_t number = read_version(entry->d_name, &type);
        if (number <= *found || (version && number != version) || !is_type(type))
            continue;
        *found = number;
        text_reset(file);
        text_puts(file, entry->d_name);
    }
    return !file->failed;
}

static bool describe(int folder, const char *file, struct artifact *artifact, struct error *error)
{
    struct text type = TEXT_INIT;
    struct stat status;
    const char *written = "";
    uint32_t version = read_version(file, &written);
    bool ok = fstatat(folder, file, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!ok)
        return error_set(error, ERROR_INTERNAL, "cannot read an artifact: %s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_INTERNAL, "'%s' among the versions of an artifact is no file",
                         file);
    read_type(&type, written);
    *artifact = (struct artifact){
        .mime_type = text_take(&type, NULL),
        .version = version,
        .saved_ms = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000,
        .length = (size_t)status.st_size,
    };
    return artifact->mime_type || error_memory(error);
}

bool artifact_folder_find(int folder, uint32_t version, struct artifact *artifact,
                          struct error *error)
{
    struct text file = TEXT_INIT;
    uint32_t found = 0;
    *artifact = (struct artifact){0};
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        error_set(error, ERROR_INTERNAL, "cannot read an artifact: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = search(entries, version, &file, &found) || error_memory(error);
    closedir(entries);
    ok = ok && (!found || describe(folder, file.data, artifact, error));
    text_release(&file);
    return ok;
}

/* ---- removing ---- */

static bool remove_entry(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return true;
    return (errno == EISDIR || errno == EPERM) && artifact_folder_remove(folder, name);
}

/* An owner has artifacts that have versions: that is as deep as it goes. */
bool artifact_folder_remove(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        errno = reason;
        return false;
    }
    const struct dirent *entry;
    bool ok = true;
    while (ok && (entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = remove_entry(dirfd(entries), entry->d_name);
    int reason = errno;
    closedir(entries);
    errno = reason;
    return ok && unlinkat(at, path, AT_REMOVEDIR) == 0;
}

#include "provider/aws_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "timeline/event.h"

#define MOST_BYTES ((size_t)1 << 20)

static const struct {
    const char *variable;
    const char *below_home;
    const char *before_name; /* of a section, but for "default" */
} kinds[] = {
    [AWS_FILE_CREDENTIALS] = {"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", ""},
    [AWS_FILE_CONFIG] = {"AWS_CONFIG_FILE", ".aws/config", "profile "},
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *aws_profile_name(void)
{
    const char *name = variable("AWS_PROFILE");
    if (!name)
        name = variable("AWS_DEFAULT_PROFILE");
    return name ? name : "default";
}

/* ---- reading ---- */

static void find_path(struct aws_file *file)
{
    const char *named = variable(kinds[file->kind].variable);
    const char *home = variable("HOME");
    if (named)
        text_puts(&file->path, named);
    else if (home)
        text_printf(&file->path, "%s/%s", home, kinds[file->kind].below_home);
}

/* What anyone may write could name any command, and send what is asked to anyone. */
static bool read_open(struct aws_file *file, int fd, struct error *error)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && (status.st_mode & S_IWOTH))
        return error_set(error, ERROR_CONFIG, "anyone may write to '%s': chmod 600 it",
                         file->path.data);
    return file_read_fd(fd, file->path.data, MOST_BYTES, &file->bytes, error);
}

bool aws_file_read(struct aws_file *file, enum aws_file_kind kind, struct error *error)
{
    *file = (struct aws_file){.kind = kind};
    find_path(file);
    if (file->path.failed)
        return error_memory(error);
    if (!file->path.length)
        return true;
    int fd = open(file->path.data, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0)
        return error_set(error, ERROR_CONFIG, "cannot read '%s': %s", file->path.data,
                         strerror(errno));
    bool ok = read_open(file, fd, error);
    close(fd);
    return ok;
}

void aws_file_release(struct aws_file *file)
{
    text_wipe(&file->bytes);
    text_release(&file->path);
}

/* ---- looking ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim(const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    return (struct slice){from, (size_t)(to - from)};
}

static bool equals(struct slice slice, const char *word)
{
    return slice.length == strlen(word) && memcmp(slice.data, word, slice.length) == 0;
}

/* The next line, without its end; false behind the last one. */
static bool next_line(struct slice *rest, struct slice *line)
{
    if (!rest->length)
        return false;
    const char *end = memchr(rest->data, '\n', rest->length);
    line->data = rest->data;
    line->length = end ? (size_t)(end - rest->data) : rest->length;
    size_t step = line->length + (end ? 1 : 0);
    rest->data += step;
    rest->length -= step;
    return true;
}

/* The name within the brackets, when the line begins a section. */
static bool read_section(struct slice line, struct slice *name)
{
    const char *close =
        line.length && line.data[0] == '[' ? memchr(line.data, ']', line.length) : NULL;
    if (!close)
        return false;
    *name = trim(line.data + 1, close);
    return true;
}

static bool is_profile(const struct aws_file *file, struct slice section, const char *profile)
{
    const char *before = kinds[file->kind].before_name;
    size_t length = strlen(before);
    if (strcmp(profile, "default") == 0 && equals(section, profile))
        return true;
    if (section.length < length || memcmp(section.data, before, length) != 0)
        return false;
    return equals(trim(section.data + length, section.data + section.length), profile);
}

/* "KEY = VALUE"; a comment has no key. */
static bool read_pair(struct slice line, struct slice *key, struct slice *value)
{
    const char *equal = line.length ? memchr(line.data, '=', line.length) : NULL;
    if (!equal || is_blank(line.data[0]) || strchr("#;", line.data[0]))
        return false;
    *key = trim(line.data, equal);
    *value = trim(equal + 1, line.data + line.length);
    return true;
}

/* The last value of `key`; without a key, whether there is the profile. */
static bool find(const struct aws_file *file, const char *profile, const char *key,
                 struct slice *found)
{
    struct slice rest = {text_cstr(&file->bytes), file->bytes.length};
    struct slice line, name, value;
    bool inside = false, any = false;
    while (next_line(&rest, &line)) {
        if (read_section(line, &name)) {
            inside = is_profile(file, name, profile);
            any = any || (inside && !key);
        } else if (inside && key && read_pair(line, &name, &value) && equals(name, key)) {
            *found = value;
            any = true;
        }
    }
    return any;
}

bool aws_file_has_profile(const struct aws_file *file, const char *profile)
{
    return find(file, profile, NULL, NULL);
}

bool aws_file_value(const struct aws_file *file, const char *profile, const char *key,
                    struct text *value)
{
    struct slice found = {"", 0};
    text_reset(value);
    if (!find(file, profile, key, &found))
        return false;
    text_append(value, found.data, found.length);
    return value->length > 0;
}

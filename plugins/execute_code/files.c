#include "files.h"

#include <mortise/services.h>
#include <mortise/tool.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 20,
    MOST_LISTED = 40,      /* with those that are not kept */
    MOST_BYTES = 32 << 20, /* of all of them */
    MOST_IMAGES = 4,       /* that go with the result … */
    IMAGE_BYTES = 4 << 20, /* … of at most so many bytes each */
    NAME_BYTES = 200
};

static const struct {
    const char *ending, *type;
} types[] = {{"png", "image/png"},
             {"jpg", "image/jpeg"},
             {"jpeg", "image/jpeg"},
             {"gif", "image/gif"},
             {"webp", "image/webp"},
             {"svg", "image/svg+xml"},
             {"pdf", "application/pdf"},
             {"txt", "text/plain"},
             {"md", "text/markdown"},
             {"csv", "text/csv"},
             {"html", "text/html"},
             {"json", "application/json"},
             {"xml", "application/xml"},
             {"zip", "application/zip"}};

struct saving {
    mortise_call *call;
    const mortise_artifacts *artifacts;
    FILE *out;
    int listed, saved, images;
    size_t bytes;
};

static const char *type_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcasecmp(ending + 1, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static bool is_good_name(const char *name)
{
    if (strlen(name) > NAME_BYTES)
        return false;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        if (*at < 0x20 || *at == 0x7f)
            return false;
    return true; /* whether it is UTF-8 the service says */
}

/* The whole file from malloc(), or NULL with *problem. */
static char *read_file(int folder, const char *name, size_t *length, const char **problem)
{
    struct stat about;
    char *data = NULL;
    size_t used = 0;
    ssize_t got = 0;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *problem = NULL;
    if (fd < 0 || fstat(fd, &about) != 0)
        *problem = fd < 0 && errno == ELOOP ? "it is a link" : strerror(errno);
    else if (S_ISDIR(about.st_mode))
        *problem = "it is a folder: only files in the current folder itself are kept";
    else if (!S_ISREG(about.st_mode))
        *problem = "it is no regular file";
    else if (about.st_size > (off_t)MORTISE_ARTIFACT_MAX)
        *problem = "it is too large: at most 10 MiB can be kept";
    else if (!(data = malloc((size_t)about.st_size + 1)))
        *problem = "out of memory";
    while (data && used < (size_t)about.st_size &&
           (got = read(fd, data + used, (size_t)about.st_size - used)) > 0)
        used += (size_t)got;
    if (got < 0)
        *problem = strerror(errno);
    if (fd >= 0)
        close(fd);
    if (*problem) {
        free(data);
        return NULL;
    }
    *length = used;
    return data;
}

static void attach_image(struct saving *saving, const char *name, const char *data, size_t length)
{
    const char *type = type_of(name);
    if (strncmp(type, "image/", 6) == 0 && strcmp(type, "image/svg+xml") != 0 &&
        length <= IMAGE_BYTES && saving->images < MOST_IMAGES &&
        mortise_attach_bytes(saving->call, type, name, data, length) == MORTISE_OK)
        saving->images++;
}

/* Why it was not kept, or NULL. */
static const char *save(struct saving *saving, int folder, const char *name, size_t *length,
                        uint32_t *version)
{
    const char *problem;
    if (!is_good_name(name))
        return "its name is too long or has control characters";
    if (!saving->artifacts)
        return "files cannot be kept here";
    if (saving->saved == MOST_FILES)
        return "too many files: 20 are kept";
    char *data = read_file(folder, name, length, &problem);
    if (!data)
        return problem;
    if (saving->bytes + *length > MOST_BYTES) {
        problem = "too much: 32 MiB are kept";
    } else if (saving->artifacts->save(saving->call, MORTISE_OF_SESSION, name, type_of(name), data,
                                       *length, version) < 0) {
        problem = "it could not be saved";
    } else {
        saving->saved++;
        saving->bytes += *length;
        attach_image(saving, name, data, *length);
    }
    free(data);
    return problem;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int is_wanted(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void files_save(mortise_call *call, FILE *out)
{
    struct saving saving = {.call = call, .artifacts = mortise_artifacts_of(call), .out = out};
    struct dirent **entries = NULL;
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = folder < 0 ? 0 : scandir(".", &entries, is_wanted, by_name);
    fputc('[', out);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *problem;
        size_t length = 0;
        uint32_t version = 0;
        if (saving.listed++ < MOST_LISTED) {
            problem = save(&saving, folder, name, &length, &version);
            fprintf(out, "%s{\"name\":%s,", saving.listed > 1 ? "," : "",
                    mortise_quote(call, name));
            if (problem)
                fprintf(out, "\"problem\":%s}", mortise_quote(call, problem));
            else
                fprintf(out, "\"bytes\":%zu,\"version\":%u}", length, version);
        }
        free(entries[i]);
    }
    fputc(']', out);
    free(entries);
    if (folder >= 0)
        close(folder);
}

#include "plugin/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sha2.h>

#include "base/file.h"

#define CHUNK     ((size_t)1 << 14)
#define MAX_BYTES ((off_t)512 << 20) /* a file can be larger than memory and take no place */
#define SEALS     (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3, which can be told to refuse what says nothing of it */
#endif

static bool cannot(const char *what, struct error *error)
{
    return error_set(error, ERROR_PLUGIN, "it cannot be %s: %s", what, strerror(errno));
}

bool sealed_hash(int fd, char sha256[SHA256_TEXT], struct error *error)
{
    uint8_t buffer[CHUNK];
    SHA2_CTX context;
    off_t offset = 0;
    ssize_t got;
    SHA256Init(&context);
    while ((got = pread(fd, buffer, sizeof(buffer), offset)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannot("read", error);
        SHA256Update(&context, buffer, (size_t)got);
        offset += got;
    }
    SHA256End(&context, sha256);
    return true;
}

static bool too_large(struct error *error)
{
    return error_set(error, ERROR_PLUGIN, "it is larger than %lld MiB",
                     (long long)(MAX_BYTES >> 20));
}

/* The size may be another one by the time that it is read. */
static bool copy(int from, int to, struct error *error)
{
    char buffer[CHUNK];
    struct stat status;
    off_t offset = 0;
    ssize_t got;
    if (fstat(from, &status) == 0 && status.st_size > MAX_BYTES)
        return too_large(error);
    while ((got = pread(from, buffer, sizeof(buffer), offset)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannot("read", error);
        if (offset + got > MAX_BYTES)
            return too_large(error);
        if (!file_write_fd(to, buffer, (size_t)got))
            return cannot("copied into memory", error);
        offset += got;
    }
    return true;
}

static int make(const char *name, struct error *error)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        cannot("copied into memory", error);
    return fd;
}

/* Hashed once it is sealed: what a writer did to the file meanwhile is in the copy, or is not. */
int sealed_copy(int fd, const char *name, char sha256[SHA256_TEXT], struct error *error)
{
    int sealed = make(name, error);
    if (sealed < 0)
        return -1;
    bool ok = copy(fd, sealed, error);
    if (ok && fcntl(sealed, F_ADD_SEALS, SEALS) != 0)
        ok = cannot("sealed", error);
    if (ok && sealed_hash(sealed, sha256, error))
        return sealed;
    close(sealed);
    return -1;
}

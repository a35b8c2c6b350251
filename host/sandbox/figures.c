#include "sandbox/figures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_BYTES = 16384, BLOCK_BYTES = 512 };

/* The number behind a line's name; 0 where there is no such line. */
static uint64_t value_of(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* No name of a process holds the end of a line: the kernel writes it in another way. */
static bool parse(const char *status, struct figures *figures)
{
    static const char *const memory[] = {"\nVmRSS:", "\nVmSwap:", "\nVmPTE:", "\nHugetlbPages:"};
    *figures = (struct figures){.processes = 1};
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        figures->memory_bytes += value_of(status, memory[i]) * 1024;
    figures->tasks = (unsigned)value_of(status, "\nThreads:");
    errno = EPROTO;
    return figures->tasks > 0;
}

static bool read_status(const char *path, struct figures *figures)
{
    char status[STATUS_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, status, sizeof(status) - 1);
    close(fd);
    if (length <= 0)
        return false;
    status[length] = '\0';
    return parse(status, figures);
}

/* Memory is told by every thread but those that have ended, and the first one may be one of them
 * while others go on. */
static void ask_threads(pid_t process, struct figures *figures)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    while (folder && !figures->memory_bytes && (entry = readdir(folder))) {
        struct figures thread;
        int number = (int)strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)process, number);
        if (number > 0 && read_status(path, &thread))
            figures->memory_bytes = thread.memory_bytes;
    }
    if (folder)
        closedir(folder);
}

bool figures_of_process(pid_t process, struct figures *figures)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
    if (!read_status(path, figures))
        return false;
    if (!figures->memory_bytes && figures->tasks > 1)
        ask_threads(process, figures);
    return true;
}

bool figures_of_session(pid_t process, unsigned most_tasks, struct figures *figures)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    struct figures one;
    if (!folder)
        return false;
    *figures = (struct figures){0};
    while (figures->tasks <= most_tasks && (entry = readdir(folder))) {
        pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);
        if (other <= 0 || (other != process && getsid(other) != process))
            continue;
        if (!figures_of_process(other, &one))
            continue;
        figures->memory_bytes += one.memory_bytes;
        figures->tasks += one.tasks;
        figures->processes++;
    }
    closedir(folder);
    return true;
}

/* What has gone meanwhile, or is something else now, is no fault. */
static bool is_hidden(const FTSENT *entry)
{
    bool failed =
        entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS;
    return failed && entry->fts_errno != ENOENT && entry->fts_errno != ENOTDIR;
}

void figures_of_folder(const char *path, uint64_t most_bytes, uint64_t most_files,
                       struct disk_figures *figures)
{
    char *copy = strdup(path);
    char *roots[] = {copy, NULL};
    FTS *walk = copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL) : NULL;
    const FTSENT *entry;
    bool hidden = !walk;
    while (!hidden && (entry = fts_read(walk))) {
        if (entry->fts_info == FTS_DP)
            continue;
        hidden = is_hidden(entry);
        if (hidden || entry->fts_info == FTS_NS || entry->fts_level == 0)
            continue;
        figures->files++;
        figures->bytes += (uint64_t)entry->fts_statp->st_blocks * BLOCK_BYTES;
        if (figures->files > most_files || figures->bytes > most_bytes)
            break;
    }
    if (hidden)
        *figures = (struct disk_figures){UINT64_MAX, UINT64_MAX};
    if (walk)
        fts_close(walk);
    free(copy);
}

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

enum { STAT_BYTES = 1024, BLOCK_BYTES = 512 };

/* Where fields stand in /proc/PID/stat, counted from the state, which follows the name. */
enum { FIELD_SESSION = 3, FIELD_THREADS = 17, FIELD_PAGES = 21, FIELD_COUNT };

/* The name is in brackets and may hold any byte, brackets too: the last one counts. */
static bool parse(const char *line, struct figures *figures)
{
    long long values[FIELD_COUNT] = {0};
    const char *at = strrchr(line, ')');
    if (!at || at[1] != ' ' || !at[2])
        return false;
    at += 3;
    for (size_t i = 1; i < FIELD_COUNT; i++) {
        char *end;
        values[i] = strtoll(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    figures->session = (pid_t)values[FIELD_SESSION];
    figures->tasks = (unsigned)values[FIELD_THREADS];
    figures->memory_bytes = (uint64_t)values[FIELD_PAGES] * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

bool figures_of_process(pid_t process, struct figures *figures)
{
    char path[32], line[STAT_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (length <= 0)
        return false;
    line[length] = '\0';
    errno = EPROTO;
    return parse(line, figures);
}

bool figures_of_session(pid_t process, struct figures *figures)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    struct figures one;
    if (!folder)
        return false;
    *figures = (struct figures){.session = process};
    while ((entry = readdir(folder))) {
        pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);
        if (other <= 0 || !figures_of_process(other, &one))
            continue;
        if (other != process && one.session != process)
            continue;
        figures->memory_bytes += one.memory_bytes;
        figures->tasks += one.tasks;
    }
    closedir(folder);
    return true;
}

/* What has gone meanwhile is no fault. */
static bool is_hidden(const FTSENT *entry)
{
    bool failed =
        entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS;
    return failed && entry->fts_errno != ENOENT;
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

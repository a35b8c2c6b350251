#include "sandbox/cgroup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define ROOT "/sys/fs/cgroup"

/* The folder of this process in the one hierarchy of version 2: its line begins with "0::".  Empty
 * when there is none. */
static void find_folder(struct text *folder)
{
    struct text table = TEXT_INIT;
    struct error error = ERROR_INIT;
    bool read = file_read("/proc/self/cgroup", 1 << 16, &table, &error);
    folder->failed = error.kind == ERROR_INTERNAL;
    const char *line = read ? text_cstr(&table) : "";
    while (*line && strncmp(line, "0::", 3) != 0) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (*line) {
        text_puts(folder, ROOT);
        text_append(folder, line + 3, strcspn(line + 3, "\n"));
        if (folder->length && folder->data[folder->length - 1] == '/')
            folder->data[--folder->length] = '\0';
    }
    text_release(&table);
}

/* Which of its limits are there, in words; false: that cannot be read. */
static bool read_controllers(const char *folder, struct text *words)
{
    struct text file = TEXT_INIT;
    text_printf(&file, "%s/cgroup.controllers", folder);
    bool read = !file.failed && file_read(file.data, 4096, words, NULL);
    if (read && words->length)
        words->data[strcspn(words->data, "\n")] = '\0';
    text_release(&file);
    return read;
}

static bool probe_folder(const char *folder, struct text *detail)
{
    struct text words = TEXT_INIT;
    bool usable = false;
    if (access(folder, W_OK) != 0)
        text_printf(detail, "'%s': %s", folder, strerror(errno));
    else if (!read_controllers(folder, &words))
        text_printf(detail, "the controllers of '%s' cannot be read", folder);
    else if (!strstr(text_cstr(&words), "memory") || !strstr(text_cstr(&words), "pids"))
        text_printf(detail, "'%s' has no limits of memory and processes", folder);
    else
        usable = true;
    if (usable)
        text_printf(detail, "'%s' with %s", folder, text_cstr(&words));
    detail->failed = detail->failed || words.failed;
    text_release(&words);
    return usable;
}

bool cgroup_probe(struct text *detail, const char **advice)
{
    struct text folder = TEXT_INIT;
    bool usable = false;
    find_folder(&folder);
    if (folder.failed)
        detail->failed = true;
    else if (folder.length)
        usable = probe_folder(folder.data, detail);
    else {
        text_puts(detail, "there are none of version 2");
        *advice = "boot with the unified hierarchy";
    }
    text_release(&folder);
    return usable;
}

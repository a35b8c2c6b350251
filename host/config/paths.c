#include "config/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* A variable that is not an absolute path is ignored, as XDG says. */
static char *xdg(const char *variable, const char *below_home, const char *tail)
{
    struct text path = TEXT_INIT;
    const char *base = getenv(variable);
    const char *home = getenv("HOME");
    if (base && base[0] == '/')
        text_printf(&path, "%s/mortise/%s", base, tail);
    else if (home && home[0] == '/')
        text_printf(&path, "%s/%s/mortise/%s", home, below_home, tail);
    else
        text_puts(&path, "");
    return text_take(&path, NULL);
}

char *path_config(const char *tail)
{
    return xdg("XDG_CONFIG_HOME", ".config", tail);
}

char *path_data(const char *tail)
{
    return xdg("XDG_DATA_HOME", ".local/share", tail);
}

char *path_state(const char *tail)
{
    return xdg("XDG_STATE_HOME", ".local/state", tail);
}

static void drop_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* `tail` below the binary's folder, "../" first. */
static char *from_binary(const char *tail)
{
    char binary[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", binary, sizeof(binary) - 1);
    if (length <= 0)
        return strdup("");
    binary[length] = '\0';
    /* The file's name goes, and one folder more for each "../". */
    drop_last(binary);
    for (; strncmp(tail, "../", 3) == 0; tail += 3)
        drop_last(binary);
    struct text path = TEXT_INIT;
    text_puts(&path, binary);
    if (*tail)
        text_printf(&path, "/%s", tail);
    return text_take(&path, NULL);
}

char *path_prefix(void)
{
    return from_binary(MORTISE_PREFIX_FROM_BINARY);
}

char *path_system_plugins(void)
{
    return from_binary(MORTISE_PLUGINS_FROM_BINARY);
}

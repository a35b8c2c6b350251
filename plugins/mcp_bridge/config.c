#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mortise/json.h>
#include <mortise/plugin.h>

#include "config_entry.h"

enum { FILE_MAX = 4 << 20 };

__attribute__((format(printf, 3, 4))) static void tell(const struct config_report *report,
                                                       uint32_t level, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    report->line(report->self, level, line);
}

/* ---- one file's servers ---- */

static bool is_there(const struct server_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->servers[i]->name, name) == 0)
            return true;
    return false;
}

/* Takes `server`. */
static bool put(struct server_list *list, struct server_config *server)
{
    struct server_config **servers =
        realloc(list->servers, (list->count + 1) * sizeof(struct server_config *));
    if (!servers) {
        config_unref(server);
        return false;
    }
    list->servers = servers;
    servers[list->count++] = server;
    return true;
}

static bool read_entry(struct server_list *list, const char *path, const char *name,
                       const char *json, const struct limits *limits,
                       const struct config_report *report)
{
    struct server_config *server;
    char unknown[256], problem[768];
    if (!name[0] || is_there(list, name)) {
        tell(report, MORTISE_LOG_WARNING, "%s: server '%.100s' is left out: %s", path, name,
             name[0] ? "another of that name is there already" : "it has no name");
        return true;
    }
    switch (config_entry_read(name, json, path, limits, &server, unknown, sizeof(unknown), problem,
                              sizeof(problem))) {
    case ENTRY_GOOD:
        if (unknown[0])
            tell(report, MORTISE_LOG_WARNING, "%s: server '%.100s': not known here: %s", path, name,
                 unknown);
        return put(list, server);
    case ENTRY_DISABLED:
        tell(report, MORTISE_LOG_DEBUG, "%s: server '%.100s' is disabled", path, name);
        return true;
    case ENTRY_BAD:
        tell(report, MORTISE_LOG_WARNING, "%s: server '%.100s' is left out: %s", path, name,
             problem);
        return true;
    case ENTRY_NO_MEMORY:
        break;
    }
    return false;
}

bool config_read_text(struct server_list *list, const char *path, const char *json,
                      const struct limits *limits, const struct config_report *report)
{
    const char *servers, *entry = NULL;
    char name[256];
    const char *begin = json + strspn(json, " \t\r\n");
    size_t length = mortise_json_length(begin);
    if (length == 0 || begin[length + strspn(begin + length, " \t\r\n")]) {
        tell(report, MORTISE_LOG_ERROR, "%s: it is no JSON", path);
        return true;
    }
    mortise_status status = mortise_json_object(json, "mcpServers", &servers);
    if (status == MORTISE_NOT_FOUND)
        status = mortise_json_object(json, "servers", &servers);
    if (status != MORTISE_OK) {
        tell(report, MORTISE_LOG_ERROR, "%s: it must be an object with \"mcpServers\", an object",
             path);
        return true;
    }
    while (mortise_json_next_member(servers, &entry, name, sizeof(name)) == MORTISE_OK)
        if (!read_entry(list, path, name, entry, limits, report))
            return false;
    return true;
}

/* ---- files ---- */

/* Its text, malloc'ed; NULL with errno set, 0: it was reported. */
static char *read_whole(const char *path, const struct config_report *report)
{
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    bool is_safe = is_file && !(status.st_mode & S_IWOTH);
    if (!is_safe || status.st_size > FILE_MAX) {
        tell(report, MORTISE_LOG_ERROR, "%s: %s", path,
             !is_file  ? "it is no file"
             : is_safe ? "it is larger than 4 MiB"
                       : "everybody may write it, and it says what is started: chmod o-w");
        errno = 0;
    } else if ((text = malloc((size_t)status.st_size + 1))) {
        size_t length = 0;
        ssize_t got;
        while ((got = read(fd, text + length, (size_t)status.st_size - length)) > 0)
            length += (size_t)got;
        text[length] = '\0';
    } else {
        errno = ENOMEM;
    }
    close(fd);
    return text;
}

bool config_read_file(struct server_list *list, const char *path, bool may_be_absent,
                      const struct limits *limits, const struct config_report *report)
{
    char *text = read_whole(path, report);
    if (!text && errno == ENOMEM)
        return false;
    if (!text && errno != 0 && !(may_be_absent && errno == ENOENT))
        tell(report, MORTISE_LOG_ERROR, "%s: %s", path, strerror(errno));
    bool is_good = !text || config_read_text(list, path, text, limits, report);
    free(text);
    return is_good;
}

/* Each of `paths`, which colons separate, and which is cut up. */
static bool read_each(struct server_list *list, char *paths, const struct limits *limits,
                      const struct config_report *report)
{
    bool is_good = true;
    char *rest = NULL;
    for (char *path = strtok_r(paths, ":", &rest); is_good && path;
         path = strtok_r(NULL, ":", &rest))
        is_good = config_read_file(list, path, false, limits, report);
    return is_good;
}

bool config_read_all(struct server_list *list, const struct limits *limits,
                     const struct config_report *report)
{
    const char *files = getenv("MORTISE_MCP_CONFIG"), *home = getenv("XDG_CONFIG_HOME");
    const char *below = "mortise/mcp.json";
    if (!home || home[0] != '/') {
        home = getenv("HOME");
        below = ".config/mortise/mcp.json";
    }
    if (getenv(CONFIG_BRIDGED) || (!files && (!home || home[0] != '/')))
        return true;
    size_t size = files ? strlen(files) + 1 : strlen(home) + strlen(below) + 2;
    char *path = malloc(size);
    if (!path)
        return false;
    if (files)
        memcpy(path, files, size);
    else
        snprintf(path, size, "%s/%s", home, below);
    bool is_good = files ? read_each(list, path, limits, report)
                         : config_read_file(list, path, true, limits, report);
    free(path);
    return is_good;
}

/* ---- life ---- */

struct server_config *config_ref(struct server_config *config)
{
    atomic_fetch_add(&config->refs, 1);
    return config;
}

static void free_texts(char **texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        free(texts[i]);
    free(texts);
}

void config_unref(struct server_config *config)
{
    if (!config || atomic_fetch_sub(&config->refs, 1) > 1)
        return;
    for (size_t i = 0; i < config->header_count; i++) {
        free((char *)(uintptr_t)config->headers[i].name);
        free((char *)(uintptr_t)config->headers[i].value);
    }
    free(config->headers);
    free_texts(config->command);
    free_texts(config->environment);
    free_texts(config->allowed);
    free_texts(config->excluded);
    free(config->name);
    free(config->where);
    free(config->folder);
    free(config->url);
    free(config);
}

void config_release(struct server_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        config_unref(list->servers[i]);
    free(list->servers);
    *list = (struct server_list){0};
}

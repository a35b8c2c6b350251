#include "command/app_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *copy(struct app_context *own, const char *text, size_t length)
{
    return arena_copy(&own->memory, text, length);
}

static bool read_scopes(struct app_context *own, const char *scopes, struct error *error)
{
    /* At most every second byte begins one. */
    const char **list = arena_alloc(&own->memory, (strlen(scopes) / 2 + 2) * sizeof(*list));
    size_t count = 0;
    if (!list)
        return error_memory(error);
    while (*scopes) {
        size_t length = strcspn(scopes, ",");
        if (length && !(list[count++] = copy(own, scopes, length)))
            return error_memory(error);
        scopes += length + (scopes[length] == ',');
    }
    own->context.scopes = list;
    return true;
}

/* A later value for a key takes the place of the earlier one. */
static struct metadata *place(struct metadata *list, const char *entry, size_t length)
{
    while (list->key && (strncmp(list->key, entry, length) != 0 || list->key[length]))
        list++;
    return list;
}

static bool read_metadata(struct app_context *own, char *const *entries, size_t count,
                          struct error *error)
{
    struct metadata *list = arena_alloc(&own->memory, (count + 1) * sizeof(*list));
    if (!list)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(entries[i], "=");
        if (length == 0 || !entries[i][length])
            return error_set(error, ERROR_USAGE, "option '--metadata': '%s' is not KEY=VALUE",
                             entries[i]);
        struct metadata *entry = place(list, entries[i], length);
        entry->key = copy(own, entries[i], length);
        entry->value = entries[i] + length + 1;
        if (!entry->key)
            return error_memory(error);
    }
    own->context.metadata = list;
    return true;
}

/* A current folder that is gone, or that cannot be told, is none. */
static bool find_workspace(struct app_context *own, const char *said, struct error *error)
{
    struct stat status;
    char *path = realpath(said ? said : ".", NULL);
    bool is_folder = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    int reason = path ? ENOTDIR : errno;
    if (is_folder)
        own->context.workspace = copy(own, path, strlen(path));
    free(path);
    if (is_folder)
        return own->context.workspace || error_memory(error);
    return !said || error_set(error, ERROR_USAGE, "option '--workspace': cannot use '%s': %s", said,
                              strerror(reason));
}

bool app_context_init(struct app_context *own, const struct app *app, struct error *error)
{
    const struct settings *settings = &app->settings;
    size_t count;
    char *const *metadata = settings_list(settings, SETTING_METADATA, &count);
    const char *scopes = settings_text(settings, SETTING_SCOPES);
    own->context = (struct call_context){
        .user = settings_text(settings, SETTING_USER),
        .tenant = settings_text(settings, SETTING_TENANT),
        .agent = settings_text(settings, SETTING_AGENT),
        .app = settings_text(settings, SETTING_APP),
    };
    arena_init(&own->memory, NULL, 0);
    return (!scopes || read_scopes(own, scopes, error)) &&
           (!count || read_metadata(own, metadata, count, error)) &&
           find_workspace(own, settings_text(settings, SETTING_WORKSPACE), error);
}

void app_context_release(struct app_context *own)
{
    arena_release(&own->memory);
}

#include "plugin/granted.h"

#include <string.h>

#include "base/text.h"

/* Commas are between those of --scopes, spaces between those that a tool is told. */
static bool is_scope(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && *text && strlen(text) == json_string_length(value) && !strpbrk(text, ", ");
}

bool granted_read(struct plugin *plugin, const json_t *list, struct error *error)
{
    size_t i;
    const json_t *value;
    if (!list)
        return true;
    const char **scopes = arena_alloc(&plugin->memory, (json_array_size(list) + 1) * sizeof(*scopes));
    if (!scopes)
        return error_memory(error);
    bool good = json_is_array(list);
    json_array_foreach (list, i, value) {
        good = good && is_scope(value);
        const char *text = json_string_value(value);
        if (good && !(scopes[i] = arena_copy(&plugin->memory, text, strlen(text))))
            return error_memory(error);
    }
    if (!good)
        return error_set(error, ERROR_CONFIG,
                         "its \"scopes\" in the configuration must be a list of scopes, such as "
                         "[\"notes\"]");
    plugin->scopes = scopes;
    return true;
}

bool granted_are(const struct plugin *plugin, const json_t *list)
{
    size_t i;
    const json_t *value;
    const char *const *scopes = plugin->scopes;
    if (!list || !scopes)
        return !list && !scopes;
    json_array_foreach (list, i, value) {
        const char *text = json_string_value(value);
        if (!text || !scopes[i] || strcmp(scopes[i], text) != 0)
            return false;
    }
    return json_is_array(list) && !scopes[json_array_size(list)];
}

static bool holds(const char *const *scopes, const char *scope, size_t length)
{
    for (; *scopes; scopes++)
        if (strncmp(*scopes, scope, length) == 0 && !(*scopes)[length])
            return true;
    return false;
}

bool granted_has(const struct plugin *plugin, const char *scope)
{
    return !plugin->scopes || holds(plugin->scopes, scope, strlen(scope));
}

const char *granted_of(const struct plugin *plugin, const char *scopes, struct arena *memory)
{
    struct text granted = TEXT_INIT;
    if (!scopes || !plugin->scopes)
        return scopes;
    for (size_t length; *scopes; scopes += length + (scopes[length] == ' ')) {
        length = strcspn(scopes, " ");
        if (length && holds(plugin->scopes, scopes, length))
            text_printf(&granted, "%s%.*s", granted.length ? " " : "", (int)length, scopes);
    }
    return text_keep(&granted, memory);
}

#include "config/config_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "config/paths.h"
#include "config/setting_value.h"

enum { MAX_CONFIG_BYTES = 1 << 20 };

/* Keys of the user's file that are no settings but sections of their own. */
static const char *const sections[] = {"plugin-config", "provider-config", "tool-config"};

static bool is_section(const char *key)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        if (strcmp(sections[i], key) == 0)
            return true;
    return false;
}

static int find_setting(const char *key)
{
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        if (strcmp(setting_definitions[id].name, key) == 0)
            return id;
    return -1;
}

static bool unknown_key(const char *key, struct error *error)
{
    const char *near = setting_suggest(key);
    if (near)
        return error_set(error, ERROR_CONFIG, "unknown key '%s'; did you mean '%s'?", key, near);
    return error_set(error, ERROR_CONFIG,
                     "unknown key '%s'; keys are the long options of `mortise --help`", key);
}

/* A scalar as the text that the command line would have. */
static bool add_scalar(struct setting_value *value, enum setting_id id, enum setting_source source,
                       const json_t *json, struct error *error)
{
    char number[64];
    const char *text = number;
    if (json_is_string(json))
        text = json_string_value(json);
    else if (json_is_boolean(json))
        text = json_is_true(json) ? "true" : "false";
    else if (json_is_integer(json))
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(json));
    else if (json_is_real(json))
        snprintf(number, sizeof(number), "%.15g", json_real_value(json));
    else
        return error_set(error, ERROR_CONFIG, "must be a text, a number, true or false");
    return setting_value_add(value, id, source, text, error);
}

static bool add(struct settings *settings, enum setting_id id, enum setting_source source,
                json_t *json, struct error *error)
{
    struct setting_value *value = &settings->values[id];
    if (value->source != SOURCE_UNSET)
        return true; /* something of higher precedence is there */
    if (!json_is_array(json))
        return add_scalar(value, id, source, json, error);
    if (!setting_is_list(id))
        return error_set(error, ERROR_CONFIG, "must not be a list");
    size_t i;
    json_t *entry;
    json_array_foreach(json, i, entry) if (!add_scalar(value, id, source, entry, error)) return false;
    return true;
}

/* What a project's file may not do, because it may be a stranger's. */
static bool allowed_in_project(int id, const json_t *json, struct error *error)
{
    const struct setting_definition *definition = &setting_definitions[id];
    const char *text = json_string_value(json);
    if (definition->project == PROJECT_TIGHTENS) {
        const char *strictest = strrchr(definition->metavariable, '|') + 1;
        return (text && strcmp(text, strictest) == 0) ||
               error_set(error, ERROR_CONFIG,
                         "'%s' of a project can only be '%s'; put anything else into your own "
                         "configuration",
                         definition->name, strictest);
    }
    if (definition->project != PROJECT_OK)
        return error_set(error, ERROR_CONFIG,
                         "'%s' cannot be set by a project; put it into your own configuration",
                         definition->name);
    if (id == SETTING_SYSTEM && text && text[0] == '@')
        return error_set(error, ERROR_CONFIG, "'system' of a project must be a text, not a file");
    return true;
}

static bool read_keys(struct settings *settings, json_t *root, enum setting_source source,
                      struct error *error)
{
    const char *key;
    json_t *json;
    json_object_foreach(root, key, json) {
        if (source == SOURCE_USER && is_section(key)) {
            if (!json_is_object(json))
                return error_set(error, ERROR_CONFIG, "'%s' must be an object", key);
            continue;
        }
        int id = find_setting(key);
        if (id < 0)
            return unknown_key(key, error);
        if (setting_definitions[id].project == OPTION_ONLY)
            return error_set(error, ERROR_CONFIG, "'%s' is an option of the command line alone", key);
        if (source == SOURCE_PROJECT && !allowed_in_project(id, json, error))
            return false;
        if (!add(settings, (enum setting_id)id, source, json, error)) {
            error_prefix(error, "'%s'", key);
            return false;
        }
    }
    return true;
}

/* *root is NULL when the file does not exist and need not. */
static bool parse_file(const char *path, bool required, json_t **root, struct error *error)
{
    *root = NULL;
    if (!required && access(path, F_OK) != 0)
        return true;
    struct text bytes = TEXT_INIT;
    if (file_read(path, MAX_CONFIG_BYTES, &bytes, error))
        *root = json_parse(text_cstr(&bytes), bytes.length, NULL, error);
    text_release(&bytes);
    if (*root && !json_is_object(*root)) {
        json_decref(*root);
        *root = NULL;
        error_set(error, ERROR_CONFIG, "must be a JSON object");
    }
    return *root != NULL;
}

static bool read_file(struct settings *settings, const char *path, bool required,
                      enum setting_source source, struct error *error)
{
    json_t *root;
    bool ok = parse_file(path, required, &root, error) && read_keys(settings, root, source, error);
    if (!ok) {
        error->kind = ERROR_CONFIG;
        error_prefix(error, "configuration '%s'", path);
    }
    if (source == SOURCE_USER && ok)
        settings->user_file = json_incref(root);
    json_decref(root);
    return ok;
}

char *config_file_user_path(const struct settings *settings)
{
    const char *named = settings_text(settings, SETTING_CONFIG);
    return named ? strdup(named) : path_config("config.json");
}

static char *user_path(const struct settings *settings, bool *required)
{
    *required = settings_text(settings, SETTING_CONFIG) != NULL;
    return config_file_user_path(settings);
}

bool config_file_read_user(struct settings *settings, struct error *error)
{
    bool required;
    char *path = user_path(settings, &required);
    if (!path)
        return error_memory(error);
    bool ok = !*path || read_file(settings, path, required, SOURCE_USER, error);
    free(path);
    return ok;
}

bool config_file_read_sections(const struct settings *settings, const char *kind, json_t **out,
                               struct error *error)
{
    bool required;
    json_t *root = NULL;
    char *path = user_path(settings, &required);
    *out = NULL;
    if (!path)
        return error_memory(error);
    bool ok = !*path || parse_file(path, required, &root, error);
    if (ok) {
        *out = json_incref(json_object_get(root, kind));
        ok = !*out || json_is_object(*out) ||
             error_set(error, ERROR_CONFIG, "'%s' must be an object", kind);
    }
    if (!ok) {
        error_prefix(error, "configuration '%s'", path);
        json_decref(*out);
        *out = NULL;
    }
    json_decref(root);
    free(path);
    return ok;
}

char *config_file_project(void)
{
    static const char tail[] = "/.mortise/config.json";
    char path[PATH_MAX + sizeof(tail)];
    if (!getcwd(path, PATH_MAX))
        return strdup("");
    for (size_t length = strlen(path);;) {
        memcpy(path + (length == 1 ? 0 : length), tail, sizeof(tail));
        if (access(path, F_OK) == 0)
            return strdup(path);
        if (length <= 1)
            return strdup("");
        while (length > 1 && path[length - 1] != '/')
            length--;
        if (length > 1)
            length--; /* the slash itself */
        path[length] = '\0';
    }
}

bool config_file_read_project(struct settings *settings, struct error *error)
{
    char *path = config_file_project();
    if (!path)
        return error_memory(error);
    bool ok = !*path || read_file(settings, path, true, SOURCE_PROJECT, error);
    free(path);
    return ok;
}

bool config_file_check(const char *path, enum setting_source source, struct error *error)
{
    struct settings settings;
    settings_init(&settings);
    bool ok = read_file(&settings, path, true, source, error);
    settings_release(&settings);
    return ok;
}

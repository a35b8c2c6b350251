#include "config/grant.h"

#include <string.h>

#include "base/json.h"
#include "config/key.h"

#define MEMBER "secrets"

/* What is the host's business, not the plugin's. */
static bool is_hidden(const char *key)
{
    static const char *const hidden[] = {MEMBER, "scopes", "isolation", "limits", "sandbox"};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (strcmp(key, hidden[i]) == 0)
            return true;
    return false;
}

/* Members one by one: a copy of the section would cost memory that can run out unseen. */
void grant_write_config(struct text *out, const json_t *section)
{
    const char *key;
    json_t *value;
    if (section && !json_is_object(section)) { /* the loader says what is wrong with it */
        text_json(out, section);
        return;
    }
    text_putc(out, '{');
    size_t start = out->length;
    json_object_foreach ((json_t *)(uintptr_t)section, key, value) {
        if (is_hidden(key))
            continue;
        if (out->length > start)
            text_putc(out, ',');
        text_json_string(out, key, strlen(key));
        text_putc(out, ':');
        text_json(out, value);
    }
    text_putc(out, '}');
}

void grant_write_all(struct text *out, const struct settings *settings)
{
    const char *plugin;
    json_t *section;
    text_putc(out, '{');
    size_t start = out->length;
    json_object_foreach (json_object_get(settings->user_file, "plugin-config"), plugin, section) {
        const json_t *secrets = json_object_get(section, MEMBER);
        if (!secrets)
            continue;
        if (out->length > start)
            text_putc(out, ',');
        text_json_string(out, plugin, strlen(plugin));
        text_putc(out, ':');
        text_json(out, secrets);
    }
    text_putc(out, '}');
}

static bool read_source(const json_t *source, char **value, struct error *error)
{
    static const char *const known[] = {"env", "file", "command", NULL};
    const char *unknown = json_unknown_member(source, known);
    if (!json_is_object(source) || json_object_size(source) != 1 || unknown)
        return error_set(error, ERROR_CONFIG,
                         "it must be an object with one of \"env\", \"file\" and \"command\"");
    return key_from_object(source, "", value, error);
}

bool grant_read(const char *grants, const char *plugin, const char *name, char **value,
                struct error *error)
{
    *value = NULL;
    json_t *all = json_parse(grants, strlen(grants), NULL, error);
    if (!all)
        return false;
    const json_t *secrets = json_object_get(all, plugin);
    const json_t *source = json_object_get(secrets, name);
    bool ok = true;
    if (secrets && !json_is_object(secrets))
        ok = error_set(error, ERROR_CONFIG, "\"" MEMBER "\" must be an object");
    else if (source)
        ok = read_source(source, value, error);
    json_decref(all);
    if (!ok)
        error_prefix(error, "secret '%s' of plugin '%s'", name, plugin);
    return ok;
}

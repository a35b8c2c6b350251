/*
 * What a section may say is a table; each key has a function that checks its value and puts it
 * where it belongs.
 */
#include "provider/profile_read.h"

#include <stddef.h>
#include <string.h>

#include "base/suggest.h"
#include "provider/profile_value.h"

/* ---- where it starts from ---- */

static bool start_like(const struct reading *reading, const json_t *value)
{
    const char *names[64];
    size_t count = 0;
    const char *name = profile_line(reading, value);
    const struct profile *like = name ? profile_find(name, strlen(name)) : NULL;
    for (size_t i = 0; profile_at(i) && count + 1 < sizeof(names) / sizeof(names[0]); i++)
        if (profile_at(i)->wire)
            names[count++] = profile_at(i)->name;
    names[count] = NULL;
    if (!like || !like->wire)
        return name && profile_refuse_word(reading, name, names);
    const char *own = reading->profile->name;
    *reading->profile = *like;
    reading->profile->name = own;
    reading->profile->like = like->name;
    return profile_keep(reading, &reading->profile->summary, "like ", like->name);
}

static bool start_from_format(const struct reading *reading, const json_t *value)
{
    /* Servers of the formats: what one takes beside text, others may. */
    static const char *const models[] = {"compatible", "openai-responses", "anthropic", "gemini"};
    const char *names[] = {NULL, NULL, NULL, NULL, NULL};
    const char *name = profile_line(reading, value);
    for (size_t i = 0; name && i < sizeof(models) / sizeof(models[0]); i++) {
        const struct profile *model = profile_find(models[i], strlen(models[i]));
        names[i] = model->wire->name;
        if (strcmp(names[i], name) != 0)
            continue;
        reading->profile->wire = model->wire;
        reading->profile->takes = model->takes;
        reading->profile->takes_if_told = model->takes_if_told;
        return profile_keep(reading, &reading->profile->summary, "speaks ", name);
    }
    return name && profile_refuse_word(reading, name, names);
}

static bool start(const struct reading *reading)
{
    const json_t *like = json_object_get(reading->section, "like");
    const json_t *format = json_object_get(reading->section, "format");
    if (!reading->is_new && (like || format))
        return error_set(reading->error, ERROR_CONFIG,
                         "'%s': it is built in; give a provider of your own another name",
                         like ? "like" : "format");
    if (!reading->is_new)
        return true;
    if (!like == !format)
        return profile_refuse(reading,
                              "it needs one of \"like\": \"PROVIDER\", which it starts from, and "
                              "\"format\": \"openai-chat|openai-responses|anthropic|gemini\"");
    bool ok = like ? start_like(reading, like) : start_from_format(reading, format);
    if (!ok)
        error_prefix(reading->error, "'%s'", like ? "like" : "format");
    return ok;
}

/* ---- the section ---- */

#define AT(member) offsetof(struct profile, member)

static const struct key {
    const char *name;
    profile_reader *read;
    size_t at;
    bool is_of_chat; /* of the format openai-chat alone */
} keys[] = {
    {"like", NULL, 0, false},
    {"format", NULL, 0, false},
    {"summary", profile_read_text, AT(summary), false},
    {"base_url", profile_read_base_url, AT(base_url), false},
    {"base_url_env", profile_read_name, AT(base_url_env), false},
    {"path", profile_read_path, AT(path), false},
    {"query", profile_read_pairs, AT(query), false},
    {"headers", profile_read_headers, AT(headers), false},
    {"key_env", profile_read_name, AT(key_env), false},
    {"key_file", profile_read_key_source, 0, false},
    {"key_command", profile_read_key_source, 0, false},
    {"key_header", profile_read_key_header, AT(key_header), false},
    {"default_model", profile_read_text, AT(default_model), false},
    {"images", profile_read_images, 0, false},
    {"schemas", profile_read_schemas, AT(reduced_schemas), false},
    {"unsupported", profile_read_unsupported, AT(unsupported), false},
    {"strict_ids", profile_read_flag, AT(strict_ids), false},
    {"max_tokens_field", profile_read_name, AT(max_tokens_field), true},
    {"reasoning_field", profile_read_name, AT(reasoning_field), true},
    {"cache_key", profile_read_flag, AT(takes_cache_key), true},
    {"stream_options", profile_read_opposite, AT(no_stream_options), true},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static bool unknown_key(const struct reading *reading, const char *name)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (size_t i = 0; i < KEY_COUNT; i++)
        suggestion_consider(&suggestion, keys[i].name);
    if (suggestion.best)
        return error_set(reading->error, ERROR_CONFIG, "unknown key '%.80s'; did you mean '%s'?",
                         name, suggestion.best);
    return error_set(reading->error, ERROR_CONFIG,
                     "unknown key '%.80s'; `man mortise` tells which there are", name);
}

static bool check_names(const struct reading *reading)
{
    const char *name;
    const json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)reading->section, name, value) {
        size_t i = 0;
        while (i < KEY_COUNT && strcmp(keys[i].name, name) != 0)
            i++;
        if (i == KEY_COUNT)
            return unknown_key(reading, name);
    }
    return true;
}

static bool read_key(const struct reading *reading, const struct key *key)
{
    const json_t *value = json_object_get(reading->section, key->name);
    if (!value || !key->read)
        return true;
    bool ok = key->is_of_chat && reading->profile->wire != &wire_openai_chat
                  ? profile_refuse(reading, "only the format openai-chat has it")
                  : key->read(reading, value, (char *)reading->profile + key->at);
    if (!ok)
        error_prefix(reading->error, "'%s'", key->name);
    return ok;
}

static bool says(const struct reading *reading, const char *key)
{
    return json_object_get(reading->section, key) != NULL;
}

/*
 * A server that was named is not asked with what is meant for another: an address of the section
 * stands before the variable's, and a provider of the user's takes its key from nowhere but where
 * its section says.
 */
static void forget_variables(const struct reading *reading)
{
    struct profile *profile = reading->profile;
    bool is_named = says(reading, "base_url") || says(reading, "base_url_env");
    if (!is_named)
        return;
    profile->base_url_env = NULL;
    if (reading->is_new)
        profile->key_env = profile->key_env_too = NULL;
    else
        profile->key_is_optional = true;
}

static bool check_key_sources(const struct reading *reading)
{
    const char *const sources[] = {"key_env", "key_file", "key_command"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        count += says(reading, sources[i]);
    if (count > 1)
        return profile_refuse(reading,
                              "it needs one of \"key_env\", \"key_file\" and \"key_command\", not "
                              "several");
    if (count)
        reading->profile->key_env_too = NULL;
    reading->profile->key_from = says(reading, "key_file")      ? "file"
                                 : says(reading, "key_command") ? "command"
                                                                : NULL;
    return true;
}

bool profile_read(struct profile *profile, const json_t *section, struct arena *memory,
                  struct error *error)
{
    struct reading reading = {profile, section, memory, error, !profile->summary};
    if (!reading.is_new && !profile->wire)
        return error_set(error, ERROR_CONFIG, "it asks no server, so there is nothing to be said");
    if (!json_is_object(section))
        return error_set(error, ERROR_CONFIG, "it must be an object");
    if (!check_names(&reading) || !start(&reading))
        return false;
    forget_variables(&reading);
    if (!check_key_sources(&reading))
        return false;
    profile->is_own = true;
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!read_key(&reading, &keys[i]))
            return false;
    return profile->base_url || profile->base_url_env ||
           error_set(error, ERROR_CONFIG, "it needs \"base_url\": where the server is");
}

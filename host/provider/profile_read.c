/*
 * What a section may say is a table; each key has a function that checks its value and puts it
 * where it belongs.
 */
#include "provider/profile_read.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/suggest.h"

struct reading {
    struct profile *profile;
    const json_t *section;
    struct arena *memory;
    struct error *error;
    bool is_new; /* not one that is built in */
};

static bool refuse(const struct reading *reading, const char *what)
{
    return error_set(reading->error, ERROR_CONFIG, "%s", what);
}

/* The name among `names` that was probably meant is told. */
static bool refuse_word(const struct reading *reading, const char *word, const char *const *names)
{
    struct suggestion suggestion;
    struct text list = TEXT_INIT;
    suggestion_begin(&suggestion, word);
    for (size_t i = 0; names[i]; i++) {
        suggestion_consider(&suggestion, names[i]);
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    if (suggestion.best)
        error_set(reading->error, ERROR_CONFIG, "unknown '%.80s'; did you mean '%s'?", word,
                  suggestion.best);
    else
        error_set(reading->error, ERROR_CONFIG, "unknown '%.80s'; it can be %s", word,
                  text_cstr(&list));
    text_release(&list);
    return false;
}

/* ---- values ---- */

/* A copy of `text` with `end` behind it. */
static bool keep(const struct reading *reading, const char **place, const char *text,
                 const char *end)
{
    size_t length = strlen(text);
    char *copy = arena_alloc(reading->memory, length + strlen(end) + 1);
    if (!copy)
        return error_memory(reading->error);
    memcpy(copy, text, length);
    memcpy(copy + length, end, strlen(end) + 1);
    *place = copy;
    return true;
}

/* A line of text: a string that is not empty and has no control characters. */
static const char *line_of(const struct reading *reading, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (!text || !length) {
        refuse(reading, "it must be a text");
        return NULL;
    }
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) {
            refuse(reading, "it holds a line break or another control character");
            return NULL;
        }
    return text;
}

static bool read_text(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = line_of(reading, value);
    return line && keep(reading, place, line, "");
}

static bool read_flag(const struct reading *reading, const json_t *value, void *place)
{
    if (!json_is_boolean(value))
        return refuse(reading, "it must be true or false");
    *(bool *)place = json_is_true(value);
    return true;
}

static bool read_opposite(const struct reading *reading, const json_t *value, void *place)
{
    if (!read_flag(reading, value, place))
        return false;
    *(bool *)place = !*(bool *)place;
    return true;
}

/* Of a variable, or of a member of a request. */
static bool read_name(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = line_of(reading, value);
    if (!line)
        return false;
    size_t length = 0;
    while (line[length] == '_' || isalpha((unsigned char)line[length]) ||
           (length && isdigit((unsigned char)line[length])))
        length++;
    if (line[length])
        return refuse(reading, "it must be a name of A-Z a-z 0-9 _");
    return keep(reading, place, line, "");
}

/* With what --base-url would make of it; a password has its place in a header. */
static bool read_base_url(const struct reading *reading, const json_t *value, void *place)
{
    struct text url = TEXT_INIT;
    const char *line = line_of(reading, value);
    bool ok = line && profile_base_url(reading->profile, line, &url, reading->error);
    const char *host = ok ? strstr(url.data, "://") + 3 : "";
    if (memchr(host, '@', strcspn(host, "/")))
        ok = refuse(reading, "it holds a user name; a key comes from \"key_env\", \"key_file\" or "
                             "\"key_command\", or goes into \"headers\"");
    ok = ok && keep(reading, place, text_cstr(&url), "");
    text_release(&url);
    return ok;
}

static bool read_path(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = line_of(reading, value);
    if (!line)
        return false;
    if (*line != '/' || line[strcspn(line, " #?")])
        return refuse(reading, "it must begin with '/' and hold no space, '#' and '?'; what stands "
                               "behind '?' goes into \"query\"");
    return keep(reading, place, line, "");
}

/* ---- headers and queries ---- */

static bool is_header_name(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) ||
           (name[length] && strchr("!#$%&'*+-.^_`|~", name[length])))
        length++;
    return length && !name[length];
}

/* "api-key", or "Authorization: Bearer". */
static bool read_key_header(const struct reading *reading, const json_t *value, void *place)
{
    char name[64];
    const char *line = line_of(reading, value);
    if (!line)
        return false;
    size_t length = strcspn(line, ":");
    if (length >= sizeof(name))
        return refuse(reading, "it is too long");
    memcpy(name, line, length);
    name[length] = '\0';
    if (!is_header_name(name))
        return refuse(reading,
                      "it must be the name of a header, such as \"api-key\", or a name and "
                      "what stands before the key: \"Authorization: Bearer\"");
    const char *scheme = line[length] ? line + length + 1 : "";
    scheme += strspn(scheme, " ");
    struct text whole = TEXT_INIT;
    text_printf(&whole, "%s: %s%s", name, scheme, *scheme ? " " : "");
    bool ok = whole.failed ? error_memory(reading->error) : keep(reading, place, whole.data, "");
    text_release(&whole);
    return ok;
}

/* What libcurl and the format say themselves. */
static bool is_own_header(const char *name)
{
    static const char *const names[] = {"Accept",           "Accept-Encoding", "Connection",
                                        "Content-Length",   "Content-Type",    "Expect",
                                        "Transfer-Encoding"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_source(const json_t *value)
{
    static const char *const known[] = {"env", "file", "command", NULL};
    const char *name;
    const json_t *source;
    if (json_object_size(value) != 1 || json_unknown_member(value, known))
        return false;
    json_object_foreach ((json_t *)(uintptr_t)value, name, source)
        if (!json_string_length(source))
            return false;
    return true;
}

static bool read_pair(const struct reading *reading, struct profile_pair *pair, const char *name,
                      const json_t *value)
{
    if (json_is_object(value)) {
        pair->from = value;
        if (!is_source(value))
            return refuse(reading, "it must be a text, or an object with one of \"env\", \"file\" "
                                   "and \"command\"");
    } else if (!read_text(reading, value, &pair->value)) {
        return false;
    }
    return keep(reading, &pair->name, name, "");
}

static bool read_pairs(const struct reading *reading, const json_t *value, void *place)
{
    const char *name;
    json_t *one;
    size_t count = 0;
    if (!json_is_object(value))
        return refuse(reading, "it must be an object");
    struct profile_pair *pairs =
        arena_alloc(reading->memory, (json_object_size(value) + 1) * sizeof(*pairs));
    if (!pairs)
        return error_memory(reading->error);
    json_object_foreach ((json_t *)(uintptr_t)value, name, one)
        if (!read_pair(reading, &pairs[count++], name, one)) {
            error_prefix(reading->error, "'%.80s'", name);
            return false;
        }
    *(const struct profile_pair **)place = pairs;
    return true;
}

static bool read_headers(const struct reading *reading, const json_t *value, void *place)
{
    const struct profile_pair **pairs = place;
    if (!read_pairs(reading, value, place))
        return false;
    for (const struct profile_pair *pair = *pairs; pair->name; pair++) {
        if (!is_header_name(pair->name))
            return error_set(reading->error, ERROR_CONFIG, "'%.80s' is not the name of a header",
                             pair->name);
        if (is_own_header(pair->name))
            return error_set(reading->error, ERROR_CONFIG, "'%s' is sent as the format wants it",
                             pair->name);
    }
    return true;
}

/* ---- lists ---- */

/* The texts of an array with those of `more` behind them. */
static bool read_list(const struct reading *reading, const json_t *value, const char *const *more,
                      const char *const **place)
{
    size_t count = 0;
    size_t i;
    json_t *one;
    while (more && more[count])
        count++;
    if (!json_is_array(value))
        return refuse(reading, "it must be a list");
    const char **list =
        arena_alloc(reading->memory, (json_array_size(value) + count + 1) * sizeof(*list));
    if (!list)
        return error_memory(reading->error);
    json_array_foreach (value, i, one)
        if (!read_text(reading, one, &list[i]))
            return false;
    if (count)
        memcpy(list + json_array_size(value), more, count * sizeof(*list));
    *place = list;
    return true;
}

/* Some formats have no place at all for a setting. */
static bool read_unsupported(const struct reading *reading, const json_t *value, void *place)
{
    static const char *const settings[] = {"max_tokens", "temperature", "top_p", "top_k",
                                           "stop",       "reasoning",   NULL};
    const struct wire *wire = reading->profile->wire;
    const char *const **list = place;
    if (!read_list(reading, value, wire == &wire_openai_chat ? NULL : wire->unsupported, list))
        return false;
    for (size_t i = 0; (*list)[i]; i++) {
        size_t known = 0;
        while (settings[known] && strcmp(settings[known], (*list)[i]) != 0)
            known++;
        if (!settings[known])
            return refuse_word(reading, (*list)[i], settings);
    }
    return true;
}

/* true, false, or patterns of the models that take them. */
static bool read_images(const struct reading *reading, const json_t *value, void *place)
{
    static const char *const every[] = {"*", NULL};
    struct profile *profile = reading->profile;
    (void)place;
    if (json_is_array(value))
        return read_list(reading, value, NULL, &profile->seeing);
    if (!json_is_boolean(value))
        return refuse(reading,
                      "it must be true, false, or a list of models, such as [\"gpt-4o*\"]");
    profile->seeing = json_is_true(value) ? every : NULL;
    if (json_is_false(value))
        profile->takes = profile->takes_if_told = 0;
    return true;
}

static bool read_schemas(const struct reading *reading, const json_t *value, void *place)
{
    static const char *const forms[] = {"full", "reduced", NULL};
    const char *word = line_of(reading, value);
    *(bool *)place = word && strcmp(word, "reduced") == 0;
    return word &&
           (*(bool *)place || strcmp(word, "full") == 0 || refuse_word(reading, word, forms));
}

/* Read by key_from_config() when a client is made. */
static bool read_key_source(const struct reading *reading, const json_t *value, void *place)
{
    (void)place;
    return line_of(reading, value) != NULL;
}

/* ---- where it starts from ---- */

static bool start_like(const struct reading *reading, const json_t *value)
{
    const char *names[64];
    size_t count = 0;
    const char *name = line_of(reading, value);
    const struct profile *like = name ? profile_find(name, strlen(name)) : NULL;
    for (size_t i = 0; profile_at(i) && count + 1 < sizeof(names) / sizeof(names[0]); i++)
        if (profile_at(i)->wire)
            names[count++] = profile_at(i)->name;
    names[count] = NULL;
    if (!like || !like->wire)
        return name && refuse_word(reading, name, names);
    const char *own = reading->profile->name;
    *reading->profile = *like;
    reading->profile->name = own;
    reading->profile->like = like->name;
    return keep(reading, &reading->profile->summary, "like ", like->name);
}

static bool start_from_format(const struct reading *reading, const json_t *value)
{
    /* Servers of the formats: what one takes beside text, others may. */
    static const char *const models[] = {"compatible", "openai-responses", "anthropic", "gemini"};
    const char *names[] = {NULL, NULL, NULL, NULL, NULL};
    const char *name = line_of(reading, value);
    for (size_t i = 0; name && i < sizeof(models) / sizeof(models[0]); i++) {
        const struct profile *model = profile_find(models[i], strlen(models[i]));
        names[i] = model->wire->name;
        if (strcmp(names[i], name) != 0)
            continue;
        reading->profile->wire = model->wire;
        reading->profile->takes = model->takes;
        reading->profile->takes_if_told = model->takes_if_told;
        return keep(reading, &reading->profile->summary, "speaks ", name);
    }
    return name && refuse_word(reading, name, names);
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
        return refuse(reading, "it needs one of \"like\": \"PROVIDER\", which it starts from, and "
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
    bool (*read)(const struct reading *reading, const json_t *value, void *place);
    size_t at;
    bool is_of_chat; /* of the format openai-chat alone */
} keys[] = {
    {"like", NULL, 0, false},
    {"format", NULL, 0, false},
    {"summary", read_text, AT(summary), false},
    {"base_url", read_base_url, AT(base_url), false},
    {"base_url_env", read_name, AT(base_url_env), false},
    {"path", read_path, AT(path), false},
    {"query", read_pairs, AT(query), false},
    {"headers", read_headers, AT(headers), false},
    {"key_env", read_name, AT(key_env), false},
    {"key_file", read_key_source, 0, false},
    {"key_command", read_key_source, 0, false},
    {"key_header", read_key_header, AT(key_header), false},
    {"default_model", read_text, AT(default_model), false},
    {"images", read_images, 0, false},
    {"schemas", read_schemas, AT(reduced_schemas), false},
    {"unsupported", read_unsupported, AT(unsupported), false},
    {"strict_ids", read_flag, AT(strict_ids), false},
    {"max_tokens_field", read_name, AT(max_tokens_field), true},
    {"reasoning_field", read_name, AT(reasoning_field), true},
    {"cache_key", read_flag, AT(takes_cache_key), true},
    {"stream_options", read_opposite, AT(no_stream_options), true},
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
                  ? refuse(reading, "only the format openai-chat has it")
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
        return refuse(reading, "it needs one of \"key_env\", \"key_file\" and \"key_command\", not "
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

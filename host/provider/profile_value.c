#include "provider/profile_value.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/suggest.h"

bool profile_refuse(const struct reading *reading, const char *what)
{
    return error_set(reading->error, ERROR_CONFIG, "%s", what);
}

/* The name among `names` that was probably meant is told. */
bool profile_refuse_word(const struct reading *reading, const char *word, const char *const *names)
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
bool profile_keep(const struct reading *reading, const char **place, const char *text,
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
const char *profile_line(const struct reading *reading, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (!text || !length) {
        profile_refuse(reading, "it must be a text");
        return NULL;
    }
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) {
            profile_refuse(reading, "it holds a line break or another control character");
            return NULL;
        }
    return text;
}

bool profile_read_text(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = profile_line(reading, value);
    return line && profile_keep(reading, place, line, "");
}

bool profile_read_flag(const struct reading *reading, const json_t *value, void *place)
{
    if (!json_is_boolean(value))
        return profile_refuse(reading, "it must be true or false");
    *(bool *)place = json_is_true(value);
    return true;
}

bool profile_read_opposite(const struct reading *reading, const json_t *value, void *place)
{
    if (!profile_read_flag(reading, value, place))
        return false;
    *(bool *)place = !*(bool *)place;
    return true;
}

/* Of a variable, or of a member of a request. */
bool profile_read_name(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = profile_line(reading, value);
    if (!line)
        return false;
    size_t length = 0;
    while (line[length] == '_' || isalpha((unsigned char)line[length]) ||
           (length && isdigit((unsigned char)line[length])))
        length++;
    if (line[length])
        return profile_refuse(reading, "it must be a name of A-Z a-z 0-9 _");
    return profile_keep(reading, place, line, "");
}

/* With what --base-url would make of it; a password has its place in a header. */
bool profile_read_base_url(const struct reading *reading, const json_t *value, void *place)
{
    struct text url = TEXT_INIT;
    const char *line = profile_line(reading, value);
    bool ok = line && profile_base_url(reading->profile, line, &url, reading->error);
    const char *host = ok ? strstr(url.data, "://") + 3 : "";
    if (memchr(host, '@', strcspn(host, "/")))
        ok = profile_refuse(reading,
                            "it holds a user name; a key comes from \"key_env\", \"key_file\" or "
                            "\"key_command\", or goes into \"headers\"");
    ok = ok && profile_keep(reading, place, text_cstr(&url), "");
    text_release(&url);
    return ok;
}

bool profile_read_path(const struct reading *reading, const json_t *value, void *place)
{
    const char *line = profile_line(reading, value);
    if (!line)
        return false;
    if (*line != '/' || line[strcspn(line, " #?")])
        return profile_refuse(reading,
                              "it must begin with '/' and hold no space, '#' and '?'; what stands "
                              "behind '?' goes into \"query\"");
    return profile_keep(reading, place, line, "");
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
bool profile_read_key_header(const struct reading *reading, const json_t *value, void *place)
{
    char name[64];
    const char *line = profile_line(reading, value);
    if (!line)
        return false;
    size_t length = strcspn(line, ":");
    if (length >= sizeof(name))
        return profile_refuse(reading, "it is too long");
    memcpy(name, line, length);
    name[length] = '\0';
    if (!is_header_name(name))
        return profile_refuse(reading,
                              "it must be the name of a header, such as \"api-key\", or a name and "
                              "what stands before the key: \"Authorization: Bearer\"");
    const char *scheme = line[length] ? line + length + 1 : "";
    scheme += strspn(scheme, " ");
    struct text whole = TEXT_INIT;
    text_printf(&whole, "%s: %s%s", name, scheme, *scheme ? " " : "");
    bool ok =
        whole.failed ? error_memory(reading->error) : profile_keep(reading, place, whole.data, "");
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
            return profile_refuse(reading,
                                  "it must be a text, or an object with one of \"env\", \"file\" "
                                  "and \"command\"");
    } else if (!profile_read_text(reading, value, &pair->value)) {
        return false;
    }
    return profile_keep(reading, &pair->name, name, "");
}

bool profile_read_pairs(const struct reading *reading, const json_t *value, void *place)
{
    const char *name;
    json_t *one;
    size_t count = 0;
    if (!json_is_object(value))
        return profile_refuse(reading, "it must be an object");
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

bool profile_read_headers(const struct reading *reading, const json_t *value, void *place)
{
    const struct profile_pair **pairs = place;
    if (!profile_read_pairs(reading, value, place))
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
        return profile_refuse(reading, "it must be a list");
    const char **list =
        arena_alloc(reading->memory, (json_array_size(value) + count + 1) * sizeof(*list));
    if (!list)
        return error_memory(reading->error);
    json_array_foreach (value, i, one)
        if (!profile_read_text(reading, one, &list[i]))
            return false;
    if (count)
        memcpy(list + json_array_size(value), more, count * sizeof(*list));
    *place = list;
    return true;
}

/* Some formats have no place at all for a setting. */
bool profile_read_unsupported(const struct reading *reading, const json_t *value, void *place)
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
            return profile_refuse_word(reading, (*list)[i], settings);
    }
    return true;
}

/* true, false, or patterns of the models that take them. */
bool profile_read_images(const struct reading *reading, const json_t *value, void *place)
{
    static const char *const every[] = {"*", NULL};
    struct profile *profile = reading->profile;
    (void)place;
    if (json_is_array(value))
        return read_list(reading, value, NULL, &profile->seeing);
    if (!json_is_boolean(value))
        return profile_refuse(reading,
                              "it must be true, false, or a list of models, such as [\"gpt-4o*\"]");
    profile->seeing = json_is_true(value) ? every : NULL;
    if (json_is_false(value))
        profile->takes = profile->takes_if_told = 0;
    return true;
}

bool profile_read_schemas(const struct reading *reading, const json_t *value, void *place)
{
    static const char *const forms[] = {"full", "reduced", NULL};
    const char *word = profile_line(reading, value);
    *(bool *)place = word && strcmp(word, "reduced") == 0;
    return word && (*(bool *)place || strcmp(word, "full") == 0 ||
                    profile_refuse_word(reading, word, forms));
}

/* Read by key_from_config() when a client is made. */
bool profile_read_key_source(const struct reading *reading, const json_t *value, void *place)
{
    (void)place;
    return profile_line(reading, value) != NULL;
}

#include "command/mcp_entry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"

enum { NAME_MAX_BYTES = 100, DAY_S = 86400 };

static bool is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

static bool is_text(const char *text)
{
    return utf8_valid(text, strlen(text)) == strlen(text);
}

bool mcp_entry_name(const char *name, struct error *error)
{
    bool is_good = *name && strlen(name) <= NAME_MAX_BYTES && is_text(name);
    for (const char *p = name; *p; p++)
        is_good = is_good && !iscntrl((unsigned char)*p);
    return is_good || error_set(error, ERROR_USAGE,
                                "'%.100s' cannot be the name of a server: it is 1 to %d bytes of "
                                "one line",
                                name, NAME_MAX_BYTES);
}

/* ---- from the command line ---- */

static bool set(json_t *object, const char *key, json_t *value, struct error *error)
{
    return json_object_set_new(object, key, value) == 0 || error_memory(error);
}

static bool set_text(json_t *object, const char *key, const char *text, struct error *error)
{
    if (!is_text(text))
        return error_set(error, ERROR_USAGE, "what is given for \"%s\" is no UTF-8", key);
    return set(object, key, json_string(text), error);
}

/* Relative words mean something else where the server is started. */
static char *absolute(const char *path)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    struct text out = TEXT_INIT;
    while (here && path[0] == '.' && (path[1] == '/' || !path[1]))
        path += path[1] ? 2 : 1;
    if (here)
        text_printf(&out, "%s%s", here, *path ? "/" : "");
    text_puts(&out, path);
    free(here);
    return text_take(&out, NULL);
}

static bool set_path(json_t *entry, const char *key, const char *path, struct error *error)
{
    char *whole = absolute(path);
    bool ok = whole ? set_text(entry, key, whole, error) : error_memory(error);
    free(whole);
    return ok;
}

static bool set_command(json_t *entry, int count, char **words, struct error *error)
{
    json_t *args = json_array();
    bool is_path = strchr(words[0], '/') && !strchr(words[0], '$');
    bool ok = is_path ? set_path(entry, "command", words[0], error)
                      : set_text(entry, "command", words[0], error);
    for (int i = 1; ok && i < count; i++)
        if (json_array_append_new(args, json_string(words[i])) != 0)
            ok = is_text(words[i])
                     ? error_memory(error)
                     : error_set(error, ERROR_USAGE, "word %d of the command is no UTF-8", i + 1);
    if (ok && count > 1)
        return set(entry, "args", args, error);
    json_decref(args);
    return ok;
}

/* The texts of an option, "NAME=VALUE" or "NAME: VALUE", as an object. */
static bool set_pairs(json_t *entry, const char *key, const struct settings *settings,
                      enum setting_id id, char between, struct error *error)
{
    size_t count;
    char *const *items = settings_list(settings, id, &count);
    json_t *object = count ? json_object() : NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        size_t length = strcspn(items[i], between == '=' ? "=" : ":");
        const char *value = items[i] + length;
        char *name = strndup(items[i], length);
        if (!name)
            ok = error_memory(error);
        else if (!*value || length == 0) /* what was given may be a secret */
            ok = error_set(error, ERROR_USAGE, "option '--%s' must be like --%s '%s'",
                           setting_definitions[id].name, setting_definitions[id].name,
                           setting_definitions[id].metavariable);
        else
            ok = set_text(object, name, value + 1 + (between == ':' ? strspn(value + 1, " \t") : 0),
                          error);
        free(name);
    }
    if (ok && count)
        return set(entry, key, object, error);
    json_decref(object);
    return ok;
}

static bool refuse_options(const struct settings *settings, const enum setting_id *ids,
                           const char *what, struct error *error)
{
    for (; *ids != SETTING_ID_COUNT; ids++)
        if (settings->values[*ids].count)
            return error_set(error, ERROR_USAGE, "option '--%s' is for %s",
                             setting_definitions[*ids].name, what);
    return true;
}

static bool set_timeout(json_t *entry, const struct settings *settings, struct error *error)
{
    if (settings->values[SETTING_TIMEOUT].source != SOURCE_OPTION)
        return true;
    double seconds = settings_number(settings, SETTING_TIMEOUT, 0);
    if (!(seconds >= 0.001 && seconds <= DAY_S))
        return error_set(error, ERROR_USAGE,
                         "option '--timeout' must be more than 0 and at most %d seconds for a "
                         "server",
                         DAY_S);
    return set(entry, "timeout", json_integer((json_int_t)(seconds * 1000)), error);
}

static bool fill(json_t *entry, const struct settings *settings, int count, char **words,
                 struct error *error)
{
    static const enum setting_id of_process[] = {SETTING_ENV, SETTING_CWD, SETTING_ID_COUNT};
    static const enum setting_id of_http[] = {SETTING_HEADER, SETTING_ID_COUNT};
    const char *folder = settings_text(settings, SETTING_CWD);
    if (is_url(words[0])) {
        if (count > 1)
            return error_set(error, ERROR_USAGE, "nothing can stand behind the URL of a server");
        return refuse_options(settings, of_process, "servers that are started", error) &&
               set_text(entry, "type", "http", error) && set_text(entry, "url", words[0], error) &&
               set_pairs(entry, "headers", settings, SETTING_HEADER, ':', error);
    }
    return refuse_options(settings, of_http, "servers with a URL", error) &&
           set_command(entry, count, words, error) &&
           set_pairs(entry, "env", settings, SETTING_ENV, '=', error) &&
           (!folder || set_path(entry, "cwd", folder, error));
}

json_t *mcp_entry_new(const struct settings *settings, int count, char **words, struct error *error)
{
    json_t *entry = json_object();
    if (!entry)
        error_memory(error);
    else if (fill(entry, settings, count, words, error) && set_timeout(entry, settings, error))
        return entry;
    json_decref(entry);
    return NULL;
}

/* ---- from another client ---- */

static bool is_variable(const char *name, size_t length)
{
    static const char *const theirs[] = {"workspaceFolder", "workspaceFolderBasename", "userHome",
                                         "pathSeparator"};
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
        if (strlen(theirs[i]) == length && memcmp(theirs[i], name, length) == 0)
            return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0;
}

/* ${NAME}, ${NAME:-fallback} and ${env:NAME} mean something here; other clients have more. */
static bool text_fits(const char *text, struct error *error)
{
    for (const char *at = text; (at = strstr(at, "${")); at += 2) {
        const char *name = at + 2;
        size_t whole = strcspn(at, "}");
        name += strncmp(name, "env:", 4) == 0 ? 4 : 0;
        name += strncmp(name, "//", 2) == 0 ? 2 : 0;
        size_t length = strcspn(name, ":}");
        if (!is_variable(name, length) || (name[length] == ':' && name[length + 1] != '-'))
            return error_set(error, ERROR_CONFIG,
                             "'%.*s%s' in it means something only to the client that it is from",
                             (int)(whole < 60 ? whole : 60), at, at[whole] ? "}" : "");
    }
    return true;
}

static bool texts_fit(const json_t *value, struct error *error)
{
    const char *key;
    size_t i;
    json_t *member;
    bool fits = true;
    if (json_is_string(value))
        return text_fits(json_string_value(value), error);
    if (json_is_object(value)) /* jansson's own text asks for what it could change */
        json_object_foreach ((json_t *)(uintptr_t)value, key, member)
            fits = fits && texts_fit(member, error);
    json_array_foreach (value, i, member)
        fits = fits && texts_fit(member, error);
    return fits;
}

bool mcp_entry_fits(const json_t *entry, struct error *error)
{
    const char *type = json_member_string(entry, "type");
    if (!json_is_object(entry))
        return error_set(error, ERROR_CONFIG, "it is no object");
    if (!json_object_get(entry, "command") && !json_object_get(entry, "url"))
        return error_set(error, ERROR_CONFIG, "it has neither a \"command\" nor a \"url\"");
    if (type && (strcmp(type, "sse") == 0 || strcmp(type, "ws") == 0))
        return error_set(error, ERROR_CONFIG,
                         "its type '%s' is not spoken here; give its address of Streamable HTTP to "
                         "`mortise mcp add`",
                         type);
    return texts_fit(entry, error);
}

/* ---- for people ---- */

bool mcp_entry_is_http(const json_t *entry)
{
    return !json_object_get(entry, "command");
}

bool mcp_entry_is_disabled(const json_t *entry)
{
    return json_is_true(json_object_get(entry, "disabled")) ||
           json_is_false(json_object_get(entry, "enabled"));
}

static void put_url(const char *url, struct text *out)
{
    const char *rest = strstr(url, "://");
    rest = rest ? rest + 3 : url;
    size_t authority = strcspn(rest, "/?#");
    const char *at = memrchr(rest, '@', authority);
    text_append(out, url, (size_t)(rest - url));
    rest = at ? at + 1 : rest;
    size_t shown = strcspn(rest, "?#");
    text_append(out, rest, shown);
    text_puts(out, rest[shown] ? "?..." : "");
}

static void put_words(const json_t *words, struct text *out)
{
    size_t i;
    const json_t *word;
    json_array_foreach (words, i, word) {
        if (out->length)
            text_putc(out, ' ');
        text_puts(out, json_is_string(word) ? json_string_value(word) : "?");
    }
}

void mcp_entry_target(const json_t *entry, struct text *out)
{
    const char *url = json_member_string(entry, "url");
    const char *command = json_member_string(entry, "command");
    if (mcp_entry_is_http(entry)) {
        put_url(url ? url : "?", out);
        return;
    }
    if (command)
        text_puts(out, command);
    else
        put_words(json_object_get(entry, "command"), out);
    put_words(json_object_get(entry, "args"), out);
}

static void put_name(const char *name, size_t length, bool as_json, struct text *out)
{
    if (as_json) {
        if (out->length && out->data[out->length - 1] != '[') /* it may have failed */
            text_putc(out, ',');
        text_json_string(out, name, length);
    } else {
        text_puts(out, out->length ? ", " : "");
        text_append(out, name, length);
    }
}

void mcp_entry_names(const json_t *entry, bool as_json, struct text *out)
{
    json_t *pairs = json_object_get(entry, mcp_entry_is_http(entry) ? "headers" : "env");
    const char *key;
    json_t *value;
    size_t i;
    if (!pairs && !mcp_entry_is_http(entry))
        pairs = json_object_get(entry, "environment");
    if (as_json)
        text_putc(out, '[');
    if (json_is_object(pairs))
        json_object_foreach (pairs, key, value)
            put_name(key, strlen(key), as_json, out);
    json_array_foreach (pairs, i, value) /* "Name: value" */
        if (json_is_string(value))
            put_name(json_string_value(value), strcspn(json_string_value(value), ":="), as_json,
                     out);
    if (as_json)
        text_putc(out, ']');
}

#include "config_entry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mortise/json.h>

#include "config_key.h"
#include "expand.h"

enum { LIST_MAX = 1000 };

struct reader {
    const char *json;
    struct server_config *config;
    char *problem;
    size_t size;
    bool no_memory;
};

__attribute__((format(printf, 2, 3))) static bool bad(struct reader *reader, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->problem, reader->size, format, args);
    va_end(args);
    return false;
}

static bool no_memory(struct reader *reader)
{
    reader->no_memory = true;
    return bad(reader, "out of memory");
}

/* ---- texts ---- */

/* A text with its variables expanded; `what` is for people. */
static bool take_text(struct reader *reader, const char *json, const char *key, const char *what,
                      char **out)
{
    char *raw = NULL, reason[512];
    mortise_status status = mortise_json_copy(json, key, &raw);
    if (status == MORTISE_NOT_FOUND)
        return true;
    if (status == MORTISE_NO_MEMORY)
        return no_memory(reader);
    if (status != MORTISE_OK)
        return bad(reader, "%s must be a string", what);
    free(*out);
    *out = expand(raw, reason, sizeof(reason));
    free(raw);
    return *out || bad(reader, "%s: %s", what, reason);
}

static size_t count_items(const char *list)
{
    const char *item = NULL;
    size_t count = 0;
    while (mortise_json_next(list, &item) == MORTISE_OK)
        count++;
    return count;
}

/* Puts the texts of a list behind the `used` ones that are there. */
static bool take_texts(struct reader *reader, const char *list, const char *what, char ***out,
                       size_t used)
{
    const char *item = NULL;
    size_t count = count_items(list);
    if (count > LIST_MAX)
        return bad(reader, "%s has more than %d items", what, LIST_MAX);
    char **texts = realloc(*out, (used + count + 1) * sizeof(*texts));
    if (!texts)
        return no_memory(reader);
    *out = texts;
    memset(texts + used, 0, (count + 1) * sizeof(*texts));
    while (mortise_json_next(list, &item) == MORTISE_OK) {
        if (!take_text(reader, item, NULL, what, &texts[used]))
            return false;
        if (!texts[used++])
            return bad(reader, "%s must be a list of strings", what);
    }
    return true;
}

/* ---- a process ---- */

static bool read_command(struct reader *reader)
{
    struct server_config *config = reader->config;
    const char *list;
    size_t used = 0;
    if (mortise_json_array(reader->json, "command", &list) == MORTISE_OK) {
        if (!take_texts(reader, list, "\"command\"", &config->command, 0))
            return false;
        while (config->command[used])
            used++;
    } else {
        config->command = calloc(2, sizeof(*config->command));
        if (!config->command)
            return no_memory(reader);
        if (!take_text(reader, reader->json, "command", "\"command\"", &config->command[0]))
            return false;
        used = config->command[0] != NULL;
    }
    if (used == 0 || !config->command[0][0])
        return bad(reader, "\"command\" is empty");
    mortise_status status = mortise_json_array(reader->json, "args", &list);
    if (status == MORTISE_INVALID)
        return bad(reader, "\"args\" must be a list of strings");
    return status != MORTISE_OK || take_texts(reader, list, "\"args\"", &config->command, used);
}

static bool read_variable(struct reader *reader, const char *name, const char *json, char **out)
{
    char *value = NULL, what[200];
    snprintf(what, sizeof(what), "\"env\": '%.100s'", name);
    if (!name[0] || strchr(name, '='))
        return bad(reader, "%s is no name of a variable", what);
    if (!take_text(reader, json, NULL, what, &value))
        return false;
    if (!value)
        return bad(reader, "%s must be a string", what);
    size_t size = strlen(name) + strlen(value) + 2;
    *out = malloc(size);
    if (*out)
        snprintf(*out, size, "%s=%s", name, value);
    free(value);
    return *out || no_memory(reader);
}

static size_t count_members(const char *object)
{
    const char *value = NULL;
    char name[2];
    size_t count = 0;
    while (mortise_json_next_member(object, &value, name, sizeof(name)) == MORTISE_OK)
        count++;
    return count;
}

static bool read_environment(struct reader *reader)
{
    const char *object = NULL, *value = NULL;
    char name[256];
    mortise_status status = mortise_json_object(reader->json, "env", &object);
    if (status == MORTISE_NOT_FOUND)
        status = mortise_json_object(reader->json, "environment", &object);
    if (status == MORTISE_INVALID)
        return bad(reader, "\"env\" must be an object of strings");
    size_t count = object ? count_members(object) : 0, used = 0;
    if (count > LIST_MAX)
        return bad(reader, "\"env\" has more than %d variables", LIST_MAX);
    char **environment = calloc(count + 1, sizeof(*environment));
    reader->config->environment = environment;
    if (!environment)
        return no_memory(reader);
    while (object && mortise_json_next_member(object, &value, name, sizeof(name)) == MORTISE_OK)
        if (!read_variable(reader, name, value, &environment[used++]))
            return false;
    return true;
}

/* ---- HTTP ---- */

/* What the head of a request can have in it. */
static bool is_header(const char *name, const char *value)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    if (!*name)
        return false;
    for (; *name; name++)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
              (*name >= '0' && *name <= '9') || strchr(others, *name)))
            return false;
    for (; *value; value++)
        if ((unsigned char)*value < 0x20 && *value != '\t')
            return false;
    return true;
}

/* Takes both, whatever comes of it. */
static bool put_header(struct reader *reader, char *name, char *value)
{
    struct server_config *config = reader->config;
    mortise_http_header *headers =
        realloc(config->headers, (config->header_count + 1) * sizeof(*headers));
    if (headers)
        config->headers = headers;
    bool is_good = headers && is_header(name, value);
    if (is_good)
        headers[config->header_count++] = (mortise_http_header){.name = name, .value = value};
    else if (!headers)
        no_memory(reader);
    else
        bad(reader, "\"headers\": '%.100s' cannot be in the head of a request", name);
    if (!is_good) {
        free(name);
        free(value);
    }
    return is_good;
}

/* Of "Name: value". */
static bool split_header(struct reader *reader, char *line)
{
    size_t length = strcspn(line, ":");
    const char *value = line + length;
    value += *value == ':';
    value += strspn(value, " \t");
    char *first = strndup(line, length), *second = strdup(value);
    bool has_colon = line[length] == ':';
    free(line);
    if (first && second && has_colon)
        return put_header(reader, first, second);
    free(first);
    free(second);
    return first && second ? bad(reader, "\"headers\": each must be like \"Name: value\"")
                           : no_memory(reader);
}

static bool read_header_list(struct reader *reader, const char *list)
{
    const char *item = NULL;
    if (count_items(list) > LIST_MAX)
        return bad(reader, "\"headers\" has more than %d items", LIST_MAX);
    while (mortise_json_next(list, &item) == MORTISE_OK) {
        char *line = NULL;
        if (!take_text(reader, item, NULL, "\"headers\"", &line))
            return false;
        if (!line)
            return bad(reader, "\"headers\" must have strings");
        if (!split_header(reader, line))
            return false;
    }
    return true;
}

static bool read_headers(struct reader *reader)
{
    const char *headers, *value = NULL;
    char name[256];
    if (mortise_json_array(reader->json, "headers", &headers) == MORTISE_OK)
        return read_header_list(reader, headers);
    mortise_status status = mortise_json_object(reader->json, "headers", &headers);
    if (status == MORTISE_NOT_FOUND)
        return true;
    if (status != MORTISE_OK || count_members(headers) > LIST_MAX)
        return bad(reader,
                   "\"headers\" must be an object of strings, or a list of \"Name: value\"");
    while (mortise_json_next_member(headers, &value, name, sizeof(name)) == MORTISE_OK) {
        char *text = NULL;
        if (!take_text(reader, value, NULL, "\"headers\"", &text))
            return false;
        char *copy = text ? strdup(name) : NULL;
        if (!copy) {
            bool was_text = text != NULL;
            free(text);
            return was_text ? no_memory(reader) : bad(reader, "\"headers\" must have strings");
        }
        if (!put_header(reader, copy, text))
            return false;
    }
    return true;
}

static bool read_url(struct reader *reader)
{
    if (!take_text(reader, reader->json, "url", "\"url\"", &reader->config->url))
        return false;
    const char *url = reader->config->url ? reader->config->url : "";
    if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
        return bad(reader, "\"url\" must begin with http:// or https://");
    return true;
}

/* ---- which of the two ---- */

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

static bool read_type(struct reader *reader)
{
    static const char *const process[] = {"stdio", "local", NULL};
    static const char *const http[] = {
        "http", "streamable-http", "streamableHttp", "streamable_http", "remote", NULL};
    static const char *const earlier[] = {"sse", "ws", "websocket", NULL};
    const char *ignored;
    bool has_command = mortise_json_value(reader->json, "command", &ignored) == MORTISE_OK;
    bool has_url = mortise_json_value(reader->json, "url", &ignored) == MORTISE_OK;
    char type[32] = "";
    mortise_status status = mortise_json_string(reader->json, "type", type, sizeof(type));
    if (status == MORTISE_NOT_FOUND)
        status = mortise_json_string(reader->json, "transport", type, sizeof(type));
    if (status == MORTISE_INVALID)
        return bad(reader, "\"type\" must be \"stdio\" or \"http\"");
    if (is_one_of(type, earlier))
        return bad(reader,
                   "its type '%s' is not spoken here: use its address of Streamable HTTP, "
                   "with the type \"http\"",
                   type);
    if (type[0] && !is_one_of(type, process) && !is_one_of(type, http))
        return bad(reader, "its type '%s' is not known: it is \"stdio\" or \"http\"", type);
    if (!type[0] && has_command == has_url)
        return bad(reader, has_url ? "it has a \"command\" and a \"url\": keep one"
                                   : "it has neither a \"command\" nor a \"url\"");
    reader->config->is_http = type[0] ? is_one_of(type, http) : has_url;
    if (reader->config->is_http ? !has_url : !has_command)
        return bad(reader, "it has the type '%s', but no \"%s\"", type,
                   reader->config->is_http ? "url" : "command");
    return true;
}

/* ---- the rest ---- */

static bool read_era(struct reader *reader)
{
    static const char *const names[] = {"auto", "legacy", "modern"};
    char era[16] = "auto";
    mortise_status status = mortise_json_string(reader->json, "era", era, sizeof(era));
    if (status == MORTISE_NOT_FOUND)
        status = mortise_json_string(reader->json, "protocolEra", era, sizeof(era));
    for (int i = 0; status != MORTISE_INVALID && i < 3; i++)
        if (strcmp(era, names[i]) == 0) {
            reader->config->era = (enum era_choice)i;
            return true;
        }
    return bad(reader, "\"era\" must be \"auto\", \"legacy\" or \"modern\"");
}

/* A time in `unit_ms`, more than none and at most a day. */
static bool read_time(struct reader *reader, const char *key, int64_t unit_ms, int64_t *out)
{
    double time = 0;
    mortise_status status = mortise_json_number(reader->json, key, &time);
    if (status == MORTISE_NOT_FOUND)
        return true;
    double ms = time * (double)unit_ms;
    if (status != MORTISE_OK || ms < 1 || ms > 86400e3)
        return bad(reader, "\"%s\" must be a time of at most a day, in %s", key,
                   unit_ms == 1 ? "milliseconds" : "seconds");
    *out = (int64_t)ms;
    return true;
}

static bool read_times(struct reader *reader)
{
    struct limits *limits = &reader->config->limits;
    int64_t timeout_ms = 0, max_ms = 0;
    if (!read_time(reader, "tool_timeout_sec", 1000, &timeout_ms) ||
        !read_time(reader, "timeout", 1, &timeout_ms) ||
        !read_time(reader, "maxTimeout", 1, &max_ms) ||
        !read_time(reader, "startup_timeout_sec", 1000, &limits->connect_ms) ||
        !read_time(reader, "connectTimeout", 1, &limits->connect_ms))
        return false;
    if (timeout_ms > 0)
        limits->timeout_ms = limits->max_ms = timeout_ms;
    if (max_ms > 0)
        limits->max_ms = max_ms;
    if (limits->max_ms < limits->timeout_ms)
        limits->max_ms = limits->timeout_ms;
    return true;
}

static bool read_tool_names(struct reader *reader, const char *key, const char *other, char ***out)
{
    const char *list;
    char what[40];
    mortise_status status = mortise_json_array(reader->json, key, &list);
    if (status == MORTISE_NOT_FOUND)
        status = mortise_json_array(reader->json, other, &list);
    snprintf(what, sizeof(what), "\"%s\"", key);
    if (status == MORTISE_INVALID)
        return bad(reader, "%s must be a list of strings", what);
    return status == MORTISE_NOT_FOUND || take_texts(reader, list, what, out, 0);
}

/* A switch that is there must be one: it decides whether something is started. */
static bool read_switch(struct reader *reader, const char *key, bool *out)
{
    return mortise_json_boolean(reader->json, key, out) != MORTISE_INVALID ||
           bad(reader, "\"%s\" must be true or false", key);
}

static void list_unknown(const char *json, char *out, size_t size)
{
    static const char *const known[] = {"type",
                                        "transport",
                                        "command",
                                        "args",
                                        "env",
                                        "environment",
                                        "cwd",
                                        "url",
                                        "headers",
                                        "disabled",
                                        "enabled",
                                        "era",
                                        "protocolEra",
                                        "timeout",
                                        "maxTimeout",
                                        "connectTimeout",
                                        "tool_timeout_sec",
                                        "startup_timeout_sec",
                                        "allowedTools",
                                        "enabled_tools",
                                        "excludedTools",
                                        "disabled_tools",
                                        "name",
                                        "description",
                                        NULL};
    const char *value = NULL;
    char name[64];
    size_t used = 0;
    out[0] = '\0';
    while (mortise_json_next_member(json, &value, name, sizeof(name)) == MORTISE_OK)
        if (!is_one_of(name, known) && used < size) {
            int length = snprintf(out + used, size - used, "%s\"%s\"", used ? ", " : "", name);
            used += length > 0 ? (size_t)length : 0;
        }
}

static bool read_all(struct reader *reader)
{
    struct server_config *config = reader->config;
    bool is_good =
        read_type(reader) &&
        (config->is_http ? read_url(reader) && read_headers(reader)
                         : read_command(reader) && read_environment(reader) &&
                               take_text(reader, reader->json, "cwd", "\"cwd\"", &config->folder));
    return is_good && read_era(reader) && read_times(reader) &&
           read_tool_names(reader, "allowedTools", "enabled_tools", &config->allowed) &&
           read_tool_names(reader, "excludedTools", "disabled_tools", &config->excluded);
}

enum entry_outcome config_entry_read(const char *name, const char *json, const char *where,
                                     const struct limits *limits, struct server_config **out,
                                     char *unknown, size_t unknown_size, char *problem, size_t size)
{
    struct reader reader = {.json = json, .problem = problem, .size = size};
    bool is_disabled = false, is_enabled = true;
    const char *object;
    unknown[0] = '\0';
    if (mortise_json_object(json, NULL, &object) != MORTISE_OK) {
        bad(&reader, "it must be an object");
        return ENTRY_BAD;
    }
    if (!read_switch(&reader, "disabled", &is_disabled) ||
        !read_switch(&reader, "enabled", &is_enabled))
        return ENTRY_BAD;
    if (is_disabled || !is_enabled)
        return ENTRY_DISABLED;
    reader.config = calloc(1, sizeof(*reader.config));
    if (!reader.config)
        return ENTRY_NO_MEMORY;
    atomic_init(&reader.config->refs, 1);
    reader.config->limits = *limits;
    reader.config->name = strdup(name);
    reader.config->where = strdup(where);
    if (!reader.config->name || !reader.config->where)
        no_memory(&reader);
    if (reader.no_memory || !read_all(&reader)) {
        config_unref(reader.config);
        return reader.no_memory ? ENTRY_NO_MEMORY : ENTRY_BAD;
    }
    config_key(reader.config);
    list_unknown(json, unknown, unknown_size);
    *out = reader.config;
    return ENTRY_GOOD;
}

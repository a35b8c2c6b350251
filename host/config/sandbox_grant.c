#include "config/sandbox_grant.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum kind { LIST, SWITCH, COUNT, MIB };

static const struct {
    const char *key;
    enum kind kind;
    const char *written; /* as it is handed on, if that is another word */
} members[] = {
    {"readable", LIST, NULL},    {"writable", LIST, NULL},          {"executable", LIST, NULL},
    {"network", SWITCH, NULL},   {"links", SWITCH, NULL},           {"modes", SWITCH, NULL},
    {"processes", COUNT, NULL},  {"cpu_s", COUNT, NULL},            {"output_mb", MIB, "output_bytes"},
    {"disk_mb", MIB, "disk_bytes"}, {"files", COUNT, NULL},
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static void begin(struct text *out, size_t start, const char *key)
{
    if (out->length > start)
        text_putc(out, ',');
    text_printf(out, "\"%s\":", key);
}

/* ---- paths ---- */

static bool write_path(struct text *out, const char *path, const char *workspace)
{
    const char *home = getenv("HOME");
    struct text whole = TEXT_INIT;
    bool ok = true;
    if (strcmp(path, "workspace") == 0 && workspace)
        text_puts(&whole, workspace);
    else if (strncmp(path, "~/", 2) == 0 && home && home[0] == '/')
        text_printf(&whole, "%s%s", home, path + 1);
    else if (path[0] == '/')
        text_puts(&whole, path);
    else
        ok = false;
    text_json_string(out, text_cstr(&whole), whole.length);
    out->failed |= whole.failed;
    text_release(&whole);
    return ok;
}

static bool write_list(struct text *out, const char *key, const json_t *list, const char *workspace,
                       struct error *error)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > SANDBOX_GRANT_PATHS)
        return error_set(error, ERROR_CONFIG, "\"%s\" must be a list of at most %d paths", key,
                         SANDBOX_GRANT_PATHS);
    text_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        const char *path = json_string_value(json_array_get(list, i));
        text_puts(out, i ? "," : "");
        if (!path || !write_path(out, path, workspace))
            return error_set(error, ERROR_CONFIG,
                             "a path in \"%s\" must be absolute, or begin with \"~/\", or be the "
                             "word \"workspace\"",
                             key);
    }
    text_putc(out, ']');
    return true;
}

/* ---- the rest ---- */

static bool write_number(struct text *out, const char *key, const json_t *value, double unit,
                         struct error *error)
{
    double number = json_is_number(value) ? json_number_value(value) : -1;
    if (!(number >= 0 && number <= 1e6) || (unit == 1 && !json_is_integer(value)))
        return error_set(error, ERROR_CONFIG,
                         "\"%s\" must be a %snumber from 0 to 1000000, and 0 is no limit", key,
                         unit == 1 ? "whole " : "");
    text_printf(out, "%lld", (long long)(number * unit));
    return true;
}

static bool write_member(struct text *out, size_t i, const json_t *value, const char *workspace,
                         struct error *error)
{
    const char *key = members[i].key;
    switch (members[i].kind) {
    case LIST:
        return write_list(out, key, value, workspace, error);
    case SWITCH:
        text_puts(out, json_is_true(value) ? "true" : "false");
        return json_is_boolean(value) ||
               error_set(error, ERROR_CONFIG, "\"%s\" must be true or false", key);
    default:
        return write_number(out, key, value, members[i].kind == MIB ? 1 << 20 : 1, error);
    }
}

static bool write_all(const json_t *grants, const char *workspace, struct text *out,
                      struct error *error)
{
    const char *known[MEMBER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        known[i] = members[i].key;
    const char *unknown = json_unknown_member(grants, known);
    if (!json_is_object(grants))
        return error_set(error, ERROR_CONFIG, "it must be an object");
    if (unknown)
        return error_set(error, ERROR_CONFIG, "\"%.80s\" is not known there", unknown);
    text_putc(out, '{');
    size_t start = out->length;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const json_t *value = json_object_get(grants, members[i].key);
        if (!value)
            continue;
        begin(out, start, members[i].written ? members[i].written : members[i].key);
        if (!write_member(out, i, value, workspace, error))
            return false;
    }
    text_putc(out, '}');
    return !out->failed || error_memory(error);
}

bool sandbox_grant_write(const json_t *grants, const char *workspace, struct text *out,
                         struct error *error)
{
    if (!grants || write_all(grants, workspace, out, error))
        return true;
    if (error->kind != ERROR_INTERNAL)
        error_prefix(error, "its \"sandbox\" in the configuration");
    return false;
}

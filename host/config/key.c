#include "config/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "base/file.h"
#include "base/secret.h"

enum { MAX_KEY_BYTES = 16 << 10 };

static bool read_key_file(const char *path, struct text *out, struct error *error)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, ERROR_CONFIG, "cannot open key file '%s': %s", path,
                         strerror(errno));
    bool ok = fstat(fd, &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!ok)
        error_set(error, ERROR_CONFIG, "key file '%s' is open to others: chmod 600 it", path);
    else
        ok = file_read_fd(fd, path, MAX_KEY_BYTES, out, error);
    close(fd);
    return ok;
}

static bool run_key_command(const char *command, struct text *out, struct error *error)
{
    return command_read(command, "the key command", MAX_KEY_BYTES, out, error);
}

static bool read_variable(const char *name, struct text *out, struct error *error)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return error_set(error, ERROR_CONFIG, "the variable %s, which the configuration names, is not set",
                         name);
    text_puts(out, value);
    return true;
}

static const struct {
    const char *name;
    bool (*read)(const char *source, struct text *out, struct error *error);
    const char *before, *behind; /* the source, where it is talked of */
} sources[] = {{"file", read_key_file, "the file '", "'"},
               {"command", run_key_command, "the output of '", "'"},
               {"env", read_variable, "", ""}};

/* The first source that the object names; *named stays false when it names none. */
static bool read_source(const json_t *object, const char *prefix, bool *named, struct text *out,
                        struct error *error)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        char member[32];
        snprintf(member, sizeof(member), "%s%s", prefix, sources[i].name);
        const json_t *source = json_object_get(object, member);
        if (!source)
            continue;
        *named = true;
        if (!json_is_string(source))
            return error_set(error, ERROR_CONFIG, "'%s' must be a text", member);
        return sources[i].read(json_string_value(source), out, error);
    }
    return true;
}

static void trim_end(struct text *text)
{
    while (text->length > 0 && strchr(" \t\r\n", text->data[text->length - 1]))
        text->data[--text->length] = '\0';
}

static bool keep(struct text *text, char **key, struct error *error)
{
    trim_end(text);
    if (text->failed)
        return error_memory(error);
    if (text->length == 0)
        return error_set(error, ERROR_CONFIG, "it is empty");
    if (!secret_add(text->data, text->length))
        return error_memory(error);
    *key = text_take(text, NULL);
    return true;
}

bool key_from_object(const json_t *object, const char *prefix, char **key, struct error *error)
{
    struct text text = TEXT_INIT;
    bool named = false;
    *key = NULL;
    bool ok = read_source(object, prefix, &named, &text, error) &&
              (!named || keep(&text, key, error));
    text_wipe(&text);
    return ok;
}

bool key_from_config(const struct settings *settings, const char *provider, char **key,
                     struct error *error)
{
    if (key_from_object(settings_section(settings, "provider-config", provider), "key_", key, error))
        return true;
    error_prefix(error, "key of provider '%s'", provider);
    return false;
}

void key_describe(const struct settings *settings, const char *provider, struct text *out)
{
    const json_t *section = settings_section(settings, "provider-config", provider);
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        char member[32];
        snprintf(member, sizeof(member), "key_%s", sources[i].name);
        const char *source = json_string_value(json_object_get(section, member));
        if (!source)
            continue;
        text_printf(out, "%s%s%s", sources[i].before, source, sources[i].behind);
        return;
    }
}

#include "config/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The command is the user's own line of shell, as in git's credential helpers. */
static bool run_key_command(const char *command, struct text *out, struct error *error)
{
    FILE *pipe = popen(command, "re");
    if (!pipe)
        return error_set(error, ERROR_CONFIG, "cannot run the key command: %s", strerror(errno));
    bool ok = file_read_fd(fileno(pipe), "the key command's output", MAX_KEY_BYTES, out, error);
    int status = pclose(pipe);
    if (ok && status != 0)
        return error_set(error, ERROR_CONFIG, "the key command failed (status %d): %s",
                         WIFEXITED(status) ? WEXITSTATUS(status) : -1, command);
    return ok;
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

static bool read_source(const json_t *section, struct text *out, struct error *error)
{
    const char *file = json_string_value(json_object_get(section, "key_file"));
    const char *command = json_string_value(json_object_get(section, "key_command"));
    const char *variable = json_string_value(json_object_get(section, "key_env"));
    if (file)
        return read_key_file(file, out, error);
    if (command)
        return run_key_command(command, out, error);
    return !variable || read_variable(variable, out, error);
}

bool key_from_config(const struct settings *settings, const char *provider, char **key,
                     struct error *error)
{
    struct text text = TEXT_INIT;
    *key = NULL;
    bool ok = read_source(settings_section(settings, "provider-config", provider), &text, error);
    while (ok && text.length > 0 && strchr(" \t\r\n", text.data[text.length - 1]))
        text.data[--text.length] = '\0';
    if (ok && text.failed)
        ok = error_memory(error);
    if (ok && text.length > 0)
        ok = secret_add(text.data, text.length) || error_memory(error);
    if (ok && text.length > 0)
        *key = text_take(&text, NULL);
    text_release(&text);
    if (!ok)
        error_prefix(error, "key of provider '%s'", provider);
    return ok;
}

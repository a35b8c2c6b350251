/* doctor_settings - configuration files, variables and keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/doctor.h"
#include "command/model.h"
#include "command/server.h"
#include "config/config_file.h"
#include "config/key.h"

/* ---- files ---- */

/* It says which commands give the keys and which plugins are loaded. */
static void check_owner(struct doctor *doctor, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    if (status.st_uid != geteuid() && status.st_uid != 0)
        doctor_tell(doctor, FINDING_PROBLEM, "configuration", "make it your own",
                    "'%s' belongs to another user", path);
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        doctor_tell(doctor, FINDING_PROBLEM, "configuration", "chmod go-w ends that",
                    "'%s' can be written by others, who could have it run commands", path);
}

static void check_file(struct doctor *doctor, const char *path, enum setting_source source)
{
    struct error error;
    if (config_file_check(path, source, &error))
        doctor_tell(doctor, FINDING_OK, "configuration", NULL, "'%s' is read (%s)", path,
                    setting_source_name(source));
    else
        doctor_fail(doctor, "configuration", &error, "correct the file");
}

static void check_user_file(struct doctor *doctor)
{
    bool required = settings_text(&doctor->app->settings, SETTING_CONFIG) != NULL;
    char *path = config_file_user_path(&doctor->app->settings);
    if (!path) {
        doctor_no_memory(doctor, "configuration");
    } else if (!*path) {
        doctor_tell(doctor, FINDING_WARNING, "configuration", "set HOME or XDG_CONFIG_HOME",
                    "there is no place for a file of the user's");
    } else if (!required && access(path, F_OK) != 0 && errno == ENOENT) {
        doctor_tell(doctor, FINDING_OK, "configuration", NULL,
                    "'%s' is not there; the defaults hold", path);
    } else {
        check_file(doctor, path, SOURCE_USER);
        check_owner(doctor, path);
    }
    free(path);
}

static void check_project_file(struct doctor *doctor)
{
    char *path = config_file_project();
    if (!path)
        doctor_no_memory(doctor, "configuration");
    else if (*path)
        check_file(doctor, path, SOURCE_PROJECT);
    free(path);
}

/* ---- variables ---- */

static bool is_known(const char *option)
{
    if (strcmp(option, "plugin-path") == 0)
        return true;
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        if (strcmp(setting_definitions[id].name, option) == 0)
            return true;
    return false;
}

/* Plugins have variables of their own, so only what is nearly a setting is told. */
static void check_name(struct doctor *doctor, const char *variable)
{
    char option[64];
    char advice[128];
    size_t length = strcspn(variable, "=");
    if (length >= sizeof(option))
        return;
    for (size_t i = 0; i < length; i++)
        option[i] = variable[i] == '_'                         ? '-'
                    : variable[i] >= 'A' && variable[i] <= 'Z' ? (char)(variable[i] - 'A' + 'a')
                                                               : variable[i];
    option[length] = '\0';
    const char *near = is_known(option) ? NULL : setting_suggest(option);
    if (!near)
        return;
    snprintf(advice, sizeof(advice), "did you mean the one for '--%s'?", near);
    doctor_tell(doctor, FINDING_WARNING, "variable", advice, "MORTISE_%.*s is no setting",
                (int)length, variable);
}

static void check_variables(struct doctor *doctor)
{
    static const char start[] = "MORTISE_";
    struct settings settings;
    struct error error;
    settings_init(&settings);
    if (!settings_read_environment(&settings, &error))
        doctor_fail(doctor, "variable", &error, "correct or unset it");
    settings_release(&settings);
    for (char **variable = environ; variable && *variable; variable++)
        if (strncmp(*variable, start, sizeof(start) - 1) == 0)
            check_name(doctor, *variable + sizeof(start) - 1);
}

/* ---- keys ---- */

/* "\"key_file\": 'PATH'"; a command is not run for this. */
static bool check_configured(struct doctor *doctor, const struct profile *profile)
{
    const json_t *section =
        settings_section(&doctor->app->settings, "provider-config", profile->name);
    const char *command = json_string_value(json_object_get(section, "key_command"));
    const char *file = json_string_value(json_object_get(section, "key_file"));
    const char *variable = json_string_value(json_object_get(section, "key_env"));
    struct error error;
    char *key = NULL;
    if (!command && !file && !variable)
        return false;
    if (!file && command) {
        doctor_tell(doctor, FINDING_OK, "key", NULL,
                    "%s: a command gives it, which is run when it is needed", profile->name);
        return true;
    }
    if (key_from_config(&doctor->app->settings, profile->name, &key, &error))
        doctor_tell(doctor, FINDING_OK, "key", NULL, "%s: %s '%s' has it", profile->name,
                    file ? "the file" : "the variable", file ? file : variable);
    else
        doctor_fail(doctor, "key", &error, "correct it there");
    free(key);
    return true;
}

static bool check_key(struct doctor *doctor, const struct profile *profile)
{
    struct error error;
    const char *key, *from;
    if (check_configured(doctor, profile))
        return true;
    if (!profile_take_key(profile, NULL, &key, &from, &error)) {
        error_prefix(&error, "%s", profile->name);
        doctor_fail(doctor, "key", &error, "correct it there");
        return true;
    }
    if (key)
        doctor_tell(doctor, FINDING_OK, "key", NULL, "%s: %s is set", profile->name, from);
    return key != NULL;
}

/* Those without are one line: nobody has them all.  Where requests can be signed, no key is missed.
 */
static void check_keys(struct doctor *doctor, const struct profiles *profiles)
{
    const struct profile *profile;
    struct text without = TEXT_INIT;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++)
        if (profile->key_env && !check_key(doctor, profile) && !profile->key_is_optional &&
            !profile->aws_service)
            text_printf(&without, "%s%s (%s)", without.length ? ", " : "", profile->name,
                        profile->key_env);
    if (without.failed)
        doctor_no_memory(doctor, "key");
    else if (without.length)
        doctor_tell(doctor, FINDING_OK, "key", NULL, "not set: %s", without.data);
    text_release(&without);
}

void doctor_settings(struct doctor *doctor)
{
    struct error error;
    check_user_file(doctor);
    check_project_file(doctor);
    check_variables(doctor);
    const struct profiles *profiles = model_profiles(doctor->app, &error);
    if (!profiles)
        doctor_fail(doctor, "configuration", &error, "correct the section of the provider");
    check_keys(doctor, profiles); /* without, those that are built in */
}

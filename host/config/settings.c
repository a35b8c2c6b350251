#include "config/settings.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "config/config_file.h"
#include "config/setting_value.h"

const struct setting_definition setting_definitions[SETTING_ID_COUNT] = {
#define X(id, name, letter, metavariable, kind, project, fallback, help)                           \
    [SETTING_##id] = {name, letter, metavariable, kind, project, fallback, help},
    SETTINGS(X)
#undef X
};

const char *setting_source_name(enum setting_source source)
{
    static const char *const names[] = {
        [SOURCE_UNSET] = "unset",     [SOURCE_DEFAULT] = "default",
        [SOURCE_USER] = "user file",  [SOURCE_PROJECT] = "project file",
        [SOURCE_ENVIRONMENT] = "environment", [SOURCE_OPTION] = "option",
    };
    return names[source];
}

void settings_init(struct settings *settings)
{
    *settings = (struct settings){0};
}

void settings_release(struct settings *settings)
{
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        setting_value_clear(&settings->values[id]);
    json_decref(settings->user_file);
    settings_init(settings);
}

const char *setting_suggest(const char *name)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        suggestion_consider(&suggestion, setting_definitions[id].name);
    return suggestion.best;
}

/* ---- options ---- */

enum { OPERAND = 1, OPTION_FIRST = 256, OPTION_HELP = OPTION_FIRST + SETTING_ID_COUNT, OPTION_VERSION };

static void build_tables(struct option *longs, char *shorts)
{
    char *s = shorts;
    *s++ = '-'; /* operands come in their order, as option 1 */
    *s++ = ':'; /* a missing argument is told apart from an unknown option */
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        const struct setting_definition *d = &setting_definitions[id];
        int takes = d->metavariable ? required_argument : no_argument;
        longs[id] = (struct option){d->name, takes, NULL, OPTION_FIRST + id};
        if (d->letter) {
            *s++ = (char)d->letter;
            if (takes == required_argument)
                *s++ = ':';
        }
    }
    longs[SETTING_ID_COUNT] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    longs[SETTING_ID_COUNT + 1] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
    longs[SETTING_ID_COUNT + 2] = (struct option){0};
    *s++ = 'h';
    *s = '\0';
}

/* `option` is one that build_tables() made. */
static int id_of_option(int option)
{
    if (option >= OPTION_FIRST)
        return option - OPTION_FIRST;
    int id = 0;
    while (setting_definitions[id].letter != option)
        id++;
    return id;
}

/* getopt_long() leaves 0 in optopt for a long option that it does not know, the letter for a
 * short one, and the value of a long option that was given an argument it does not take. */
static bool refuse_option(const char *argument, struct error *error)
{
    if (optopt >= OPTION_FIRST) {
        bool takes_none = optopt == OPTION_HELP || optopt == OPTION_VERSION;
        return error_set(error, ERROR_USAGE, "option '--%s' takes no value",
                         takes_none ? optopt == OPTION_HELP ? "help" : "version"
                                    : setting_definitions[optopt - OPTION_FIRST].name);
    }
    if (optopt != 0)
        return error_set(error, ERROR_USAGE, "unknown option '-%c'; `mortise --help` lists them",
                         optopt);
    /* What stands behind "=" may be a secret. */
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
    const char *near = setting_suggest(name + strspn(name, "-"));
    if (near)
        return error_set(error, ERROR_USAGE, "unknown option '%s'; did you mean '--%s'?", name,
                         near);
    return error_set(error, ERROR_USAGE, "unknown option '%s'; `mortise --help` lists them", name);
}

bool settings_read_options(struct settings *settings, int argc, char **argv, int *operands,
                           struct error *error)
{
    struct option longs[SETTING_ID_COUNT + 3];
    char shorts[2 * SETTING_ID_COUNT + 4];
    build_tables(longs, shorts);
    opterr = 0;
    optind = 0; /* starts afresh, also for a second call in one process */
    *operands = 0;
    for (;;) {
        int option = getopt_long(argc, argv, shorts, longs, NULL);
        if (option == -1)
            break;
        if (option == OPERAND) {
            argv[(*operands)++] = optarg; /* never behind what is still to be read */
            continue;
        }
        if (option == OPTION_HELP || option == 'h') {
            settings->help = true;
            continue;
        }
        if (option == OPTION_VERSION) {
            settings->version = true;
            continue;
        }
        if (option == '?')
            return refuse_option(argv[optind - 1], error);
        int id = id_of_option(option == ':' ? optopt : option);
        const struct setting_definition *d = &setting_definitions[id];
        if (option == ':')
            return error_set(error, ERROR_USAGE, "option '--%s' needs a value: --%s %s", d->name,
                             d->name, d->metavariable);
        if (!setting_value_add(&settings->values[id], (enum setting_id)id, SOURCE_OPTION,
                               optarg ? optarg : "true", error)) {
            error_prefix(error, "option '--%s'", d->name);
            return false;
        }
    }
    while (optind < argc) /* behind "--" */
        argv[(*operands)++] = argv[optind++];
    return true;
}

/* ---- environment, files, defaults ---- */

static void variable_name(const char *option, char *name, size_t size)
{
    int n = snprintf(name, size, "MORTISE_%s", option);
    for (int i = 0; i < n && (size_t)i < size; i++)
        if (name[i] == '-')
            name[i] = '_';
        else if (name[i] >= 'a' && name[i] <= 'z')
            name[i] = (char)(name[i] - 'a' + 'A');
}

static bool add_list(struct setting_value *value, enum setting_id id, const char *list,
                     struct error *error)
{
    const char *between = setting_definitions[id].kind == SETTING_LIST ? ":" : "\n";
    for (;;) {
        size_t length = strcspn(list, between);
        char *entry = strndup(list, length);
        bool ok = entry ? length == 0 ||
                              setting_value_add(value, id, SOURCE_ENVIRONMENT, entry, error)
                        : error_memory(error);
        free(entry);
        if (!ok || list[length] == '\0')
            return ok;
        list += length + 1;
    }
}

bool settings_read_environment(struct settings *settings, struct error *error)
{
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        struct setting_value *value = &settings->values[id];
        char name[64];
        variable_name(setting_definitions[id].name, name, sizeof(name));
        bool counts =
            value->source == SOURCE_UNSET && setting_definitions[id].project != OPTION_ONLY;
        const char *text = counts ? getenv(name) : NULL;
        if (!text || !*text)
            continue;
        bool ok = setting_is_list((enum setting_id)id)
                      ? add_list(value, (enum setting_id)id, text, error)
                      : setting_value_add(value, (enum setting_id)id, SOURCE_ENVIRONMENT, text,
                                          error);
        if (!ok) {
            error->kind = ERROR_CONFIG;
            error_prefix(error, "variable %s", name);
            return false;
        }
    }
    return true;
}

static bool read_defaults(struct settings *settings, struct error *error)
{
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        if (settings->values[id].source == SOURCE_UNSET && setting_definitions[id].fallback &&
            !setting_value_add(&settings->values[id], (enum setting_id)id, SOURCE_DEFAULT,
                               setting_definitions[id].fallback, error))
            return false;
    return true;
}

bool settings_read_rest(struct settings *settings, struct error *error)
{
    static bool (*const sources[])(struct settings *, struct error *) = {
        settings_read_environment, config_file_read_project, config_file_read_user, read_defaults};
    bool ok = true;
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        struct error later;
        if (!sources[i](settings, ok ? error : &later))
            ok = false;
    }
    return ok;
}

/* ---- reading ---- */

const char *settings_text(const struct settings *settings, enum setting_id id)
{
    const struct setting_value *value = &settings->values[id];
    return value->count ? value->items[value->count - 1] : NULL;
}

char *const *settings_list(const struct settings *settings, enum setting_id id, size_t *count)
{
    *count = settings->values[id].count;
    return settings->values[id].items;
}

bool settings_flag(const struct settings *settings, enum setting_id id)
{
    const char *text = settings_text(settings, id);
    return text && strcmp(text, "true") == 0;
}

int64_t settings_whole(const struct settings *settings, enum setting_id id, int64_t fallback)
{
    const char *text = settings_text(settings, id);
    return text ? strtoll(text, NULL, 10) : fallback;
}

double settings_number(const struct settings *settings, enum setting_id id, double fallback)
{
    const char *text = settings_text(settings, id);
    return text ? strtod(text, NULL) : fallback;
}

const json_t *settings_section(const struct settings *settings, const char *kind, const char *name)
{
    return json_object_get(json_object_get(settings->user_file, kind), name);
}

/* The member, an object; made where it is missing. */
static json_t *object_in(json_t *parent, const char *key)
{
    if (!json_is_object(json_object_get(parent, key)))
        json_object_set_new(parent, key, json_object());
    return json_object_get(parent, key);
}

bool settings_override(struct settings *settings, const char *kind, const char *name,
                       const char *key, json_t *value, struct error *error)
{
    if (!settings->user_file)
        settings->user_file = json_object();
    json_t *section = object_in(object_in(settings->user_file, kind), name);
    return json_object_set_new(section, key, value) == 0 || error_memory(error);
}

bool settings_read_sections_again(struct settings *settings, const char *kind, struct error *error)
{
    json_t *sections = NULL;
    if (!config_file_read_sections(settings, kind, &sections, error))
        return false;
    if (!settings->user_file && sections)
        settings->user_file = json_object();
    bool ok = !sections || json_object_set(settings->user_file, kind, sections) == 0;
    if (!sections && settings->user_file)
        json_object_del(settings->user_file, kind);
    json_decref(sections);
    return ok || error_memory(error);
}

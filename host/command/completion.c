/*
 * completion - what can stand where the cursor is: for the scripts of the shells.
 *
 * The scripts (host/completion) are thin.  They hand the words so far to `mortise completion
 * words`, so what is offered comes from the tables of options and commands of the very binary
 * that will run, and is the same in every shell.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "command/command.h"
#include "command/embedded.h"
#include "command/mcp_entry.h"
#include "command/mcp_file.h"
#include "command/model.h"
#include "command/sessions.h"
#include "plugin/registry.h"
#include "provider/profiles.h"

struct completion {
    struct app *app;
    const char *head; /* of the last word: what stays as it is, such as "--color=" … */
    size_t head_length;
    const char *rest; /* … and what is to be completed */
};

/* ---- candidates ---- */

static void offer_part(const struct completion *c, const char *word, size_t length,
                       const char *description)
{
    size_t typed = strlen(c->rest);
    if (length < typed || memcmp(word, c->rest, typed) != 0)
        return;
    struct text line = TEXT_INIT;
    text_append(&line, c->head, c->head_length);
    text_append(&line, word, length);
    text_putc(&line, '\t');
    utf8_append_line(&line, description, strcspn(description, "\n"));
    text_putc(&line, '\n');
    if (line.failed)
        output_fail(&c->app->out, ENOMEM);
    output_foreign(&c->app->out, text_cstr(&line), line.length);
    text_release(&line);
}

static void offer(const struct completion *c, const char *word, const char *description)
{
    offer_part(c, word, strlen(word), description);
}

/* Each of "a|b|c", of which the first `length` bytes are taken. */
static void offer_choices(const struct completion *c, const char *choices, size_t length)
{
    for (const char *end = choices + length; choices < end;) {
        size_t word = strcspn(choices, "|");
        if (word > (size_t)(end - choices))
            word = (size_t)(end - choices);
        offer_part(c, choices, word, "");
        choices += word + 1;
    }
}

static void offer_files(const struct completion *c)
{
    output_own(&c->app->out, ":files\n");
}

static void offer_folders(const struct completion *c)
{
    output_own(&c->app->out, ":folders\n");
}

static void offer_commands(const struct completion *c)
{
    for (size_t i = 0; command_at(i); i++)
        offer(c, command_at(i)->name, command_at(i)->summary);
}

/* NULL, which is those that are built in, where the configuration is wrong. */
static const struct profiles *profiles_of(const struct completion *c)
{
    struct error error;
    return model_profiles(c->app, &error);
}

static void offer_providers(const struct completion *c)
{
    const struct profiles *profiles = profiles_of(c);
    const struct profile *profile;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++)
        if (profile->wire)
            offer(c, profile->name, profile->summary);
}

/* The model behind the slash is the server's to know, and asking takes too long for a key. */
static void offer_models(const struct completion *c)
{
    const struct profiles *profiles = profiles_of(c);
    const struct profile *profile;
    char name[80];
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++) {
        snprintf(name, sizeof(name), "%s%s", profile->name,
                 strcmp(profile->name, "offline") == 0 ? "" : "/");
        offer(c, name, profile->summary);
    }
}

static struct registry *load(const struct completion *c)
{
    struct error error;
    c->app->keeps_refusals = true;
    return app_load(c->app, &error);
}

static void offer_tools(const struct completion *c)
{
    struct registry *registry = load(c);
    const struct tool *tool;
    for (size_t i = 0; registry && (tool = registry_tool(registry, i)); i++)
        offer(c, tool->name, tool->meta.description);
    registry_unref(registry);
}

/* Of the list in the word the last entry is completed. */
static void offer_tool_list(const struct completion *c)
{
    struct completion last = *c;
    const char *comma = strrchr(c->rest, ',');
    if (comma) {
        last.head_length += (size_t)(comma + 1 - c->rest);
        last.rest = comma + 1;
    }
    offer_tools(&last);
}

static void offer_plugins(const struct completion *c)
{
    struct registry *registry = load(c);
    const struct plugin *plugin;
    for (size_t i = 0; registry && (plugin = registry_plugin(registry, i)); i++)
        offer(c, plugin->name, plugin->path);
    registry_unref(registry);
}

static void offer_servers(const struct completion *c)
{
    struct mcp_file file;
    struct error error;
    const char *name;
    json_t *entry;
    if (mcp_file_open(&file, false, &error))
        json_object_foreach(file.servers, name, entry) {
            struct text target = TEXT_INIT;
            mcp_entry_target(entry, &target);
            offer(c, name, text_cstr(&target));
            text_release(&target);
        }
    mcp_file_close(&file);
}

static bool offer_session(void *data, const struct session *session)
{
    offer(data, session->id, session->title);
    return true;
}

static void offer_sessions(const struct completion *c)
{
    struct completion copy = *c;
    struct error error;
    struct store *store = sessions_open(false, &error);
    if (store)
        store->ops->list(store, offer_session, &copy, &error);
    store_close(store);
}

/* ---- what a metavariable stands for ---- */

static const struct {
    const char *owner; /* the command, or the option; NULL: any */
    const char *metavariable;
    void (*offer)(const struct completion *c);
} sources[] = {
    {"tools", "NAME", offer_tools},      {"plugins", "NAME", offer_plugins},
    {"sessions", "ID", offer_sessions},  {"session", "ID", offer_sessions},
    {"mcp", "SERVER", offer_servers},
    {NULL, "SESSION", offer_sessions},   {NULL, "COMMAND", offer_commands},
    {NULL, "PROVIDER", offer_providers}, {NULL, "PROVIDER/MODEL", offer_models},
    {NULL, "GLOB,...", offer_tool_list}, {NULL, "FILE", offer_files},
    {NULL, "FILE.so", offer_files},      {NULL, "DIR", offer_folders},
};

static void offer_value(const struct completion *c, const char *owner, const char *metavariable,
                        size_t length)
{
    if (length > 3 && memcmp(metavariable + length - 3, "...", 3) == 0 &&
        metavariable[length - 4] != ',')
        length -= 3; /* one of several */
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
        if ((!sources[i].owner || strcmp(sources[i].owner, owner) == 0) &&
            strlen(sources[i].metavariable) == length &&
            memcmp(sources[i].metavariable, metavariable, length) == 0) {
            sources[i].offer(c);
            return;
        }
}

/* ---- options ---- */

static void offer_options(const struct completion *c)
{
    char name[64];
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        snprintf(name, sizeof(name), "--%s", setting_definitions[id].name);
        offer(c, name, setting_definitions[id].help);
    }
    offer(c, "--help", "commands and options");
    offer(c, "--version", "the version");
}

static const struct setting_definition *find_long(const char *name, size_t length)
{
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        if (strlen(setting_definitions[id].name) == length &&
            memcmp(setting_definitions[id].name, name, length) == 0)
            return &setting_definitions[id];
    return NULL;
}

/* Of "-qm": the option whose value is the next word; NULL: none. */
static const struct setting_definition *find_letters(const char *letters)
{
    for (; *letters; letters++)
        for (int id = 0; id < SETTING_ID_COUNT; id++)
            if (setting_definitions[id].letter == *letters && setting_definitions[id].metavariable)
                return letters[1] ? NULL : &setting_definitions[id];
    return NULL;
}

/* The option that this word is, if its value is in the next one. */
static const struct setting_definition *waits_for_value(const char *word)
{
    const struct setting_definition *option = NULL;
    if (strncmp(word, "--", 2) == 0)
        option = find_long(word + 2, strlen(word + 2));
    else if (word[0] == '-')
        option = find_letters(word + 1);
    return option && option->metavariable ? option : NULL;
}

static void offer_option_value(const struct completion *c, const struct setting_definition *option)
{
    if (option->kind == SETTING_CHOICE)
        offer_choices(c, option->metavariable, strlen(option->metavariable));
    else
        offer_value(c, option->name, option->metavariable, strlen(option->metavariable));
}

/* ---- operands ---- */

/* The usage of a command is "[list | show ID | …]", "tool|hook NAME" or "[PROMPT...]":
 * alternatives, each a row of words to be typed as they are (small letters) and of metavariables.
 */

static bool is_literal(const char *token)
{
    return *token >= 'a' && *token <= 'z';
}

static bool fits_literal(const char *token, size_t length, const char *word)
{
    size_t word_length = strlen(word);
    for (const char *end = token + length; token < end; token += strcspn(token, "|") + 1)
        if (strncmp(token, word, word_length) == 0 && strchr("| ]", token[word_length]))
            return true;
    return false;
}

/* Offers what stands in the alternative at place `count`, if the words before it fit. */
static void offer_alternative(const struct completion *c, const char *owner, const char *token,
                              int count, char **words)
{
    for (int at = 0;; at++) {
        token += strspn(token, "[ ");
        size_t length = strcspn(token, " ]");
        if (length == 0 || *token == '|')
            return;
        if (at == count && is_literal(token))
            offer_choices(c, token, length);
        else if (at == count)
            offer_value(c, owner, token, length);
        else if (is_literal(token) && !fits_literal(token, length, words[at]))
            return;
        else if (length > 3 && memcmp(token + length - 3, "...", 3) == 0) {
            offer_value(c, owner, token, length);
            return;
        }
        if (at == count)
            return;
        token += length;
    }
}

static void offer_operand(const struct completion *c, int count, char **words)
{
    const struct command *command = count > 0 ? command_find(words[0]) : NULL;
    if (count == 0)
        offer_commands(c);
    if (!command)
        return;
    const char *alternative = command->usage;
    while (alternative) {
        offer_alternative(c, command->name, alternative, count - 1, words + 1);
        alternative = strstr(alternative, " | ");
        alternative = alternative ? alternative + 3 : NULL;
    }
}

/* ---- the words ---- */

/* The folders and files that the words name are those that count; what is wrong with them is not
 * for now.  False: no memory. */
static bool use_settings(struct app *app, int count, char **words)
{
    struct error error;
    int operands;
    char **copy = calloc((size_t)count + 2, sizeof(*copy));
    static char program[] = "mortise";
    if (!copy)
        return false;
    copy[0] = program;
    if (count > 0)
        memcpy(copy + 1, words, (size_t)count * sizeof(*copy));
    settings_release(&app->settings);
    bool enough = settings_read_options(&app->settings, count + 1, copy, &operands, &error) ||
                  error.kind != ERROR_INTERNAL;
    free(copy);
    return (settings_read_rest(&app->settings, &error) || error.kind != ERROR_INTERNAL) && enough;
}

/* Moves the operands to the front; *option becomes the one whose value comes next, *only_operands
 * tells that "--" was there. */
static int take_operands(int count, char **words, const struct setting_definition **option,
                         bool *only_operands)
{
    int operands = 0;
    *option = NULL;
    *only_operands = false;
    for (int i = 0; i < count; i++) {
        if (*option)
            *option = NULL; /* this is its value */
        else if (!*only_operands && strcmp(words[i], "--") == 0)
            *only_operands = true;
        else if (*only_operands || words[i][0] != '-' || !words[i][1])
            words[operands++] = words[i];
        else
            *option = waits_for_value(words[i]);
    }
    return operands;
}

/* Writes a line for each candidate for the last of the words, which may be empty: the whole word, a
 * tab and what it is.  ":files" and ":folders" stand for those that the shell finds. */
static void complete(struct app *app, int count, char **words)
{
    if (count == 0)
        return;
    char *last = words[count - 1];
    struct completion c = {.app = app, .head = last, .rest = last};
    const struct setting_definition *option;
    bool only_operands;
    if (!use_settings(app, count - 1, words)) {
        output_fail(&app->out, ENOMEM);
        return;
    }
    int operands = take_operands(count - 1, words, &option, &only_operands);
    const char *equals = strncmp(last, "--", 2) == 0 ? strchr(last, '=') : NULL;
    if (option) {
        offer_option_value(&c, option);
    } else if (only_operands || last[0] != '-') {
        offer_operand(&c, operands, words);
    } else if (equals) {
        option = find_long(last + 2, (size_t)(equals - last) - 2);
        c.head_length = (size_t)(equals + 1 - last);
        c.rest = equals + 1;
        if (option && option->metavariable)
            offer_option_value(&c, option);
    } else {
        offer_options(&c);
    }
}

/* ---- the command ---- */

int command_completion(struct app *app, int count, char **operands)
{
    if (count > 0 && strcmp(operands[0], "words") == 0) {
        complete(app, count - 1, operands + 1);
        return app_flush(app);
    }
    for (const struct embedded_file *file = completion_files; file->kind; file++)
        if (count == 1 && strcmp(operands[0], file->kind) == 0) {
            output_foreign(&app->out, (const char *)file->text, file->length);
            return app_flush(app);
        }
    return command_usage(app, "completion", "name a shell");
}

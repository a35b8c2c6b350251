#include <string.h>

#include "base/suggest.h"
#include "command/command.h"

static void list_commands(struct app *app)
{
    output_own(&app->out, "\nCommands\n");
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        output_printf(&app->out, "  mortise %s%s%s\n      %s\n", command->name,
                      *command->usage ? " " : "", command->usage, command->summary);
    }
}

static void list_options(struct app *app)
{
    output_own(&app->out, "\nOptions (each also as a variable, MORTISE_MODEL and so on, and as a key "
                          "of the configuration file)\n");
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        const struct setting_definition *d = &setting_definitions[id];
        char left[80];
        snprintf(left, sizeof(left), "%c%c%s --%s%s%s", d->letter ? '-' : ' ',
                 d->letter ? d->letter : ' ', d->letter ? "," : " ", d->name,
                 d->metavariable ? " " : "", d->metavariable ? d->metavariable : "");
        output_printf(&app->out, strlen(left) > 32 ? "  %s\n%36s%s" : "  %-32s%.0s  %s", left, "",
                      d->help);
        if (d->fallback && d->kind != SETTING_FLAG && d->kind != SETTING_COUNT)
            output_printf(&app->out, " [%s]", d->fallback);
        output_own(&app->out, "\n");
    }
    output_own(&app->out, "  -h, --help                        this; `mortise help COMMAND` for one\n"
                          "      --version                     the version\n");
}

static const char introduction[] =
    "mortise: tools from shared objects, for any language model\n"
    "\n"
    "  mortise [OPTIONS] PROMPT...          the same as: mortise run PROMPT...\n"
    "\n"
    "Try it without a key and without a network:\n"
    "  mortise -m offline \"What is the weather in Tokyo?\"\n"
    "\n"
    "With a model:\n"
    "  export ANTHROPIC_API_KEY=...         or OPENAI_API_KEY=..., see `mortise providers`\n"
    "  mortise \"What is 12 divided by 4?\"\n"
    "  git diff | mortise \"Review this change\"\n"
    "\n"
    "Your own tool: put its .so into a folder and name it with -P, or into\n"
    "~/.local/share/mortise/plugins. `mortise tools` shows what was found.\n";

static const char endings[] =
    "\nExit codes\n"
    "  0 finished · 1 failed · 2 usage · 3 configuration or key · 4 provider or network\n"
    "  5 a required plugin did not load · 6 stopped by a hook · 7 limit reached · 8 paused\n"
    "  124 time limit · 130 interrupted · 143 terminated\n";

static int help_for(struct app *app, const char *name)
{
    const struct command *command = command_find(name);
    if (!command) {
        struct error error;
        struct suggestion suggestion;
        suggestion_begin(&suggestion, name);
        for (size_t i = 0; command_at(i); i++)
            suggestion_consider(&suggestion, command_at(i)->name);
        if (suggestion.best)
            error_set(&error, ERROR_USAGE, "no command '%s'; did you mean '%s'?", name,
                      suggestion.best);
        else
            error_set(&error, ERROR_USAGE, "no command '%s'; `mortise --help` lists them", name);
        return app_fail(app, &error);
    }
    output_printf(&app->out, "mortise %s%s%s\n  %s\n", command->name, *command->usage ? " " : "",
                  command->usage, command->summary);
    list_options(app);
    return app_flush(app);
}

int command_help(struct app *app, int count, char **operands)
{
    if (count > 0)
        return help_for(app, operands[0]);
    output_own(&app->out, introduction);
    list_commands(app);
    list_options(app);
    output_own(&app->out, endings);
    return app_flush(app);
}

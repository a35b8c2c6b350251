/*
 * command - the commands of the binary, one file each, in one table.
 *
 * A command gets its operands and returns the exit code; it has told every error itself.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "command/app.h"

struct command {
    const char *name;
    const char *usage;   /* operands */
    const char *summary; /* one line */
    int (*run)(struct app *app, int count, char **operands);
    bool copes; /* runs also when variables or files cannot be read, with the settings that can */
};

/* NULL: no such command. */
const struct command *command_find(const char *name);
const struct command *command_at(size_t index);

int command_run(struct app *app, int count, char **operands);
int command_replay(struct app *app, int count, char **operands);
int command_resume(struct app *app, int count, char **operands);
int command_sessions(struct app *app, int count, char **operands);
int command_chat(struct app *app, int count, char **operands);
int command_tools(struct app *app, int count, char **operands);
int command_plugins(struct app *app, int count, char **operands);
int command_mcp(struct app *app, int count, char **operands);
int command_hooks(struct app *app, int count, char **operands);
int command_providers(struct app *app, int count, char **operands);
int command_models(struct app *app, int count, char **operands);
int command_doctor(struct app *app, int count, char **operands);
int command_completion(struct app *app, int count, char **operands);
int command_new(struct app *app, int count, char **operands);
int command_config(struct app *app, int count, char **operands);
int command_help(struct app *app, int count, char **operands);

/* Usage error: the message, and how the command is called. */
int command_usage(struct app *app, const char *name, const char *message);

#endif

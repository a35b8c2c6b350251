#include "command/command.h"

#include <string.h>

static const struct command commands[] = {
    {"run", "[PROMPT...]", "ask the model; the answer is on standard output", command_run, false},
    {"resume", "[SESSION]", "go on with a paused, interrupted or limited run", command_resume, false},
    {"sessions", "[list | show ID | export ID | rm ID | import FILE]",
     "the sessions that were kept; as lines of JSON, and back", command_sessions, false},
    {"replay", "FILE", "a recorded run (--record) again, without network, key and plugins",
     command_replay, false},
    {"chat", "", "talk with the model; /help tells what can be done there", command_chat, false},
    {"tools", "[list | show NAME | call NAME [JSON]]", "the tools that were found; call one yourself",
     command_tools, false},
    {"plugins",
     "[list | show NAME | check FILE... | reset NAME | trust FILE... | trusted | distrust NAME...]",
     "what was loaded, what was refused and why, and what its tools did so far (reset: forget\n"
     "      that); check a file without running it; trust files as they are now, for --trust pinned,\n"
     "      and no longer (both also by name; distrust also by SHA-256)",
     command_plugins, false},
    {"mcp", "serve | add NAME URL|COMMAND... | remove SERVER... | list | check [SERVER...]",
     "serve the tools to MCP clients, on standard input and output; the MCP servers whose tools are\n"
     "      used here: add one (`--` before its command), add those of another client (--from FILE\n"
     "      [NAME...]), start them and see",
     command_mcp, false},
    {"hooks", "", "every hook event and who takes it, in order", command_hooks, false},
    {"providers", "", "the providers, and the variables they read", command_providers, false},
    {"models", "[PROVIDER]",
     "the models of a provider's server; without it: of the one that --model names, else of all\n"
     "      whose key is set and of the servers on this machine",
     command_models, false},
    {"doctor", "", "what is set up and what is wrong with it, each with what to do", command_doctor, true},
    {"new", "tool|hook NAME", "a folder with a plugin that builds, and its test", command_new, false},
    {"config", "[show]", "the settings in force and where each came from", command_config, false},
    {"completion", "bash|zsh|fish",
     "the script that completes what is typed in a shell; the installation has them in place",
     command_completion, true},
    {"help", "[COMMAND]", "this", command_help, true},
};

const struct command *command_at(size_t index)
{
    return index < sizeof(commands) / sizeof(*commands) ? &commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_at(i); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int command_usage(struct app *app, const char *name, const char *message)
{
    struct error error;
    const struct command *command = command_find(name);
    error_set(&error, ERROR_USAGE, "%s; usage: mortise %s %s", message, name, command->usage);
    return app_fail(app, &error);
}

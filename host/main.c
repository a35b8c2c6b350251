/*
 * mortise - options, configuration, plugins, command: what happens, in this order.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "command/command.h"
#include "remote/serve.h"

static int run_command(struct app *app, const struct command *command, int count, char **operands)
{
    if (app->settings.version) {
        output_own(&app->out, "mortise " MORTISE_VERSION "\n");
        return app_flush(app);
    }
    if (app->settings.help)
        return command_help(app, command ? 1 : 0, operands);
    if (command)
        return command->run(app, count - 1, operands + 1);
    return command_run(app, count, operands); /* a bare prompt */
}

/* A descriptor that the caller closed must not become some file of ours: what is written to
 * it fails as if it were still closed. */
static void occupy_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Most often it is an option of the server's. */
static void explain_mcp_add(int operands, char **argv, struct error *error)
{
    if (operands < 2 || strcmp(argv[0], "mcp") != 0 || strcmp(argv[1], "add") != 0)
        return;
    size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof(error->message) - length,
             " (the command of an MCP server stands behind `--`)");
}

int main(int argc, char **argv)
{
    struct app app;
    struct error error;
    int operands = 0;
    if (serve_is_meant(argc, argv))
        return serve();
    occupy_standard_descriptors();
    memset(&app, 0, sizeof(app));
    settings_init(&app.settings);
    bool ready = settings_read_options(&app.settings, argc, argv, &operands, &error);
    if (!ready)
        explain_mcp_add(operands, argv, &error);
    const struct command *command = ready && operands > 0 ? command_find(argv[0]) : NULL;
    bool only_tells = app.settings.help || app.settings.version;
    ready = ready && (only_tells || settings_read_rest(&app.settings, &error) ||
                      (command && command->copes));
    if (!settings_flag(&app.settings, SETTING_DEBUGGABLE))
        secret_hide_memory();
    app_start(&app);
    int code = ready ? run_command(&app, command, operands, argv) : app_fail(&app, &error);
    app_finish(&app);
    return code;
}

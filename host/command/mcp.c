/* mcp: the Model Context Protocol, by its verbs. */
#include "command/mcp.h"

#include <string.h>

#include "command/command.h"

static const struct {
    const char *name;
    int (*run)(struct app *app, int count, char **operands);
} verbs[] = {
    {"serve", mcp_serve_command}, {"add", mcp_add_command},     {"remove", mcp_remove_command},
    {"list", mcp_list_command},   {"check", mcp_check_command},
};

int command_mcp(struct app *app, int count, char **operands)
{
    for (size_t i = 0; count > 0 && i < sizeof(verbs) / sizeof(*verbs); i++)
        if (strcmp(operands[0], verbs[i].name) == 0)
            return verbs[i].run(app, count - 1, operands + 1);
    return command_usage(app, "mcp", "unknown or missing words after 'mcp'");
}

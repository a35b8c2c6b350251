/* The smallest tool that takes something: one argument in, one line of text out. */
#include <mortise/tool.h>

MORTISE_TOOL(greet, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Greet somebody by name.",
    (string, name, "Who to greet.", required, at_least(1)));

static mortise_status greet(mortise_call *call, const greet_args *args)
{
    return mortise_reply(call, "Hello, %s!", args->name);
}

MORTISE_PLUGIN(.name = "greet", .version = "1.0.0", .tools = MORTISE_TOOLS(greet));

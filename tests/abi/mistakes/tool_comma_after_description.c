/* expect: 'add' lacks a comma after its description */
/* more: and what comes of it */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add." (integer, a, "One.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

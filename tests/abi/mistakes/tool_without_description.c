/* expect: 'add' has no description between its flags and its fields */
/* more: and that there are no fields */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, (integer, a, "One.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: 'add' has no flags before its description */
/* more: and that there are no fields */
#include <mortise/tool.h>
MORTISE_TOOL(add, "Add.", (integer, a, "One.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

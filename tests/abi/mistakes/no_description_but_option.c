/* expect: field 'a' of 'add' has no description: .integer, a, \"What it is.\" */
/* more: and that the name is unknown */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, required), (integer, b, "B.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

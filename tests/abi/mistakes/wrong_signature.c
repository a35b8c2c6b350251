/* expect: conflicting types for .add */
/* more: gcc: that it is not defined */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "First.", required));
static mortise_status add(const add_args *args, mortise_call *call)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

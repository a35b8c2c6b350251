/* expect: has a name in quotes: .integer, name,  */
/* more: and that a member needs a name */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, "a", "How many."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

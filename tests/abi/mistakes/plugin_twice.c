/* expect: redefinition of .mortise__parts. */
/* more: and what else is twice */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "n", .tools = MORTISE_TOOLS(add));
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

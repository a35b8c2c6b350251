/* expect: field 'a' of 'add' has pattern.x. without an expression in quotes */
/* more: and that the name is unknown */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "Which.", pattern(x)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

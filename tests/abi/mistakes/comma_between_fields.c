/* expect: in 'add' a comma is missing before .integer, b, .Two */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "One.") (integer, b, "Two."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: (unknown type name|refer to type) .add_args. */
/* more: and the shape */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (record, b, add, "Itself."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: MORTISE__OPTION_range.*(requires 2 arguments|argument)|too few arguments */
/* more: and that the option is unknown */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "How many.", range(3)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

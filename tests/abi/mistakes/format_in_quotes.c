/* expect: pasting.*MORTISE__FORMAT_.*date-time|invalid preprocessing token */
/* more: and that it is unknown */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "When.", format("date-time")));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

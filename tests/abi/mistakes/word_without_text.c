/* expect: 'add' has title.5., which takes text in quotes */
/* more: and that it is no text */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (title(5)), 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: 'add' has examples.1, 2., which takes text in quotes */
/* more: and that they are no texts */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (examples(1, 2)), 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

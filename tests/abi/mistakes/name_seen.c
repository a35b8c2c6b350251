/* expect: field 'seen' of 'add' must be called otherwise: args->seen tells what the model gave */
/* more: and that there are two */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, seen, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

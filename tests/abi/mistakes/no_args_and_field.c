/* expect: 'add' has MORTISE_NO_ARGS beside a field */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", MORTISE_NO_ARGS, (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

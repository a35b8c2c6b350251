/* expect: 'add' has inside.0x80.; there are MORTISE_INSIDE_PROCESSES, */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (inside(0x80)), MORTISE_SANDBOX_REQUIRED, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

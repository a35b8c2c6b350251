/* expect: 'add' has a word about its sandbox: mark it MORTISE_SANDBOX_REQUIRED */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (reads("/usr/share/dict")), 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' has length.10, 1., which nothing fits */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "Who.", length(10, 1)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

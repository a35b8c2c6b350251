/* expect: field 'a' of 'add' has range.0\.5, -0\.5., which nothing fits */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (number, a, "How many.", range(0.5, -0.5)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

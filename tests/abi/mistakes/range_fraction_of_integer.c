/* expect: field 'a' of 'add' has range.0\.5, 2.: limits are numbers, of an integer whole ones */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "How many.", range(0.5, 2)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: 'add' has an unknown word: titel.\"Add\". \(there are name.\"NAME\"., */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (titel("Add")), 0, "Add.", (integer, a, "First.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

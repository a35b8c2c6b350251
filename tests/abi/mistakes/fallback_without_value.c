/* expect: field 'a' of 'add' has an unknown option: fallback \(there are required, fallback.VALUE. */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "How many.", fallback));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

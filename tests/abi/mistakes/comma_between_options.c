/* expect: field 'a' of 'add' lacks a comma before required */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "One.", range(1, 2) required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' cannot have length.1, 64., being of kind number: range\(\) is for integer and number */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (number, a, "How much.", length(1, 64)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

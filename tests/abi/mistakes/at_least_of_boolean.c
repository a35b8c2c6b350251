/* expect: field 'a' of 'add' cannot have at_least.1., being of kind boolean: limits are for numbers, string and lists */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (boolean, a, "Whether.", at_least(1)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

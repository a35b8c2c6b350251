/* expect: field 'a' of 'add' cannot have range.0, 1., being of kind boolean */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (boolean, a, "First.", range(0, 1)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

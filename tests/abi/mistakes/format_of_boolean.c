/* expect: field 'a' of 'add' cannot have format.date., being of kind boolean */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (boolean, a, "Whether.", format(date)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

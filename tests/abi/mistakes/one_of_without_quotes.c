/* expect: field 'a' of 'add' has one_of.km, miles. without choices in quotes */
/* more: and that the names are unknown */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "Which.", one_of(km, miles)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

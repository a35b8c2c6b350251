/* expect: .sub_tool. defined but not used|unused variable 'sub_tool' */
/* flags: -Wall -Werror */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "First.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_TOOL(sub, 0, "Subtract.", (integer, a, "First.", required));
static mortise_status sub(mortise_call *call, const sub_args *args)
{
    return mortise_reply(call, "%d", (int)-args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

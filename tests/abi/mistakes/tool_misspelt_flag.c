/* expect: MORTISE_READONLY */
/* more: clang tells it wherever the flags are used */
#include <mortise/tool.h>
MORTISE_TOOL(add, MORTISE_READONLY, "Add.", (integer, a, "One.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: (initialization of .const char \*. from .int.|incompatible integer to pointer) */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, 5, (integer, a, "One.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

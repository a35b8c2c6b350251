/* expect: format (‘%s’|'%s'|specifies type 'char \*') */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.",
    (integer, a, "First.", required),
    (integer, b, "Second.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%s", args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

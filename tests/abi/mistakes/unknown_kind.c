/* expect: field 'b' of 'add' is of an unknown kind: int \(there are string, integer, number, boolean, json, strings, integers, numbers, booleans, record and records\) */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.",
    (integer, a, "First.", required),
    (int, b, "Second.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'b' of 'add' has an unknown option: default.3. \(there are required, fallback.VALUE., */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.",
    (integer, a, "First.", required),
    (integer, b, "Second.", default(3)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' has an unknown option: requried \(there are required, fallback.VALUE., */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.",
    (integer, a, "First.", requried),
    (integer, b, "Second.", at_most(3)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' has an option twice */
/* more: clang: that the second takes the place of the first */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "First.", range(1, 2), at_least(3)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

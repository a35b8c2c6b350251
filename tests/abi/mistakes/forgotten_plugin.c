/* expect: required symbol .(tool_definition|mortise_plugin_stamp). not defined */
/* more: the other symbol */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "First.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}

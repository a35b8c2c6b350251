/* expect: 'add' has a field without parentheses: it looks like .string, name, \"What it is.\" */
/* more: and that args has no member a */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", integer, a, "First.", required);
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

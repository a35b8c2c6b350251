/* expect: error */
#include <mortise/tool.h>
MORTISE_TOOL(pick, 0, "Pick.", (booleans, which, "Which ones.", fallback([true])));
static mortise_status pick(mortise_call *call, const pick_args *args)
{
    return mortise_reply(call, "%zu", args->which.count);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(pick));

/* expect: field 'which' of 'pick' has fallback..1.., which is none for its kind, booleans: JSON in quotes, such as fallback.\"\[1, 2\]\" */
/* more: and that it is no text */
#include <mortise/tool.h>
MORTISE_TOOL(pick, 0, "Pick.", (booleans, which, "Which ones.", fallback([true])));
static mortise_status pick(mortise_call *call, const pick_args *args)
{
    return mortise_reply(call, "%zu", args->which.count);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(pick));

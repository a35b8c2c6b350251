/* expect: conflicting types for .add. */
/* more: gcc: that it is not defined */
#include <mortise/tool.h>
MORTISE_FUNCTION(add, 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' cannot have pattern."\^.."., being of kind integer: pattern\(\) is for string and strings */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "How many.", pattern("^1$")));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: field 'a' of 'add' has one_of\(\) without choices in quotes: one_of\("a", "b"\) */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "Which.", one_of()));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

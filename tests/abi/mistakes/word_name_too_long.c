/* expect: 'add' has name.\"a{65}\"., a name of more than 64 characters */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (name("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")), 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

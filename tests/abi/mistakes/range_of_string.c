/* expect: field 'a' of 'add' cannot have range.1, 64., being of kind string: range\(\) is for integer and number, length\(\) for string and the lists */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "Who.", range(1, 64)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

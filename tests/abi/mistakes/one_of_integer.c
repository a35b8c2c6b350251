/* expect: field 'a' of 'add' cannot have one_of.1, 2., being of kind integer: one_of\(\) is for string and strings */
/* more: and that the choices are no strings */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "How many.", one_of(1, 2)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

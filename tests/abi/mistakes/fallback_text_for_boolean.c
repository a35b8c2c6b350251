/* expect: field 'a' of 'add' has fallback."true"., which is none for its kind, boolean: fallback.true. */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (boolean, a, "Whether.", fallback("true")));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

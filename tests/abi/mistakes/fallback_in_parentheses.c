/* expect: field 'a' of 'add' has fallback..64.., which is none for its kind, number: .*decimal digits */
#include <mortise/tool.h>
#define LIMIT (64)
MORTISE_TOOL(add, 0, "Add.", (number, a, "How many.", fallback(LIMIT)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

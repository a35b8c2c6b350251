/* expect: field 'b' of 'add' cannot have range.1, 2., being of kind record */
#include <mortise/tool.h>
MORTISE_RECORD(point, (number, x, "X."));
MORTISE_TOOL(add, 0, "Add.", (record, b, point, "Where.", range(1, 2)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

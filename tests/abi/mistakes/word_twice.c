/* expect: 'add' has a word twice */
/* more: clang: that the second takes the place of the first */
#include <mortise/tool.h>
MORTISE_TOOL_WITH(add, (title("Add"), title("Sum")), 0, "Add.", (integer, a, "One."));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

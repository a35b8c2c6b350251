/* expect: field 'a' of 'add' has at_least.-1.: limits are numbers, .* of a length whole ones from 0 */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (strings, a, "Which.", at_least(-1)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

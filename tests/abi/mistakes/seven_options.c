/* expect: field 'a' of 'add' has more than 6 options */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.",
    (string, a, "First.", at_least(1), at_most(2), fallback("a"), one_of("a"), at_least(1), at_most(2), at_most(3)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%s", args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: incompatible types when returning type .char|returning .char ?\[.*\]. from a function with incompatible result type|incompatible */
/* more: gcc: that nothing is returned */
#include <mortise/tool.h>
MORTISE_FUNCTION(add, 0, "Add.", (integer, a, "One."));
static mortise_answer add(const add_args *args)
{
    (void)args;
    return "one";
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* expect: format (‘%s’|specifies) */
#include <mortise/tool.h>
MORTISE_FUNCTION(add, 0, "Add.", (integer, a, "One."));
static mortise_answer add(const add_args *args)
{
    return mortise_text("%s", args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

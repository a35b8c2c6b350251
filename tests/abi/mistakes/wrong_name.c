/* expect: no member named .colour. */
/* more: gcc: that nothing is returned */
#include <mortise/tool.h>
MORTISE_TOOL(paint, 0, "Paint.", (string, color, "Which one.", required));
static mortise_status paint(mortise_call *call, const paint_args *args)
{
    return mortise_reply(call, "%s", args->colour);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(paint));

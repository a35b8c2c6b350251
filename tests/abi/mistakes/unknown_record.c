/* expect: point_args */
/* more: and the shape */
#include <mortise/tool.h>
MORTISE_TOOL(draw, 0, "Draw.", (records, points, point, "Where.", required));
static mortise_status draw(mortise_call *call, const draw_args *args)
{
    return mortise_reply(call, "%zu", args->points.count);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(draw));

/* expect: 'ping' has a field without parentheses: .*where there is none stands MORTISE_NO_ARGS */
#include <mortise/tool.h>
MORTISE_TOOL(ping, 0, "Answer.", );
static mortise_status ping(mortise_call *call, const ping_args *args)
{
    (void)args;
    return mortise_reply(call, "pong");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(ping));

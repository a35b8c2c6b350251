/* expect: field 'a' of 'add' has an unknown format.datetime. \(there are date_time, date, time, email, uri, uuid, ipv4, ipv6 and hostname\) */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (string, a, "When.", format(datetime)));
static mortise_status add(mortise_call *call, const add_args *args)
{
    (void)args;
    return mortise_reply(call, "done");
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

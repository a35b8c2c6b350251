/* expect: 'add' has an unknown flag; there are MORTISE_READ_ONLY, MORTISE_CONCURRENCY_SAFE, MORTISE_LONG_RUNNING */
/* F9 */
#include <mortise/tool.h>
MORTISE_TOOL(add, 1u << 30, "Add.", (integer, a, "First.", required));
static mortise_status add(mortise_call *call, const add_args *args)
{
    return mortise_reply(call, "%d", (int)args->a);
}
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));

/* One small tool that is marked as one that needs a sandbox. */
#include <mortise/tool.h>

MORTISE_TOOL(bench_confined, MORTISE_SANDBOX_REQUIRED | MORTISE_CONCURRENCY_SAFE, "Say a number.",
    (integer, count, "Which.", required));

static mortise_status bench_confined(mortise_call *call, const bench_confined_args *args)
{
    return mortise_reply(call, "%d", (int)args->count);
}

MORTISE_PLUGIN(.name = "bench_confined", .tools = MORTISE_TOOLS(bench_confined));

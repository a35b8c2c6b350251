/* Tools of a server that is reached over HTTP: one names headers, others tell how far they are. */
#include <mortise/tool.h>

#include <poll.h>
#include <stdio.h>

static const char schema[] = "{\"type\":\"object\",\"properties\":{"
                             "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
                             "\"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"}}}";

static mortise_status routed(mortise_call *call, const char *json, void *data)
{
    (void)data;
    return mortise_reply(call, "%s", json);
}

static void add_tools(void *state, mortise_tool_list *list)
{
    (void)state;
    mortise_add_tool(list, &(mortise_new_tool){.name = "routed",
                                               .description = "Say what came.",
                                               .flags = MORTISE_READ_ONLY,
                                               .input_schema = schema,
                                               .run = routed});
}

MORTISE_TOOL_WITH(steps, (title("Steps")), MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Go on in steps.",
    (integer, count,   "How many.",            range(0, 1000)),
    (integer, wait_ms, "How long each takes.", range(0, 10000)));

static mortise_status steps(mortise_call *call, const steps_args *args)
{
    struct pollfd told = {.fd = mortise_cancel_fd(call), .events = POLLIN};
    for (int64_t i = 1; i <= args->count; i++) {
        mortise_progress(call, (double)i, (double)args->count, "on");
        if (poll(&told, 1, (int)args->wait_ms) > 0)
            return MORTISE_CANCELLED;
    }
    return mortise_reply(call, "arrived");
}

MORTISE_PLUGIN(.name = "e2e_routed", .tools = MORTISE_TOOLS(steps), .add = add_tools);

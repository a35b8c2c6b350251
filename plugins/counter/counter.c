/* State that outlives a call: open() makes it, every call reaches it, close() frees it. */
#include <mortise/tool.h>

#include <stdatomic.h>
#include <stdlib.h>

struct counter {
    atomic_ulong next; /* calls may come from several threads at once */
};

MORTISE_TOOL(counter, MORTISE_CONCURRENCY_SAFE, "Count how often this tool was called before.",
    MORTISE_NO_ARGS);

static mortise_status counter(mortise_call *call, const counter_args *args)
{
    (void)args;
    struct counter *self = mortise_state(call);
    return mortise_reply(call, "count: %lu", atomic_fetch_add(&self->next, 1));
}

static void *open_counter(const mortise_host *host)
{
    struct counter *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    return self;
}

MORTISE_PLUGIN(.name = "counter", .version = "1.0.0", .tools = MORTISE_TOOLS(counter),
               .open = open_counter, .close = free, .state_tag = "counter/1");

#include <mortise/tool.h>

MORTISE_TOOL(hello, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Say hello.",
    (string,  name,   "Who to say it to.", required),
    (boolean, loudly, "Whether to shout.", fallback(false)));

static mortise_status hello(mortise_call *call, const hello_args *args)
{
    return mortise_reply(call, args->loudly ? "HELLO, %s!" : "Hello, %s!", args->name);
}

MORTISE_PLUGIN(.name = "hello", .version = "1.0.0", .tools = MORTISE_TOOLS(hello));

/* raw_plugin - a plugin with one tool that brings its own schema, of six properties. */
#include <mortise/plugin.h>

static mortise_status run(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)args;
    return call->ops->reply(call, MORTISE_JSON_RESULT, "{\"found\":3}", 11);
}

static const mortise_tool_meta meta = {
    .size = sizeof(meta),
    .flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    .name = "bench_raw",
    .description = "Find nothing with six arguments.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"
        "\"kind\":{\"type\":\"string\",\"enum\":[\"file\",\"folder\",\"any\"]},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
        "\"newest\":{\"type\":\"boolean\"},"
        "\"size\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
        "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":8}},"
        "\"required\":[\"query\",\"kind\",\"limit\"],\"additionalProperties\":false}",
};

static const mortise_tool tool = {.size = sizeof(tool), .meta = &meta, .run = run};
static const mortise_tool *const tools[] = {&tool};

static mortise_plugin plugin = {.size = sizeof(plugin),
                                .name = "bench_raw",
                                .version = "1.0.0",
                                .tools = tools,
                                .tool_count = 1};

MORTISE_EXPORT const mortise_stamp mortise_plugin_stamp = {
    .magic = MORTISE_MAGIC,
    .abi_major = MORTISE_ABI_MAJOR,
    .abi_minor = MORTISE_ABI_MINOR,
};

MORTISE_EXPORT mortise_plugin *tool_definition(const mortise_host *host)
{
    (void)host;
    return &plugin;
}

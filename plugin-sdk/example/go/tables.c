/* The two symbols of a plugin, and what the host reads: constants and pointers, which are C. */
#include "_cgo_export.h"

static mortise_status run(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    return goRun(call, (char *)(uintptr_t)args);
}

static const mortise_tool_meta meta = {
    .size = sizeof(meta),
    .flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    .name = "parse_url",
    .description = "Take a URL apart.",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"url\":{\"type\":\"string\","
                    "\"description\":\"The URL.\"}},\"required\":[\"url\"],"
                    "\"additionalProperties\":false}",
};
static const mortise_tool tool = {.size = sizeof(tool), .meta = &meta, .run = run};
static const mortise_tool *const tools[] = {&tool};

/* Nothing changes in it, so every loading may have the same one. */
static mortise_plugin plugin = {
    .size = sizeof(plugin), .name = "urls", .version = "1.0.0", .tools = tools, .tool_count = 1};

const mortise_stamp mortise_plugin_stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR};

mortise_plugin *tool_definition(const mortise_host *host)
{
    (void)host;
    return &plugin;
}

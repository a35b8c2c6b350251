/*
 * bench_plugin - a plugin with one tool that does nothing with three arguments.
 *
 * run.py copies the built file and writes other digits over the two names, so that a thousand
 * plugins cost one compilation.  They stand here in full because they must not change width.
 */
#include <mortise/plugin.h>

struct arguments {
    const char *text;
    int64_t count;
    bool loud;
    bool has_text, has_count, has_loud;
};

static const mortise_field fields[] = {
    {.name = "text",
     .description = "What to look at.",
     .kind = MORTISE_STRING,
     .flags = MORTISE_REQUIRED,
     .offset = offsetof(struct arguments, text),
     .seen_offset = offsetof(struct arguments, has_text)},
    {.name = "count",
     .description = "How often to do it.",
     .kind = MORTISE_INTEGER,
     .flags = MORTISE_REQUIRED | MORTISE_HAS_MIN | MORTISE_HAS_MAX,
     .offset = offsetof(struct arguments, count),
     .seen_offset = offsetof(struct arguments, has_count),
     .min = 0,
     .max = 100},
    {.name = "loud",
     .description = "Whether others may hear it.",
     .kind = MORTISE_BOOLEAN,
     .flags = MORTISE_REQUIRED,
     .offset = offsetof(struct arguments, loud),
     .seen_offset = offsetof(struct arguments, has_loud)},
};

static const mortise_shape shape = {
    .size = sizeof(shape),
    .struct_size = sizeof(struct arguments),
    .field_size = sizeof(mortise_field),
    .field_count = sizeof(fields) / sizeof(*fields),
    .fields = fields,
};

static const mortise_tool_meta meta = {
    .size = sizeof(meta),
    .flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    .name = "bench_tool_0000",
    .description = "Do nothing with three arguments.",
    .shape = &shape,
};

static mortise_status run(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)args;
    return call->ops->reply(call, MORTISE_JSON_RESULT, "{\"text\":\"hello\",\"count\":3}", 26);
}

static const mortise_tool tool = {.size = sizeof(tool), .meta = &meta, .run = run};
static const mortise_tool *const tools[] = {&tool};

static mortise_plugin plugin = {
    .size = sizeof(plugin),
    .name = "bench_plug_0000",
    .version = "1.0.0",
    .tools = tools,
    .tool_count = 1,
};

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

/*
 * A plugin in terms of plugin.h alone, which is built against the interface of long ago, of today
 * and of the future (NEXT: every struct has one more member, `next_member`).
 */
#include <stdio.h>
#include <string.h>

#include <mortise/services.h>

/* ---- typed ---- */

struct add_args {
    int64_t a;
    double b;
    const char *unit;
    bool saw_a, saw_b, saw_unit;
};

static const mortise_field add_fields[] = {
    {.name = "a", .description = "One.", .kind = MORTISE_INTEGER, .flags = MORTISE_REQUIRED,
     .offset = offsetof(struct add_args, a), .seen_offset = offsetof(struct add_args, saw_a)},
    {.name = "b", .description = "Two.", .kind = MORTISE_NUMBER, .fallback = "0.5",
     .offset = offsetof(struct add_args, b), .seen_offset = offsetof(struct add_args, saw_b)},
    {.name = "unit", .description = "Of both.", .kind = MORTISE_STRING,
     .choices = (const char *const[]){"m", "km", NULL}, .fallback = "\"m\"",
     .offset = offsetof(struct add_args, unit), .seen_offset = offsetof(struct add_args, saw_unit)},
};
static const mortise_shape add_shape = {.size = sizeof(add_shape),
                                        .struct_size = sizeof(struct add_args),
                                        .field_size = sizeof(mortise_field),
                                        .field_count = 3,
                                        .fields = add_fields};

static mortise_status add(const mortise_tool *self, mortise_call *call, const void *data)
{
    const struct add_args *args = data;
    char text[64];
    (void)self;
    int length = snprintf(text, sizeof(text), "%g %s", (double)args->a + args->b, args->unit);
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text, (size_t)length);
}

static const mortise_tool_meta add_meta = {.size = sizeof(add_meta),
                                           .flags = MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
                                           .name = "compat_add",
                                           .description = "Add.",
#ifdef NEXT
                                           .next_member = 1,
#endif
                                           .shape = &add_shape};
static const mortise_tool add_tool = {.size = sizeof(add_tool), .meta = &add_meta, .run = add};

/* ---- JSON text, answered later; tells what it finds of the host ---- */

static mortise_status probe(const mortise_tool *self, mortise_call *call, const void *json)
{
    const char *user = call->ops->context(call, "user");
    char *text = call->ops->alloc(call, 256);
    if (!text)
        return MORTISE_NO_MEMORY;
    (void)self;
    int length = snprintf(text, 256, "json=%s user=%s none=%s services=%s next=%s",
                          (const char *)json, user ? user : "NULL",
                          mortise_service(call, "no.such.service/1") ? "found" : "NULL",
                          MORTISE_HAS(call->ops, mortise_call_ops, service) ? "yes" : "no",
#ifdef NEXT
                          MORTISE_HAS(call->ops, mortise_call_ops, next_member) ? "yes" : "no"
#else
                          "unknown"
#endif
    );
    call->ops->reply(call, MORTISE_TEXT_RESULT, text, (size_t)length);
    call->ops->finish(call, MORTISE_OK);
    return MORTISE_PENDING;
}

static const mortise_tool_meta probe_meta = {
    .size = sizeof(probe_meta), .name = "compat_probe", .input_schema = "{\"type\":\"object\"}"};
static const mortise_tool probe_tool = {
    .size = sizeof(probe_tool), .meta = &probe_meta, .run = probe};

/* ---- hooks ---- */

static mortise_verdict refuse_probe(void *state, mortise_hook *hook,
                                    const mortise_pre_tool_call *event)
{
    static const char why[] = "compat says no";
    (void)state;
    if (strcmp(event->meta->name, "compat_probe") != 0)
        return MORTISE_CONTINUE;
    hook->ops->reason(hook, why, sizeof(why) - 1);
    return MORTISE_SKIP;
}

static const mortise_hooks hooks = {
    .size = sizeof(hooks), .name = "compat", .pre_tool_call = refuse_probe};

/* ---- the plugin ---- */

static const mortise_tool *const all_tools[] = {&add_tool, &probe_tool};
static const mortise_hooks *const all_hooks[] = {&hooks};
static mortise_plugin plugin = {.size = sizeof(plugin),
                                .name = "compat",
                                .version = "1",
                                .tools = all_tools,
                                .tool_count = 2,
                                .hooks = all_hooks,
                                .hook_count = 1};

const mortise_stamp mortise_plugin_stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR};

mortise_plugin *tool_definition(const mortise_host *host)
{
    host->log(host, MORTISE_LOG_DEBUG, host->config(host));
    return &plugin;
}

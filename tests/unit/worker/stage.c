#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/host_api.h"
#include "provider/script.h"
#include "stage.h"

/* ---- tools ---- */

static struct stage *current;

static mortise_status reply(mortise_call *call, const char *text)
{
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text, strlen(text));
}

static mortise_status run_echo(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    (void)self;
    current->calls++;
    return reply(call, arguments);
}

static mortise_status run_fail(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    static const char message[] = "no luck";
    const mortise_error error = {
        .size = sizeof(error), .message = message, .message_length = sizeof(message) - 1};
    (void)self;
    (void)arguments;
    current->calls++;
    return (call->ops->fail)(call, &error); /* not the macro of cmocka */
}

static mortise_status run_big(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    char text[201];
    (void)self;
    (void)arguments;
    current->calls++;
    memset(text, 'x', 200);
    text[200] = '\0';
    return reply(call, text);
}

static mortise_status run_look(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    (void)self;
    (void)arguments;
    current->calls++;
    return reply(call, "seen");
}

#define TOOL(tool, bits)                                                                           \
    static const mortise_tool_meta tool##_meta = {.size = sizeof(mortise_tool_meta),               \
                                                  .name = #tool,                                   \
                                                  .description = "For the test.",                  \
                                                  .flags = (bits),                                 \
                                                  .input_schema = "{\"type\":\"object\"}"};        \
    static const mortise_tool tool##_tool = {                                                      \
        .size = sizeof(mortise_tool), .meta = &tool##_meta, .run = run_##tool}
TOOL(echo, 0);
TOOL(fail, 0);
TOOL(big, 0);
TOOL(look, MORTISE_READ_ONLY);

static const mortise_tool *const tools[] = {&echo_tool, &fail_tool, &big_tool, &look_tool};

struct registry *stage_registry(const mortise_hooks *hooks)
{
    static const mortise_hooks *taken[2]; /* two registries may be alive at a time */
    static mortise_plugin faces[2];
    static unsigned next;
    struct error error = ERROR_INIT;
    unsigned i = next++ % 2;
    taken[i] = hooks;
    faces[i] = (mortise_plugin){.size = sizeof(faces[i]),
                                .name = "stage",
                                .tools = tools,
                                .tool_count = 4,
                                .hooks = &taken[i],
                                .hook_count = hooks ? 1 : 0};
    struct registry *registry = registry_new();
    struct plugin *plugin = plugin_new("stage.so", &faces[i], host_api_new("stage", strdup("{}"), NULL));
    assert_non_null(plugin);
    if (!registry_add(registry, plugin, &error))
        fail_msg("%s", error.message);
    return registry;
}

/* ---- the model ---- */

static struct client *open_script(const char *turns)
{
    char path[] = "/tmp/stage.XXXXXX";
    struct error error = ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "{\"turns\":[%s]}", turns);
    close(fd);
    struct client *client = script_client_new(path, &error);
    unlink(path);
    if (!client)
        fail_msg("%s", error.message);
    client->max_attempts = 1;
    return client;
}

/* ---- the stage ---- */

static size_t limit(void *data, const char *tool)
{
    (void)data;
    return strcmp(tool, "big") == 0 ? 127 : 65536;
}

static void note(void *self, const struct event *event)
{
    struct stage *stage = self;
    const char *name = event_kind_name(event->kind);
    if (name)
        text_printf(&stage->trace, "%s ", name);
}

void stage_open(struct stage *stage, const char *turns, const mortise_hooks *hooks)
{
    struct error error = ERROR_INIT;
    *stage = (struct stage){0};
    current = stage;
    stage->registry = stage_registry(hooks);
    stage->client = open_script(turns);
    stage->pool = pool_new(4);
    stage->cancel = cancel_new();
    stage->options = (struct worker_options){
        .client = stage->client,
        .registry = stage->registry,
        .pool = stage->pool,
        .cancel = stage->cancel,
        .config = REQUEST_CONFIG_INIT,
        .max_turns = 10,
        .timeout_ms = -1,
        .result_limit = limit,
    };
    stage->worker = worker_new(&stage->options, &error);
    assert_non_null(stage->worker);
    assert_true(timeline_add(worker_timeline(stage->worker), EVENT_ALL, note, stage));
}

void stage_close(struct stage *stage)
{
    worker_result_release(&stage->result);
    worker_free(stage->worker);
    client_free(stage->client);
    assert_int_equal(pool_free(stage->pool, 1000), 0);
    registry_unref(stage->registry);
    cancel_unref(stage->cancel);
    text_release(&stage->trace);
}

enum worker_status stage_run(struct stage *stage, const char *prompt)
{
    worker_result_release(&stage->result);
    text_reset(&stage->trace);
    worker_run(stage->worker, prompt, strlen(prompt), &stage->result);
    return stage->result.status;
}

enum worker_status stage_resume(struct stage *stage)
{
    worker_result_release(&stage->result);
    text_reset(&stage->trace);
    worker_resume(stage->worker, &stage->result);
    return stage->result.status;
}

void stage_renew(struct stage *stage)
{
    worker_free(stage->worker);
    stage->worker = worker_new(&stage->options, NULL);
    assert_non_null(stage->worker);
    assert_true(timeline_add(worker_timeline(stage->worker), EVENT_ALL, note, stage));
}

size_t stage_item_count(const struct stage *stage)
{
    return worker_history(stage->worker)->count;
}

const char *stage_item(struct stage *stage, size_t index)
{
    static struct text json;
    const struct history *history = worker_history(stage->worker);
    text_release(&json);
    if (index >= history->count)
        return NULL;
    item_write_json(history->items[index], &json);
    return text_cstr(&json);
}

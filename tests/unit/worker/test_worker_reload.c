/* Another set of plugins while a worker lives: R4, W8-W14 where a lock is meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "plugin/host_api.h"
#include "plugin/registry.h"
#include "stage.h"

#define CALL(tool) "{\"calls\":[{\"name\":\"" tool "\"}]}"

/* ---- a plugin that is not there at first ---- */

static int closed, prompts, ends;

static mortise_status run_other(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)args;
    return call->ops->reply(call, MORTISE_TEXT_RESULT, "other", 5);
}

static mortise_verdict note_prompt(void *state, mortise_hook *hook,
                                   const mortise_prompt_submit *event)
{
    (void)state, (void)hook, (void)event;
    prompts++;
    return MORTISE_CONTINUE;
}

static mortise_verdict note_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    (void)state, (void)hook, (void)event;
    ends++;
    return MORTISE_CONTINUE;
}

static const mortise_tool_meta other_meta = {.size = sizeof(other_meta),
                                             .name = "other",
                                             .description = "For the test.",
                                             .input_schema = "{\"type\":\"object\"}"};
static const mortise_tool other_tool = {
    .size = sizeof(other_tool), .meta = &other_meta, .run = run_other};
static const mortise_tool *const other_tools[] = {&other_tool};
static const mortise_hooks other_hook = {.size = sizeof(other_hook),
                                         .name = "notes",
                                         .prompt_submit = note_prompt,
                                         .turn_end = note_end};
static const mortise_hooks *const other_hooks[] = {&other_hook};

static void close_other(mortise_plugin *self)
{
    (void)self;
    closed++;
}

static struct registry *other_registry(void)
{
    static mortise_plugin face = {.size = sizeof(face),
                                  .name = "other",
                                  .tools = other_tools,
                                  .tool_count = 1,
                                  .hooks = other_hooks,
                                  .hook_count = 1,
                                  .close = close_other};
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    struct plugin *plugin = plugin_new("other.so", &face, host_api_new("other", strdup("{}"), NULL));
    if (!registry_add(registry, plugin, &error))
        fail_msg("%s", error.message);
    return registry;
}

/* ---- what the worker is told to use ---- */

struct latest {
    struct registry *first, *second; /* borrowed */
    int asked;
    int changes; /* the question from which on the second is the answer */
};

static struct registry *answer(void *data)
{
    struct latest *latest = data;
    return registry_ref(latest->asked++ < latest->changes ? latest->first : latest->second);
}

static void open_with(struct stage *stage, struct latest *latest, const char *turns, int changes)
{
    closed = prompts = ends = 0;
    stage_open(stage, turns, NULL);
    *latest = (struct latest){stage->registry, other_registry(), 0, changes};
    stage->options.latest = answer;
    stage->options.latest_data = latest;
    stage_renew(stage);
}

static void has_output(struct stage *stage, size_t index, const char *part)
{
    const char *item = stage_item(stage, index);
    if (!item || !strstr(item, part))
        fail_msg("'%s' is not in '%s'", part, item ? item : "(nothing)");
}

/* ---- the tests ---- */

/* R4: the tool is there for the request before, and gone for the next; the name is harmless. */
static void a_run_takes_it_between_two_requests(void **state)
{
    struct stage stage;
    struct latest latest;
    (void)state;
    /* asked: at the beginning, then before each request */
    open_with(&stage, &latest, CALL("echo") "," CALL("echo") "," CALL("other") ",{\"text\":\"ok\"}",
              2);
    assert_int_equal(stage_run(&stage, "go"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 1);
    has_output(&stage, 2, "\"output\":\"{}\"");
    has_output(&stage, 4, "Tool 'echo' not found");
    has_output(&stage, 6, "\"output\":\"other\"");
    assert_ptr_equal(worker_registry(stage.worker), latest.second);
    assert_int_equal(latest.asked, 5);
    /* The hooks of a plugin that came in the middle see the rest. */
    assert_int_equal(prompts, 0);
    assert_int_equal(ends, 1);
    registry_unref(latest.second);
    assert_int_equal(closed, 0); /* the worker has it */
    latest.second = stage.registry;
    stage_close(&stage);
    assert_int_equal(closed, 1);
}

static void a_run_begins_with_it(void **state)
{
    struct stage stage;
    struct latest latest;
    (void)state;
    open_with(&stage, &latest, "{\"text\":\"ok\"}", 0);
    assert_ptr_equal(worker_registry(stage.worker), stage.registry);
    assert_int_equal(stage_run(&stage, "go"), WORKER_FINISHED);
    assert_ptr_equal(worker_registry(stage.worker), latest.second);
    assert_int_equal(prompts, 1);
    registry_unref(latest.second);
    stage_close(&stage);
}

/* R4, W10: a locked session keeps its tools until it is unlocked. */
static void a_locked_worker_keeps_its_tools(void **state)
{
    struct stage stage;
    struct latest latest;
    (void)state;
    open_with(&stage, &latest, CALL("echo") ",{\"text\":\"one\"}," CALL("echo") ",{\"text\":\"two\"},"
              CALL("other") ",{\"text\":\"three\"}", 3);
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    worker_lock(stage.worker);
    assert_int_equal(stage_run(&stage, "2"), WORKER_FINISHED);
    assert_ptr_equal(worker_registry(stage.worker), stage.registry);
    assert_int_equal(stage.calls, 2);
    assert_int_equal(prompts, 0);
    worker_unlock(stage.worker);
    assert_ptr_equal(worker_registry(stage.worker), latest.second);
    assert_int_equal(stage_run(&stage, "3"), WORKER_FINISHED);
    has_output(&stage, stage_item_count(&stage) - 2, "\"output\":\"other\"");
    registry_unref(latest.second);
    stage_close(&stage);
}

/* What a model sees is locked: other code behind the same tools is none of its business. */
static void a_locked_worker_takes_what_looks_the_same(void **state)
{
    struct stage stage;
    struct latest latest;
    (void)state;
    open_with(&stage, &latest, "{\"text\":\"one\"}", 0);
    registry_unref(latest.second);
    latest.second = stage_registry(NULL);
    worker_lock(stage.worker);
    assert_int_equal(stage_run(&stage, "1"), WORKER_FINISHED);
    assert_ptr_equal(worker_registry(stage.worker), latest.second);
    registry_unref(latest.second);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_takes_it_between_two_requests),
        cmocka_unit_test(a_run_begins_with_it),
        cmocka_unit_test(a_locked_worker_keeps_its_tools),
        cmocka_unit_test(a_locked_worker_takes_what_looks_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

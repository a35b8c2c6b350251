#include "scene.h"

static void record(void *self, const struct event *event)
{
    struct scene *scene = self;
    struct text *told = &scene->told;
    switch ((int)event->kind) {
    case EVENT_TOOL_PROGRESS:
        text_printf(told, "progress %s %s: %.*s\n", event->as.tool_progress.id,
                    event->as.tool_progress.stream ? event->as.tool_progress.stream : "-",
                    (int)event->as.tool_progress.text.length, event->as.tool_progress.text.data);
        break;
    case EVENT_TOOL_RESULT:
        text_printf(told, "result %s %s: %.*s\n", event->as.tool_result.id,
                    event->as.tool_result.success ? "ok" : event->as.tool_result.category,
                    (int)event->as.tool_result.result.length, event->as.tool_result.result.data);
        break;
    default:
        text_printf(told, "hook %s %s\n", event->as.hook.event, event->as.hook.decision);
    }
}

void scene_init(struct scene *scene, const mortise_tool *const *tools,
                const mortise_hooks *const *hooks)
{
    *scene = (struct scene){0};
    scene->registry = fake_registry(tools, hooks);
    scene->pool = pool_new(SCENE_MAX);
    timeline_init(&scene->timeline);
    timeline_add(&scene->timeline,
                 EVENT_BIT(EVENT_TOOL_PROGRESS) | EVENT_BIT(EVENT_TOOL_RESULT) |
                     EVENT_BIT(EVENT_HOOK),
                 record, scene);
    scene->hooks.registry = scene->registry;
    scene->hooks.timeline = &scene->timeline;
    scene->dispatch = (struct dispatch){.registry = scene->registry,
                                        .pool = scene->pool,
                                        .timeline = &scene->timeline,
                                        .hooks = &scene->hooks,
                                        .deadline_ms = -1,
                                        .grace_ms = 2000};
}

void scene_release(struct scene *scene)
{
    for (size_t i = 0; i < scene->count; i++)
        tool_result_release(&scene->calls[i].result);
    pool_free(scene->pool, 5000);
    timeline_release(&scene->timeline);
    text_release(&scene->told);
    registry_unref(scene->registry);
}

void scene_call(struct scene *scene, const char *id, const char *name, const char *arguments)
{
    assert_true(scene->count < SCENE_MAX);
    scene->calls[scene->count++] = (struct dispatch_call){
        .id = id, .name = name, .arguments = {arguments, strlen(arguments)}, .valid = true};
}

void scene_bad_call(struct scene *scene, const char *id, const char *name, const char *arguments,
                    const char *reason)
{
    scene_call(scene, id, name, arguments);
    scene->calls[scene->count - 1].valid = false;
    scene->calls[scene->count - 1].invalid_reason = reason;
}

enum dispatch_end scene_run(struct scene *scene)
{
    return dispatch_run(&scene->dispatch, scene->calls, scene->count, &scene->outcome);
}

const char *scene_told(const struct scene *scene)
{
    return text_cstr(&scene->told);
}

const char *scene_text(const struct scene *scene, size_t index)
{
    return text_cstr(&scene->calls[index].result.text);
}

static bool applies(const struct scripted *script, const char *call_id)
{
    return !script->call_id || strcmp(script->call_id, call_id) == 0;
}

static void give_reason(const struct scripted *script, mortise_hook *hook)
{
    if (script->reason)
        hook->ops->reason(hook, script->reason, strlen(script->reason));
}

mortise_verdict scripted_pre(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    const struct scripted *script = state;
    if (!applies(script, event->call_id))
        return MORTISE_CONTINUE;
    give_reason(script, hook);
    if (script->arguments)
        hook->ops->set_arguments(hook, script->arguments, strlen(script->arguments));
    if (script->result)
        hook->ops->respond(hook, script->is_error, script->result, strlen(script->result));
    return script->verdict;
}

mortise_verdict scripted_post(void *state, mortise_hook *hook, const mortise_post_tool_call *event)
{
    const struct scripted *script = state;
    if (!applies(script, event->call_id))
        return MORTISE_CONTINUE;
    give_reason(script, hook);
    if (script->result)
        hook->ops->set_result(hook, script->is_error, script->result, strlen(script->result));
    return script->verdict;
}

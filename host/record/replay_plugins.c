/* Stand-ins for the recorded plugins: tools that are never entered, and hooks that do again what
 * they did. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "plugin/meta.h"
#include "record/replay_state.h"

/* One hook; `table.state` points to it. */
struct stand_in_hook {
    mortise_hooks table;
    struct replay *replay;
    char *full_name; /* "PLUGIN/NAME" */
};

/* What plugin.h wants of a plugin, and where all of it lies. */
struct stand_in {
    mortise_plugin face; /* first: close() gets its address */
    struct arena memory;
    mortise_tool_meta *metas;
    mortise_tool *tools;
    const mortise_tool **tool_list;
    struct stand_in_hook *hooks;
    const mortise_hooks **hook_list;
};

/* ---- what they do ---- */

#define STAND_IN(member, type)                                                                     \
    static mortise_verdict on_##member(void *state, mortise_hook *face, const type *event)         \
    {                                                                                              \
        const struct stand_in_hook *hook = state;                                                  \
        (void)event;                                                                               \
        return replay_hook(hook->replay, hook->full_name, HOOK_##member, face);                    \
    }
STAND_IN(prompt_submit, mortise_prompt_submit)
STAND_IN(pre_llm_request, mortise_pre_llm_request)
STAND_IN(pre_tool_call, mortise_pre_tool_call)
STAND_IN(post_tool_call, mortise_post_tool_call)
STAND_IN(turn_end, mortise_turn_end)
STAND_IN(on_abort, mortise_abort)
STAND_IN(text_delta, mortise_text_delta)
STAND_IN(tool_call_delta, mortise_tool_call_delta)
STAND_IN(stream_chunk, mortise_stream_chunk)
STAND_IN(stream_complete, mortise_stream_complete)

static void take_event(mortise_hooks *table, const char *event)
{
#define X(member, name)                                                                            \
    if (strcmp(event, name) == 0)                                                                  \
        table->member = on_##member;
    HOOK_EVENTS(X)
#undef X
}

/* Every call has its result before it comes so far. */
static mortise_status run_nothing(const mortise_tool *tool, mortise_call *call,
                                  const void *arguments)
{
    (void)tool;
    (void)call;
    (void)arguments;
    return MORTISE_UNSUPPORTED;
}

static void close_stand_in(mortise_plugin *face)
{
    struct stand_in *stand_in = (struct stand_in *)face;
    arena_release(&stand_in->memory);
    free(stand_in);
}

/* ---- what they say they are ---- */

static const char *keep(struct stand_in *stand_in, const char *string)
{
    return arena_copy(&stand_in->memory, string ? string : "", string ? strlen(string) : 0);
}

static bool make_tools(struct stand_in *stand_in, const json_t *list)
{
    size_t count = json_array_size(list);
    stand_in->metas = arena_alloc(&stand_in->memory, count * sizeof(*stand_in->metas));
    stand_in->tools = arena_alloc(&stand_in->memory, count * sizeof(*stand_in->tools));
    stand_in->tool_list = arena_alloc(&stand_in->memory, count * sizeof(*stand_in->tool_list));
    if (!stand_in->metas || !stand_in->tools || !stand_in->tool_list)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = keep(stand_in, json_member_string(json_array_get(list, i), "name"));
        if (!name)
            return false;
        stand_in->metas[i] = (mortise_tool_meta){.size = sizeof(mortise_tool_meta),
                                                 .name = name,
                                                 .input_schema = "{\"type\":\"object\"}"};
        stand_in->tools[i] = (mortise_tool){
            .size = sizeof(mortise_tool), .meta = &stand_in->metas[i], .run = run_nothing};
        stand_in->tool_list[i] = &stand_in->tools[i];
    }
    stand_in->face.tools = stand_in->tool_list;
    stand_in->face.tool_count = count;
    return true;
}

static bool make_hook(struct stand_in *stand_in, struct replay *replay, const json_t *from,
                      struct stand_in_hook *hook)
{
    struct text name = TEXT_INIT;
    const json_t *events = json_object_get(from, "events");
    const char *own = keep(stand_in, json_member_string(from, "name"));
    text_printf(&name, "%s/%s", stand_in->face.name, own ? own : "");
    *hook = (struct stand_in_hook){
        .table = {.size = sizeof(hook->table),
                  .priority = (int32_t)json_member_integer(from, "priority", 0),
                  .name = own,
                  .state = hook},
        .replay = replay,
        .full_name = text_keep(&name, &stand_in->memory)};
    for (size_t i = 0; i < json_array_size(events); i++) {
        const char *event = json_string_value(json_array_get(events, i));
        take_event(&hook->table, event ? event : "");
    }
    return own && hook->full_name;
}

static bool make_hooks(struct stand_in *stand_in, struct replay *replay, const json_t *list)
{
    size_t count = json_array_size(list);
    stand_in->hooks = arena_alloc(&stand_in->memory, count * sizeof(*stand_in->hooks));
    stand_in->hook_list = arena_alloc(&stand_in->memory, count * sizeof(*stand_in->hook_list));
    if (!stand_in->hooks || !stand_in->hook_list)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!make_hook(stand_in, replay, json_array_get(list, i), &stand_in->hooks[i]))
            return false;
        stand_in->hook_list[i] = &stand_in->hooks[i].table;
    }
    stand_in->face.hooks = stand_in->hook_list;
    stand_in->face.hook_count = count;
    return true;
}

static struct stand_in *make_stand_in(struct replay *replay, const json_t *from)
{
    struct stand_in *stand_in = calloc(1, sizeof(*stand_in));
    if (!stand_in)
        return NULL;
    arena_init(&stand_in->memory, NULL, 0);
    const char *version = json_member_string(from, "version");
    stand_in->face = (mortise_plugin){.size = sizeof(stand_in->face),
                                      .name = keep(stand_in, json_member_string(from, "name")),
                                      .version = version ? keep(stand_in, version) : NULL,
                                      .close = close_stand_in};
    if (stand_in->face.name && (!version || stand_in->face.version) &&
        make_tools(stand_in, json_object_get(from, "tools")) &&
        make_hooks(stand_in, replay, json_object_get(from, "hooks")))
        return stand_in;
    close_stand_in(&stand_in->face);
    return NULL;
}

/* ---- as the host has read them ---- */

static uint32_t flags_of(const json_t *list)
{
    uint32_t flags = 0, bit;
    const char *name;
    for (size_t i = 0; (name = tool_flag(i, &bit)); i++)
        for (size_t j = 0; j < json_array_size(list); j++) {
            const char *listed = json_string_value(json_array_get(list, j));
            if (listed && strcmp(listed, name) == 0)
                flags |= bit;
        }
    return flags;
}

/* Descriptions and schemas were recorded as the host made them: it must not do so once more. */
static bool complete_tools(struct plugin *plugin, const json_t *list)
{
    for (size_t i = 0; i < plugin->tool_count; i++) {
        const json_t *from = json_array_get(list, i);
        struct tool *tool = plugin->tools[i];
        const char *description = json_member_string(from, "description");
        const char *schema = json_member_string(from, "input_schema");
        tool->meta.flags = flags_of(json_object_get(from, "flags"));
        tool->is_confined = true; /* what answers in its place needs no sandbox */
        tool->meta.description = plugin_copy(plugin, description ? description : "");
        tool->meta.input_schema =
            plugin_copy(plugin, schema ? schema : tool->instance->meta->input_schema);
        if (!tool->meta.description || !tool->meta.input_schema)
            return false;
    }
    return true;
}

static bool add(struct replay *replay, struct registry *registry, const json_t *from,
                struct error *error)
{
    struct stand_in *stand_in = make_stand_in(replay, from);
    const char *file = json_member_string(from, "file");
    struct plugin *plugin = stand_in ? plugin_new(file ? file : "?", &stand_in->face, NULL) : NULL;
    if (!plugin) {
        if (stand_in)
            close_stand_in(&stand_in->face);
        return error_memory(error);
    }
    bool ok = plugin_read(plugin, error) &&
              (complete_tools(plugin, json_object_get(from, "tools")) || error_memory(error));
    plugin->ignores_failures = json_member_true(from, "ignores_failures");
    ok = ok && registry_add(registry, plugin, error);
    if (!ok)
        plugin_unref(plugin);
    return ok;
}

struct registry *replay_plugins(struct replay *replay, const struct record *record,
                                struct error *error)
{
    struct registry *registry = registry_new();
    json_t *value = record_value(record, error);
    const json_t *list = json_object_get(value, "plugins");
    bool ok = value && (registry || error_memory(error));
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = add(replay, registry, json_array_get(list, i), error);
    json_decref(value);
    if (ok)
        return registry;
    registry_unref(registry);
    return NULL;
}

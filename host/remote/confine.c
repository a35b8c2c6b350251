/* The tools of a plugin that are marked MORTISE_SANDBOX_REQUIRED, and the process for their calls.
 */
#include <string.h>

#include "plugin/registry.h"
#include "remote/remote.h"
#include "remote/rules.h"

/* One face for each tool of the plugin, of which those that need it are used. */
static bool make_faces(struct remote *remote, struct plugin *plugin)
{
    struct remote_tool *tools = arena_alloc(&remote->memory, plugin->tool_count * sizeof(*tools));
    for (size_t i = 0; tools && i < plugin->tool_count; i++) {
        struct tool *tool = plugin->tools[i];
        if (!(tool->meta.flags & MORTISE_SANDBOX_REQUIRED))
            continue;
        tools[i] = (struct remote_tool){.remote = remote, .index = (uint32_t)i};
        tools[i].face = (mortise_tool){.size = sizeof(tools[i].face),
                                       .meta = &tool->meta,
                                       .state = &tools[i],
                                       .run = remote_run};
        if (tool_may_be_left_out(tool->instance))
            tools[i].face.options = MORTISE_MAY_BE_LEFT_OUT;
        tool->instance = &tools[i].face;
        tool->is_confined = true;
    }
    return tools;
}

bool remote_confine(struct plugin *plugin, struct error *error)
{
    const struct isolation *isolation = &plugin->isolation;
    if (isolation->is_sandbox)
        return error_set(error, ERROR_PLUGIN,
                         "it has tools that run in sandboxes of their own, which cannot be made in "
                         "the one that its \"isolation\" in the configuration wants: let that be "
                         "\"process\"");
    struct remote *remote = remote_new(isolation, plugin->path, &plugin->file,
                                       *plugin->sha256 ? plugin->sha256 : NULL, plugin->api, error);
    if (!remote)
        return false;
    remote->confines = plugin;
    remote->face.name = plugin->name;
    remote->output_bytes = rules_output_bytes(isolation->grants);
    remote->has_no_network = !rules_have_network(isolation->grants);
    plugin->confined = &remote->face;
    if (!plugin->is_set_aside)
        plugin->is_set_aside = &remote->is_set_aside;
    return make_faces(remote, plugin) || error_memory(error);
}

/* ---- what its process says ---- */

static bool same_tool(const struct tool *tool, const mortise_tool *said)
{
    return said->meta->name && strcmp(tool->own_name, said->meta->name) == 0 &&
           tool->meta.flags == said->meta->flags;
}

bool remote_fits(struct remote *remote, struct parcel *message, struct error *error)
{
    const struct plugin *plugin = remote->confines;
    struct remote said = {0};
    arena_init(&said.memory, NULL, 0);
    bool fits = remote_read_face(&said, message) && said.face.tool_count == plugin->tool_count;
    for (size_t i = 0; fits && i < plugin->tool_count; i++)
        fits = same_tool(plugin->tools[i], said.face.tools[i]);
    arena_release(&said.memory);
    return fits || error_set(error, ERROR_PLUGIN,
                             "it says something else of itself than when it was loaded: load it "
                             "anew");
}

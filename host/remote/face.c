/* What a plugin says of itself, read from its process: nothing of it is checked here but that it
 * can be read, because the host reads it again as that of any other plugin. */
#include "remote/remote.h"
#include "remote/take.h"

#define ENTRIES_MAX 10000
#define TEXTS_MAX   100

static bool read_tool(struct remote *remote, struct parcel *message, struct remote_tool *tool)
{
    const mortise_tool_meta *meta = take_meta(message, &remote->memory, TEXTS_MAX);
    tool->face =
        (mortise_tool){.size = sizeof(tool->face), .meta = meta, .state = tool, .run = remote_run};
    tool->face.options = parcel_u32(message) & MORTISE_MAY_BE_LEFT_OUT;
    tool->remote = remote;
    return !message->bad;
}

static bool read_tools(struct remote *remote, struct parcel *message)
{
    uint32_t count = parcel_u32(message);
    if (message->bad || count > ENTRIES_MAX)
        return false;
    struct remote_tool *tools = arena_alloc(&remote->memory, (count + 1) * sizeof(*tools));
    const mortise_tool **list = arena_alloc(&remote->memory, (count + 1) * sizeof(*list));
    if (!tools || !list)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_tool(remote, message, &tools[i]))
            return false;
        tools[i].index = i;
        list[i] = &tools[i].face;
    }
    remote->face.tools = list;
    remote->face.tool_count = count;
    return true;
}

static bool read_hooks(struct remote *remote, struct parcel *message)
{
    uint32_t count = parcel_u32(message);
    if (message->bad || count > ENTRIES_MAX)
        return false;
    struct remote_hook *hooks = arena_alloc(&remote->memory, (count + 1) * sizeof(*hooks));
    const mortise_hooks **list = arena_alloc(&remote->memory, (count + 1) * sizeof(*list));
    if (!hooks || !list)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct remote_hook *hook = &hooks[i];
        hook->face = (mortise_hooks){.size = sizeof(hook->face), .state = hook};
        hook->face.name = take_string(message, &remote->memory);
        hook->face.priority = (int32_t)parcel_u32(message);
        hook->remote = remote;
        hook->index = i;
        remote_hook_fill(hook, parcel_u32(message));
        list[i] = &hook->face;
    }
    remote->face.hooks = list;
    remote->face.hook_count = count;
    return !message->bad;
}

bool remote_read_face(struct remote *remote, struct parcel *message)
{
    remote->face.name = take_string(message, &remote->memory);
    remote->face.version = take_string(message, &remote->memory);
    return read_tools(remote, message) && read_hooks(remote, message) && parcel_ends(message);
}

/* A bridge: its tools are found while it is loaded, each with a function and data of its own. */
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tool on the other side. */
struct remote {
    char name[32];
    int64_t factor;
};

static mortise_status call_remote(mortise_call *call, const char *json, void *data)
{
    const struct remote *remote = data;
    int64_t n = 1;
    if (mortise_json_integer(json, "n", &n) == MORTISE_INVALID)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "bridge.n", "'n' is no whole number");
    return mortise_reply(call, "%s: %lld", remote->name, (long long)(n * remote->factor));
}

static void add_remote(mortise_tool_list *list, const char *name, int64_t factor,
                       const char *schema)
{
    char description[64];
    struct remote *remote = calloc(1, sizeof(*remote));
    if (!remote)
        return;
    snprintf(remote->name, sizeof(remote->name), "%s", name);
    snprintf(description, sizeof(description), "Multiply by %lld.", (long long)factor);
    remote->factor = factor;
    mortise_add_tool(list, &(mortise_new_tool){.name = name,
                                               .description = description,
                                               .flags = MORTISE_READ_ONLY,
                                               .input_schema = schema,
                                               .run = call_remote,
                                               .data = remote,
                                               .release = free});
}

/* What the other side would answer when it is asked for its tools. */
static void add_tools(void *state, mortise_tool_list *list)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
        "\"required\":[\"n\"],\"additionalProperties\":false}";
    (void)state;
    for (int i = 2; i <= 4; i++) {
        char name[32];
        snprintf(name, sizeof(name), "times_%d", i);
        add_remote(list, name, i, schema);
    }
    add_remote(list, "loose", 10, NULL);
}

MORTISE_TOOL(bridge_status, MORTISE_READ_ONLY, "Tell whether the bridge stands.", MORTISE_NO_ARGS);

static mortise_status bridge_status(mortise_call *call, const bridge_status_args *args)
{
    (void)args;
    return mortise_reply(call, "it stands");
}

MORTISE_PLUGIN(.name = "e2e_bridge", .tools = MORTISE_TOOLS(bridge_status), .add = add_tools);

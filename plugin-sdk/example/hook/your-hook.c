/* A hook that is asked before each call of a tool: destructive ones run only if they are allowed.
 *
 *     {"plugin-config": {"your-hook": {"allow": ["delete_file"]}}}
 */
#include <mortise/tool.h>

#include <stdlib.h>
#include <string.h>

struct your_hook {
    char **allowed; /* names of tools, NULL-terminated; NULL: none */
};

/* Once, when the plugin is loaded. */
static void *your_hook_open(const mortise_host *host)
{
    struct your_hook *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    mortise_status status = mortise_config_strings(host, "allow", &self->allowed);
    if (status != MORTISE_OK && status != MORTISE_NOT_FOUND) {
        free(self);
        return mortise_refuse(host, "\"allow\" is not a list of names of tools");
    }
    return self;
}

static void your_hook_close(void *state)
{
    struct your_hook *self = state;
    free(self->allowed);
    free(self);
}

static bool your_hook_allows(const struct your_hook *self, const mortise_tool_meta *tool)
{
    if (!(tool->flags & MORTISE_DESTRUCTIVE))
        return true;
    for (size_t i = 0; self->allowed && self->allowed[i]; i++)
        if (strcmp(self->allowed[i], tool->name) == 0)
            return true;
    return false;
}

static mortise_verdict your_hook_pre_tool_call(void *state, mortise_hook *hook,
                                               const mortise_pre_tool_call *event)
{
    if (your_hook_allows(state, event->meta))
        return MORTISE_CONTINUE;
    mortise_hook_reason(hook, "'%s' may destroy something and is not allowed here",
                        event->meta->name);
    return MORTISE_SKIP; /* the model is told the reason; MORTISE_ABORT would end the run */
}

MORTISE_HOOK(your_hook, .pre_tool_call = your_hook_pre_tool_call);

/* A guard: if it cannot be opened, no run begins. */
MORTISE_PLUGIN(.name = "your-hook", .version = "0.1.0", .hooks = MORTISE_HOOKS(your_hook),
               .open = your_hook_open, .close = your_hook_close, .guard = true);

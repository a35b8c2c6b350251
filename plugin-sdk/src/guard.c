/* A guard that cannot work: it is loaded all the same, and lets no run begin. */
#include "internal.h"

#include <stdlib.h>

static mortise_plugin_parts closed;

static mortise_verdict fail_run(void *state, mortise_hook *hook)
{
    mortise_hook_reason(hook, "plugin '%s' cannot work: %s", closed.name, (const char *)state);
    return MORTISE_HOOK_FAILED;
}

static mortise_verdict fail_prompt(void *state, mortise_hook *hook,
                                   const mortise_prompt_submit *event)
{
    (void)event;
    return fail_run(state, hook);
}

static mortise_verdict fail_request(void *state, mortise_hook *hook,
                                    const mortise_pre_llm_request *event)
{
    (void)event;
    return fail_run(state, hook);
}

static mortise_verdict fail_call(void *state, mortise_hook *hook,
                                 const mortise_pre_tool_call *event)
{
    (void)event;
    return fail_run(state, hook);
}

MORTISE_HOOK(cannot_guard, .priority = INT32_MIN, .prompt_submit = fail_prompt,
    .pre_llm_request = fail_request, .pre_tool_call = fail_call);

mortise_plugin *mortise__open_closed(const mortise_host *host, const mortise_plugin_parts *parts,
                                     char *reason)
{
    closed = (mortise_plugin_parts){.name = parts->name,
                                    .version = parts->version,
                                    .hooks = MORTISE_HOOKS(cannot_guard),
                                    .close = free};
    mortise_log(host, MORTISE_LOG_WARNING, "plugin '%s' will stop every run: %s", parts->name,
                reason);
    mortise_plugin *plugin = mortise__open_parts(host, &closed, reason);
    if (!plugin)
        free(reason);
    return plugin;
}

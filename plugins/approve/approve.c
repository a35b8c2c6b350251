/* Asks a policy before each call: allow it, ask a person, or deny it. */
#include <mortise/tool.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "file.h"
#include "policy.h"
#include "terminal.h"

struct approve {
    struct policy *policy; /* NULL: there is no file, and nothing is asked */
    mortise_runs runs;
};

/* What the person said "always" to: this tool, when this rule wants to ask. */
struct always {
    int rule;
    char tool[65];
};

enum { MAX_ALWAYS = 32 }; /* beyond them the question comes again */

struct run {
    struct always always[MAX_ALWAYS];
    size_t count;
};

/* ---- asking a person ------------------------------------------------------------------------ */

static bool was_always(const struct run *run, int rule, const char *tool)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->always[i].rule == rule && strcmp(run->always[i].tool, tool) == 0)
            return true;
    return false;
}

static void keep_always(struct run *run, int rule, const char *tool)
{
    struct always *always = &run->always[run->count];
    if (run->count == MAX_ALWAYS || strlen(tool) >= sizeof(always->tool))
        return;
    always->rule = rule;
    snprintf(always->tool, sizeof(always->tool), "%s", tool);
    run->count++;
}

static mortise_verdict ask(struct approve *self, mortise_hook *hook, const char *tool,
                           json_t *arguments, int rule, const char *reason)
{
    struct run *run = mortise_run_state(&self->runs, hook, sizeof(*run));
    if (!run)
        return MORTISE_HOOK_FAILED;
    if (was_always(run, rule, tool))
        return MORTISE_CONTINUE;
    switch (terminal_ask(tool, arguments, reason)) {
    case ANSWER_ALWAYS:
        keep_always(run, rule, tool);
        return MORTISE_CONTINUE;
    case ANSWER_YES:
        return MORTISE_CONTINUE;
    case ANSWER_NO:
        mortise_hook_reason(hook, "the user does not allow this call");
        return MORTISE_SKIP;
    case ANSWER_NOBODY:
        break;
    }
    mortise_hook_reason(hook, "this call needs the user's permission, and there is no terminal "
                              "to ask for it");
    return MORTISE_SKIP;
}

/* ---- the event ------------------------------------------------------------------------------- */

static mortise_verdict decide(struct approve *self, mortise_hook *hook, const char *tool,
                              json_t *arguments)
{
    int rule;
    const char *reason;
    switch (policy_decide(self->policy, tool, arguments, &rule, &reason)) {
    case DECISION_ALLOW:
        return MORTISE_CONTINUE;
    case DECISION_ASK:
        return ask(self, hook, tool, arguments, rule, reason);
    case DECISION_DENY:
        break;
    }
    mortise_hook_reason(hook, "%s", reason ? reason : "the user's policy does not allow this call");
    return MORTISE_SKIP;
}

static mortise_verdict pre_tool_call(void *state, mortise_hook *hook,
                                     const mortise_pre_tool_call *event)
{
    /* With a name twice, the tool could see another value than the policy. */
    json_t *arguments = json_loadb(event->arguments, event->arguments_length,
                                   JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    mortise_verdict verdict = MORTISE_SKIP;
    if (json_is_object(arguments))
        verdict = decide(state, hook, event->meta->name, arguments);
    else
        mortise_hook_reason(hook, "its arguments are not a JSON object that can be judged");
    json_decref(arguments);
    return verdict;
}

/* Late: it judges the arguments that the hooks before it made. */
MORTISE_HOOK(approve, .priority = 900, .pre_tool_call = pre_tool_call);

/* ---- the plugin ---------------------------------------------------------------------------- */

/* Finds the file that nobody named; false when there is no place for it. */
static bool find_default(char path[PATH_MAX])
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = -1;
    if (folder && folder[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/mortise/approve.json", folder);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.config/mortise/approve.json", home);
    return length > 0 && length < PATH_MAX;
}

static bool wants(const void *state, const mortise_hooks *hooks)
{
    const struct approve *self = state;
    (void)hooks;
    return self->policy != NULL;
}

static void approve_close(void *state)
{
    struct approve *self = state;
    policy_free(self->policy);
    mortise_runs_release(&self->runs);
    free(self);
}

static bool load_policy(const mortise_host *host, struct approve *self, const char *path,
                        bool named)
{
    char why[512];
    size_t length;
    char *json = file_read_trusted(path, &length, why, sizeof(why));
    if (!json && !named && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (json)
        self->policy = policy_read(json, length, why, sizeof(why));
    free(json);
    if (!self->policy)
        mortise_refuse(host, "the policy '%s' cannot be used: %s", path, why);
    return self->policy != NULL;
}

static void *approve_open(const mortise_host *host)
{
    char path[PATH_MAX];
    mortise_status status = mortise_config_string(host, "file", path, sizeof(path));
    if (status != MORTISE_NOT_FOUND && (status != MORTISE_OK || path[0] != '/'))
        return mortise_refuse(host, "\"file\" is not the absolute name of a file");
    struct approve *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    bool named = status == MORTISE_OK;
    if ((named || find_default(path)) && !load_policy(host, self, path, named)) {
        approve_close(self);
        return NULL;
    }
    if (!self->policy)
        mortise_log(host, MORTISE_LOG_DEBUG, "approve: every call is allowed: there is no policy");
    return self;
}

MORTISE_PLUGIN(.name = "approve", .version = "1.0.0", .hooks = MORTISE_HOOKS(approve),
               .wants = wants, .guard = true, .open = approve_open, .close = approve_close);

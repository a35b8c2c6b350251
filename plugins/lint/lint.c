/* Lets no run end before a check command is content, or has complained often enough. */
#include <mortise/tool.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"

struct lint {
    const mortise_host *host;
    char **check;       /* the command's words; NULL: nothing is configured */
    char **when;        /* the tools that make a check necessary; NULL: any answer does */
    char cwd[PATH_MAX]; /* "": the host's */
    int64_t timeout_ms, rounds;
    mortise_runs runs;
};

struct run {
    bool touched;   /* one of the tools of `when` ran */
    int64_t rounds; /* complaints so far */
};

/* ---- what the model is told ------------------------------------------------------------------ */

/* How it ended, in words; false when that is no reason to complain. */
static bool describe_end(const struct lint *self, const struct check_result *result, char *words,
                         size_t size)
{
    if (result->timed_out)
        snprintf(words, size, "did not end within %g s and was stopped",
                 (double)self->timeout_ms / 1000);
    else if (WIFSIGNALED(result->status))
        snprintf(words, size, "was ended by signal %d (%s)", WTERMSIG(result->status),
                 strsignal(WTERMSIG(result->status)));
    else
        snprintf(words, size, "failed with exit status %d", WEXITSTATUS(result->status));
    return result->timed_out || result->status != 0;
}

static mortise_verdict complain(const struct lint *self, mortise_hook *hook, const char *end,
                                const struct check_result *result)
{
    char *output = check_output(result), *text = NULL, *command = NULL;
    size_t length;
    FILE *out = open_memstream(&command, &length);
    for (size_t i = 0; out && self->check[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", self->check[i]);
    bool written = out && fclose(out) == 0;
    mortise_status status = MORTISE_NO_MEMORY;
    if (output && written &&
        asprintf(&text, "The check `%s` %s.%s%s\n\nPlease correct this.", command, end,
                 *output ? " It wrote:\n\n" : " It wrote nothing.", output) >= 0) {
        status = mortise_hook_append_text(hook, "user", text);
        free(text);
    }
    free(command);
    free(output);
    if (status == MORTISE_OK)
        return MORTISE_CONTINUE_WITH;
    mortise_hook_reason(hook, "the complaint of the check could not be passed on");
    return MORTISE_HOOK_FAILED;
}

/* ---- the events ------------------------------------------------------------------------------ */

static bool is_listed(char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

static mortise_verdict post_tool_call(void *state, mortise_hook *hook,
                                      const mortise_post_tool_call *event)
{
    struct lint *self = state;
    if (!is_listed(self->when, event->meta->name))
        return MORTISE_CONTINUE;
    struct run *run = mortise_run_state(&self->runs, hook, sizeof(*run));
    if (!run)
        return MORTISE_HOOK_FAILED;
    run->touched = true; /* also by a call that failed: it may have done half of it */
    return MORTISE_CONTINUE;
}

static mortise_verdict turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    struct lint *self = state;
    struct run *run = mortise_run_state(&self->runs, hook, sizeof(*run));
    (void)event;
    if (!run)
        return MORTISE_HOOK_FAILED;
    if (self->when && !run->touched)
        return MORTISE_CONTINUE;
    struct check_result *result = malloc(sizeof(*result));
    if (!result)
        return MORTISE_HOOK_FAILED;

    char end[128];
    mortise_verdict verdict = MORTISE_CONTINUE;
    check_run(self->check, self->cwd[0] ? self->cwd : NULL, self->timeout_ms, result);
    if (result->error) {
        mortise_hook_reason(hook, "cannot run '%s': %s", self->check[0], strerror(result->error));
        verdict = MORTISE_HOOK_FAILED;
    } else if (describe_end(self, result, end, sizeof(end))) {
        if (run->rounds++ < self->rounds)
            verdict = complain(self, hook, end, result);
        else
            mortise_log(self->host, MORTISE_LOG_WARNING,
                        "lint: the run ends although '%s' %s, after %" PRId64 " complaints",
                        self->check[0], end, self->rounds);
    }
    free(result);
    return verdict;
}

MORTISE_HOOK(lint, .turn_end = turn_end);
MORTISE_HOOK(lint_when, .priority = 1000, .post_tool_call = post_tool_call);

/* ---- the plugin ---------------------------------------------------------------------------- */

static bool wants(const void *state, const mortise_hooks *hooks)
{
    const struct lint *self = state;
    return self->check && (hooks == &lint_hooks || self->when);
}

static void lint_close(void *state)
{
    struct lint *self = state;
    mortise_runs_release(&self->runs);
    free(self->check);
    free(self->when);
    free(self);
}

/* What is wrong with the configuration, or NULL. */
static const char *read_config(const mortise_host *host, struct lint *self)
{
    double timeout = 60;
    if (mortise_config_strings(host, "check", &self->check) == MORTISE_INVALID ||
        (self->check && (!self->check[0] || !self->check[0][0])))
        return "\"check\" is not a list of words: a command and its arguments";
    if (mortise_config_strings(host, "when", &self->when) == MORTISE_INVALID)
        return "\"when\" is not a list of tool names";
    if (mortise_config_string(host, "cwd", self->cwd, sizeof(self->cwd)) == MORTISE_INVALID)
        return "\"cwd\" is not the name of a folder";
    if (mortise_config_number(host, "timeout", &timeout) == MORTISE_INVALID || timeout <= 0 ||
        timeout > 86400)
        return "\"timeout\" is not a number of seconds up to 86400";
    if (mortise_config_integer(host, "rounds", &self->rounds) == MORTISE_INVALID ||
        self->rounds < 0)
        return "\"rounds\" is not a count from 0 up";
    self->timeout_ms = (int64_t)(timeout * 1000);
    return NULL;
}

static void *lint_open(const mortise_host *host)
{
    struct lint *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->host = host;
    self->rounds = 3;
    const char *wrong = read_config(host, self);
    if (wrong) {
        lint_close(self);
        return mortise_refuse(host, "%s", wrong);
    }
    if (!self->check)
        mortise_log(host, MORTISE_LOG_DEBUG, "lint: no \"check\" is configured");
    return self;
}

MORTISE_PLUGIN(.name = "lint", .version = "1.0.0", .hooks = MORTISE_HOOKS(lint, lint_when),
               .wants = wants, .open = lint_open, .close = lint_close);

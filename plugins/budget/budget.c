/* Limits of one run: tokens, seconds, calls, and calls of single tools. */
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

enum { NO_LIMIT = -1 };

struct tool_limit {
    char *name;
    int64_t calls;
};

struct budget {
    int64_t tokens, calls; /* or NO_LIMIT */
    double seconds;        /* or NO_LIMIT */
    bool soft;             /* calls are skipped, and one last answer is let through */
    struct tool_limit *tools;
    size_t tool_count;
    mortise_runs runs;
};

/* What one run has used. */
struct usage {
    struct timespec start; /* zero: not begun */
    int64_t tokens;        /* of the responses before the current one */
    int64_t input, output; /* of the current response, as far as it has told */
    int64_t calls;
    bool last_answer;     /* soft: it was let through */
    int64_t tool_calls[]; /* one for each struct tool_limit */
};

static struct usage *usage_of(struct budget *self, mortise_hook *hook)
{
    size_t size = sizeof(struct usage) + self->tool_count * sizeof(int64_t);
    struct usage *usage = mortise_run_state(&self->runs, hook, size);
    if (usage && usage->start.tv_sec == 0 && usage->start.tv_nsec == 0)
        clock_gettime(CLOCK_MONOTONIC, &usage->start);
    if (!usage)
        mortise_hook_reason(hook, "out of memory");
    return usage;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Whether the run may not go on, with the numbers as the hook's reason. */
static bool is_used_up(const struct budget *self, const struct usage *usage, mortise_hook *hook)
{
    int64_t tokens = usage->tokens + usage->input + usage->output;
    if (self->tokens != NO_LIMIT && tokens >= self->tokens) {
        mortise_hook_reason(hook,
                            "the budget of this run is used up: %" PRId64 " of %" PRId64 " tokens",
                            tokens, self->tokens);
        return true;
    }
    double seconds = self->seconds < 0 ? NO_LIMIT : seconds_since(&usage->start);
    if (self->seconds >= 0 && seconds >= self->seconds) {
        mortise_hook_reason(hook, "the budget of this run is used up: %.1f of %g seconds", seconds,
                            self->seconds);
        return true;
    }
    return false;
}

/* ---- the events ---------------------------------------------------------------------------- */

/* Only begins the time. */
static mortise_verdict prompt_submit(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    (void)event;
    return usage_of(state, hook) ? MORTISE_CONTINUE : MORTISE_HOOK_FAILED;
}

static mortise_verdict pre_llm_request(void *state, mortise_hook *hook,
                                       const mortise_pre_llm_request *event)
{
    struct budget *self = state;
    struct usage *usage = usage_of(self, hook);
    (void)event;
    if (!usage)
        return MORTISE_HOOK_FAILED;
    usage->tokens += usage->input + usage->output;
    usage->input = usage->output = 0;
    if (!is_used_up(self, usage, hook))
        return MORTISE_CONTINUE;
    if (!self->soft || usage->last_answer)
        return MORTISE_ABORT;
    usage->last_answer = true;
    return MORTISE_CONTINUE;
}

static mortise_verdict pre_tool_call(void *state, mortise_hook *hook,
                                     const mortise_pre_tool_call *event)
{
    struct budget *self = state;
    struct usage *usage = usage_of(self, hook);
    const mortise_verdict refused = self->soft ? MORTISE_SKIP : MORTISE_ABORT;
    if (!usage)
        return MORTISE_HOOK_FAILED;
    if (is_used_up(self, usage, hook))
        return refused;
    if (self->calls != NO_LIMIT && usage->calls >= self->calls) {
        mortise_hook_reason(hook,
                            "the budget of this run is used up: %" PRId64 " of %" PRId64 " calls",
                            usage->calls, self->calls);
        return refused;
    }
    for (size_t i = 0; i < self->tool_count; i++) {
        if (strcmp(self->tools[i].name, event->meta->name) != 0)
            continue;
        if (usage->tool_calls[i] >= self->tools[i].calls) {
            mortise_hook_reason(
                hook, "the budget of this run is used up: %" PRId64 " of %" PRId64 " calls of %s",
                usage->tool_calls[i], self->tools[i].calls, event->meta->name);
            return refused;
        }
        usage->tool_calls[i]++;
    }
    usage->calls++;
    return MORTISE_CONTINUE;
}

/* A response tells its usage once or several times; the last of each number counts. */
static mortise_verdict stream_chunk(void *state, mortise_hook *hook,
                                    const mortise_stream_chunk *event)
{
    if (strcmp(event->event, "usage") != 0)
        return MORTISE_CONTINUE;
    struct usage *usage = usage_of(state, hook);
    json_t *numbers = json_loadb(event->json, event->length, 0, NULL);
    mortise_verdict verdict = usage && numbers ? MORTISE_CONTINUE : MORTISE_HOOK_FAILED;
    const json_t *input = json_object_get(numbers, "input_tokens");
    const json_t *output = json_object_get(numbers, "output_tokens");
    if (usage && json_is_integer(input))
        usage->input = json_integer_value(input);
    if (usage && json_is_integer(output))
        usage->output = json_integer_value(output);
    json_decref(numbers);
    return verdict;
}

/* Late: what another hook refuses is not counted. */
MORTISE_HOOK(budget, .priority = 100, .prompt_submit = prompt_submit,
    .pre_llm_request = pre_llm_request, .pre_tool_call = pre_tool_call);
MORTISE_HOOK(budget_tokens, .priority = 100, .stream_chunk = stream_chunk);

/* ---- the plugin ---------------------------------------------------------------------------- */

static bool wants(const void *state, const mortise_hooks *hooks)
{
    const struct budget *self = state;
    if (hooks == &budget_tokens_hooks)
        return self->tokens != NO_LIMIT;
    return self->tokens != NO_LIMIT || self->calls != NO_LIMIT || self->seconds >= 0 ||
           self->tool_count > 0;
}

static void budget_close(void *state)
{
    struct budget *self = state;
    for (size_t i = 0; i < self->tool_count; i++)
        free(self->tools[i].name);
    free(self->tools);
    mortise_runs_release(&self->runs);
    free(self);
}

static bool read_count(const mortise_host *host, const char *key, int64_t *count)
{
    mortise_status status = mortise_config_integer(host, key, count);
    if (status == MORTISE_NOT_FOUND || (status == MORTISE_OK && *count >= 0))
        return true;
    mortise_refuse(host, "\"%s\" is not a count from 0 up", key);
    return false;
}

static bool read_tools(const mortise_host *host, struct budget *self)
{
    json_t *config = json_loads(host->config(host), 0, NULL), *limit;
    json_t *limits = json_object_get(config, "tools");
    const char *name;
    bool ok = !limits || json_is_null(limits) || json_is_object(limits);
    size_t count = json_object_size(limits);
    if (count > 0)
        ok = (self->tools = calloc(count, sizeof(*self->tools))) != NULL;
    if (ok) {
        json_object_foreach (limits, name, limit) {
            struct tool_limit *tool = &self->tools[self->tool_count];
            if (!json_is_integer(limit) || json_integer_value(limit) < 0 ||
                !(tool->name = strdup(name))) {
                ok = false;
                break;
            }
            tool->calls = json_integer_value(limit);
            self->tool_count++;
        }
    }
    json_decref(config);
    if (!ok)
        mortise_refuse(host, "\"tools\" is not an object of tool names with counts from 0 up");
    return ok;
}

static bool read_config(const mortise_host *host, struct budget *self)
{
    if (!read_count(host, "tokens", &self->tokens) || !read_count(host, "calls", &self->calls) ||
        !read_tools(host, self))
        return false;
    mortise_status status = mortise_config_number(host, "seconds", &self->seconds);
    if (status == MORTISE_INVALID || (status == MORTISE_OK && self->seconds < 0)) {
        mortise_refuse(host, "\"seconds\" is not a time from 0 up");
        return false;
    }
    if (mortise_config_boolean(host, "soft", &self->soft) == MORTISE_INVALID) {
        mortise_refuse(host, "\"soft\" is neither true nor false");
        return false;
    }
    return true;
}

static void *budget_open(const mortise_host *host)
{
    struct budget *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->tokens = self->calls = NO_LIMIT;
    self->seconds = NO_LIMIT;
    if (!read_config(host, self)) {
        budget_close(self);
        return NULL;
    }
    if (!wants(self, &budget_hooks))
        mortise_log(host, MORTISE_LOG_DEBUG, "budget: no limit is configured");
    return self;
}

MORTISE_PLUGIN(.name = "budget", .version = "1.0.0", .hooks = MORTISE_HOOKS(budget, budget_tokens),
               .wants = wants, .guard = true, .open = budget_open, .close = budget_close);

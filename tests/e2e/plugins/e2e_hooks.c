/*
 * Hooks that do what their configuration says:
 *
 *     {"mode": "skip", "log": "FILE"}
 *
 * Each event that the mode is about is one line in the log: "EVENT TEXT".
 */
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hooks {
    char mode[64];
    char log[4096];
    bool went_on;
};

static bool is(const struct hooks *self, const char *mode)
{
    return strcmp(self->mode, mode) == 0;
}

static void write_log(const struct hooks *self, const char *event, const char *text, size_t length)
{
    FILE *log = fopen(self->log, "ae");
    if (!log)
        return;
    fprintf(log, "%s %.*s\n", event, (int)length, text);
    fclose(log);
}

static void write_log_text(const struct hooks *self, const char *event, const char *text)
{
    write_log(self, event, text, strlen(text));
}

#define USER(text)                                                                                 \
    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"" text \
    "\"}]}"

static void set_item(mortise_hook *hook, size_t index, const char *json)
{
    hook->ops->set_item(hook, index, json, strlen(json));
}

/* ---- the run ------------------------------------------------------------------------------- */

static mortise_verdict prompt_submit(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    struct hooks *self = state;
    write_log(self, "prompt_submit", event->item, event->item_length);
    if (is(self, "prompt_changes"))
        set_item(hook, 0, USER("changed prompt"));
    if (is(self, "prompt_aborts")) {
        mortise_hook_reason(hook, "not on a Sunday");
        return MORTISE_ABORT;
    }
    if (is(self, "prompt_fails")) {
        mortise_hook_reason(hook, "no database");
        return MORTISE_HOOK_FAILED;
    }
    return is(self, "prompt_skips") ? MORTISE_SKIP : MORTISE_CONTINUE; /* it cannot skip */
}

static mortise_verdict pre_llm_request(void *state, mortise_hook *hook,
                                       const mortise_pre_llm_request *event)
{
    struct hooks *self = state;
    char count[32];
    snprintf(count, sizeof(count), "%u %zu", (unsigned)event->turn, hook->ops->item_count(hook));
    write_log_text(self, "pre_llm_request", count);
    if (is(self, "request_edits") && event->turn == 0)
        set_item(hook, 0, USER("edited for one request"));
    if (is(self, "request_removes") && event->turn == 1)
        hook->ops->remove_item(hook, 0);
    if (is(self, "request_orphans") && event->turn == 1)
        hook->ops->remove_item(hook, 1); /* the call, but not its result */
    if (is(self, "request_appends") && event->turn == 0)
        mortise_hook_append_text(hook, "user", "appended for good");
    if (is(self, "request_fails") && event->turn == 1) {
        mortise_hook_reason(hook, "no index");
        return MORTISE_HOOK_FAILED;
    }
    if (is(self, "request_aborts") && event->turn == 1) {
        mortise_hook_reason(hook, "enough");
        return MORTISE_ABORT;
    }
    return MORTISE_CONTINUE;
}

static mortise_verdict turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    struct hooks *self = state;
    (void)event;
    write_log_text(self, "turn_end", "");
    if (is(self, "goes_on") && !self->went_on) {
        self->went_on = true;
        mortise_hook_append_text(hook, "user", "please go on");
        return MORTISE_CONTINUE_WITH;
    }
    if (is(self, "end_pauses"))
        return MORTISE_PAUSE;
    return MORTISE_CONTINUE;
}

static mortise_verdict on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    (void)hook;
    write_log(state, "on_abort", event->reason, event->reason_length);
    return MORTISE_CONTINUE;
}

/* ---- tools ---------------------------------------------------------------------------------- */

static mortise_verdict pre_tool_call(void *state, mortise_hook *hook,
                                     const mortise_pre_tool_call *event)
{
    static const char arguments[] = "{\"text\":\"edited arguments\"}";
    struct hooks *self = state;
    write_log_text(self, "pre_tool_call", event->meta->name);
    if (is(self, "edits_arguments"))
        hook->ops->set_arguments(hook, arguments, sizeof(arguments) - 1);
    if (is(self, "skips") && event->index == 0) {
        mortise_hook_reason(hook, "not allowed here");
        return MORTISE_SKIP;
    }
    if (is(self, "responds") && event->index == 0) {
        mortise_hook_respond(hook, false, "from the cache");
        return MORTISE_RESPOND;
    }
    if (is(self, "call_aborts") && event->index == 1) {
        mortise_hook_reason(hook, "stop here");
        return MORTISE_ABORT;
    }
    if (is(self, "call_fails") && event->index == 1) {
        mortise_hook_reason(hook, "no policy");
        return MORTISE_HOOK_FAILED;
    }
    if (is(self, "call_goes_on") && event->index == 1)
        return MORTISE_CONTINUE_WITH; /* not at this event */
    if (is(self, "call_pauses") && event->index == 1) {
        mortise_hook_reason(hook, "ask a person");
        return MORTISE_PAUSE;
    }
    return MORTISE_CONTINUE;
}

static mortise_verdict post_tool_call(void *state, mortise_hook *hook,
                                      const mortise_post_tool_call *event)
{
    static const char changed[] = "changed result";
    struct hooks *self = state;
    write_log(self, "post_tool_call", event->result, event->result_length);
    if (is(self, "changes_result"))
        hook->ops->set_result(hook, false, changed, sizeof(changed) - 1);
    if (is(self, "result_fails") && event->index == 0) {
        mortise_hook_reason(hook, "no filter");
        return MORTISE_HOOK_FAILED;
    }
    if (is(self, "result_aborts") && event->index == 0) {
        mortise_hook_reason(hook, "I have seen enough");
        return MORTISE_ABORT;
    }
    return MORTISE_CONTINUE;
}

/* ---- the stream ----------------------------------------------------------------------------- */

static mortise_verdict text_delta(void *state, mortise_hook *hook, const mortise_text_delta *event)
{
    struct hooks *self = state;
    (void)event;
    if (!is(self, "stream_aborts"))
        return MORTISE_CONTINUE;
    mortise_hook_reason(hook, "bad words");
    return MORTISE_ABORT;
}

/* ---- order: three more, that are asked by priority ------------------------------------------- */

#define ORDERED(hook_name, hook_priority)                                                          \
    static mortise_verdict hook_name##_submit(void *state, mortise_hook *hook,                     \
                                              const mortise_prompt_submit *event)                  \
    {                                                                                              \
        (void)hook, (void)event;                                                                   \
        write_log_text(state, "order", #hook_name);                                                \
        return MORTISE_CONTINUE;                                                                   \
    }                                                                                              \
    MORTISE_HOOK(hook_name, .priority = (hook_priority), .prompt_submit = hook_name##_submit)

ORDERED(late, 50);
ORDERED(early, -50);
ORDERED(also_early, -50);

MORTISE_HOOK(main, .prompt_submit = prompt_submit, .pre_llm_request = pre_llm_request,
    .pre_tool_call = pre_tool_call, .post_tool_call = post_tool_call, .turn_end = turn_end,
    .on_abort = on_abort, .text_delta = text_delta);

static void *open_hooks(const mortise_host *host)
{
    struct hooks *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    mortise_config_string(host, "mode", self->mode, sizeof(self->mode));
    mortise_config_string(host, "log", self->log, sizeof(self->log));
    return self;
}

MORTISE_PLUGIN(.name = "e2e_hooks", .version = "1.0.0",
               .hooks = MORTISE_HOOKS(late, early, main, also_early),
               .open = open_hooks, .close = free);

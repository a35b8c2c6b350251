#include "plugin/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "plugin/hook_ops.h"

static const char *const event_names[] = {
#define X(member, name) [HOOK_##member] = name,
    HOOK_EVENTS(X)
#undef X
};

static const char *const change_names[] = {
#define X(name, text) [CHANGE_##name] = text,
    HOOK_CHANGES(X)
#undef X
};

static const char *const verdict_names[] = {
    [MORTISE_CONTINUE] = "continue", [MORTISE_SKIP] = "skip",
    [MORTISE_RESPOND] = "respond",   [MORTISE_ABORT] = "abort",
    [MORTISE_PAUSE] = "pause",       [MORTISE_CONTINUE_WITH] = "continue_with",
    [MORTISE_HOOK_FAILED] = "failed"};

#define VERDICT(name) (1u << MORTISE_##name)

/* What each event knows beside MORTISE_CONTINUE. */
static const unsigned event_verdicts[HOOK_EVENT_COUNT] = {
    [HOOK_prompt_submit] = VERDICT(ABORT),
    [HOOK_pre_llm_request] = VERDICT(ABORT),
    [HOOK_pre_tool_call] = VERDICT(SKIP) | VERDICT(RESPOND) | VERDICT(ABORT) | VERDICT(PAUSE),
    [HOOK_post_tool_call] = VERDICT(ABORT),
    [HOOK_turn_end] = VERDICT(CONTINUE_WITH) | VERDICT(PAUSE) | VERDICT(ABORT),
    [HOOK_text_delta] = VERDICT(ABORT) | VERDICT(PAUSE),
    [HOOK_tool_call_delta] = VERDICT(ABORT) | VERDICT(PAUSE),
    [HOOK_stream_chunk] = VERDICT(ABORT) | VERDICT(PAUSE),
    [HOOK_stream_complete] = VERDICT(ABORT) | VERDICT(PAUSE),
};

const char *hook_event_name(enum hook_event event)
{
    return event_names[event];
}

bool hook_takes(const struct hook *hook, enum hook_event event)
{
    const mortise_hooks *table = hook->table;
    switch (event) {
#define X(member, name)                                                                            \
    case HOOK_##member:                                                                            \
        return MORTISE_HAS(table, mortise_hooks, member) && table->member;
        HOOK_EVENTS(X)
#undef X
    case HOOK_EVENT_COUNT:
        break;
    }
    return false;
}

/* ---- asking one hook ---- */

/* The next hook at or behind *index that takes the event; NULL: no more. */
static const struct hook *next(const struct registry *registry, enum hook_event event,
                               size_t *index)
{
    const struct hook *hook;
    while ((hook = registry_hook(registry, (*index)++)))
        if (hook_takes(hook, event))
            return hook;
    return NULL;
}

bool hooks_take(const struct registry *registry, enum hook_event event)
{
    size_t index = 0;
    return next(registry, event, &index) != NULL;
}

static void tell(const struct asked_hook *asked, const char *decision, const char *reason)
{
    const struct hook *hook = asked->hook;
    char name[160]; /* two names of 64 */
    snprintf(name, sizeof(name), "%s/%s", hook->plugin->name, hook->name);
    struct event event = {.kind = EVENT_HOOK};
    event.as.hook.hook = name;
    event.as.hook.event = hook_event_name(asked->event);
    event.as.hook.decision = decision;
    event.as.hook.reason = *reason ? reason : NULL;
    if (asked->setting->timeline)
        timeline_emit(asked->setting->timeline, &event);
}

/* Why the answer cannot be taken: "" when it can.  A hook that could not change what it
 * wanted to change has failed, whatever it says. */
static void judge(const struct asked_hook *asked, mortise_verdict verdict, char *why, size_t size)
{
    const char *event = hook_event_name(asked->event);
    const char *unpaired = asked_hook_unpaired(asked);
    *why = '\0';
    if (asked->no_memory)
        snprintf(why, size, "out of memory");
    else if (verdict == MORTISE_HOOK_FAILED)
        snprintf(why, size, "%s", *asked->reason ? asked->reason : "it gave no reason");
    else if (verdict != MORTISE_CONTINUE &&
             (verdict >= 32 || !(event_verdicts[asked->event] & 1u << verdict)))
        snprintf(why, size, "it returned verdict %u, which %s does not know", (unsigned)verdict,
                 event);
    else if (verdict == MORTISE_RESPOND && !asked->responded)
        snprintf(why, size, "it returned MORTISE_RESPOND without calling respond()");
    else if (verdict == MORTISE_CONTINUE_WITH && !asked->appended->count)
        snprintf(why, size, "it returned MORTISE_CONTINUE_WITH without calling append()");
    else if (unpaired)
        snprintf(why, size,
                 "it removed a call without its result, or the other way round ('%.100s')",
                 unpaired);
}

/* D26: what decides fails closed, whatever the configuration says. */
static bool may_fail(const struct asked_hook *asked)
{
    switch (asked->event) {
    case HOOK_prompt_submit:
    case HOOK_pre_llm_request:
    case HOOK_pre_tool_call:
    case HOOK_post_tool_call:
        return false;
    default:
        return asked->hook->plugin->ignores_failures;
    }
}

static void log_failure(const struct asked_hook *asked, const char *why)
{
    log_warning("hook '%s/%s' failed at %s: %s", asked->hook->plugin->name, asked->hook->name,
                hook_event_name(asked->event), why);
}

/* Tells what the hook did and decides whether the next one is asked. */
static bool finish(struct asked_hook *asked, mortise_verdict verdict, struct hook_outcome *outcome)
{
    char why[sizeof(outcome->reason)];
    judge(asked, verdict, why, sizeof(why));
    for (unsigned change = 0; change < CHANGE_COUNT; change++)
        if (asked->changes & 1u << change)
            tell(asked, change_names[change], "");

    bool failed = *why, goes_on = !failed && verdict == MORTISE_CONTINUE;
    const char *reason = failed ? why : asked->reason;
    if (!goes_on)
        tell(asked, failed ? "failed" : verdict_names[verdict], reason);
    if (failed && may_fail(asked)) {
        log_failure(asked, why);
        goes_on = true;
    }
    if (!goes_on) {
        outcome->verdict = failed ? MORTISE_HOOK_FAILED : verdict;
        outcome->failed = failed;
        outcome->hook = asked->hook;
        outcome->event = hook_event_name(asked->event);
        snprintf(outcome->reason, sizeof(outcome->reason), "%s", reason);
    }
    asked_hook_release(asked);
    return goes_on;
}

static void start(struct hook_outcome *outcome)
{
    *outcome = (struct hook_outcome){.verdict = MORTISE_CONTINUE};
}

/* ---- the events ---- */

void hooks_prompt_submit(const struct hook_setting *setting, struct item **item,
                         struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_prompt_submit, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_prompt_submit);
        asked.prompt = item;
        mortise_prompt_submit event = {.size = sizeof(event)};
        event.item = asked_hook_item(&asked, *item, &event.item_length);
        mortise_verdict verdict = MORTISE_HOOK_FAILED;
        if (event.item)
            verdict = hook->table->prompt_submit(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

void hooks_pre_llm_request(const struct hook_setting *setting, struct item_list *items,
                           size_t locked_prefix, unsigned turn, const char *model,
                           struct item_list *appended, struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_pre_llm_request, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_pre_llm_request);
        asked.items = items;
        asked.locked_prefix = locked_prefix;
        asked.appended = appended;
        mortise_pre_llm_request event = {
            .size = sizeof(event), .turn = turn, .locked_prefix = locked_prefix, .model = model};
        mortise_verdict verdict =
            hook->table->pre_llm_request(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

/* A result that no MORTISE_RESPOND stands for is no result. */
static void drop_result(struct hook_tool_call *call)
{
    free(call->result.data);
    call->result = (struct bytes){0};
    call->is_error = false;
}

void hooks_pre_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                         struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_pre_tool_call, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_pre_tool_call);
        asked.call = call;
        /* A copy: set_arguments() frees what it replaces, and the hook may still be reading. */
        const struct bytes *arguments = &call->arguments;
        mortise_pre_tool_call event = {
            .size = sizeof(event),
            .turn = call->turn,
            .index = call->index,
            .count = call->count,
            .call_id = call->call_id,
            .meta = &call->tool->meta,
            .arguments = arena_copy(&asked.memory, arguments->data, arguments->length),
            .arguments_length = arguments->length};
        mortise_verdict verdict = MORTISE_CONTINUE;
        asked.no_memory = !event.arguments;
        if (!asked.no_memory)
            verdict = hook->table->pre_tool_call(hook->table->state, &asked.face, &event);
        bool goes_on = finish(&asked, verdict, outcome);
        if (outcome->verdict != MORTISE_RESPOND)
            drop_result(call);
        if (!goes_on)
            return;
    }
}

void hooks_post_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                          struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_post_tool_call, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_post_tool_call);
        asked.call = call;
        const struct bytes *result = &call->result;
        mortise_post_tool_call event = {
            .size = sizeof(event),
            .turn = call->turn,
            .index = call->index,
            .count = call->count,
            .call_id = call->call_id,
            .meta = &call->tool->meta,
            .arguments = call->arguments.data ? call->arguments.data : "",
            .arguments_length = call->arguments.length,
            .result = arena_copy(&asked.memory, result->data, result->length),
            .result_length = result->length,
            .is_error = call->is_error,
            .error_code = call->is_error ? call->error_code : NULL,
            .duration_us = call->duration_us};
        mortise_verdict verdict = MORTISE_CONTINUE;
        asked.no_memory = !event.result;
        if (!asked.no_memory)
            verdict = hook->table->post_tool_call(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

void hooks_turn_end(const struct hook_setting *setting, struct item *const *items, size_t count,
                    unsigned turn, struct item_list *appended, struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_turn_end, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_turn_end);
        asked.history = items;
        asked.history_count = count;
        asked.appended = appended;
        mortise_turn_end event = {.size = sizeof(event), .turn = turn};
        mortise_verdict verdict = hook->table->turn_end(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

static void ask_text_delta(const struct hook_setting *setting, const struct event *event,
                           struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    while ((hook = next(setting->registry, HOOK_text_delta, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_text_delta);
        mortise_text_delta delta = {.size = sizeof(delta),
                                    .index = event->as.block.index,
                                    .text = event->as.block.text.data,
                                    .length = event->as.block.text.length};
        mortise_verdict verdict = hook->table->text_delta(hook->table->state, &asked.face, &delta);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

static void ask_tool_call_delta(const struct hook_setting *setting, const struct event *event,
                                struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    while ((hook = next(setting->registry, HOOK_tool_call_delta, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_tool_call_delta);
        mortise_tool_call_delta delta = {.size = sizeof(delta),
                                         .index = event->as.block.index,
                                         .json = event->as.block.text.data,
                                         .length = event->as.block.text.length};
        mortise_verdict verdict =
            hook->table->tool_call_delta(hook->table->state, &asked.face, &delta);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

static bool is_of_block(const struct event *event)
{
    return event->kind == EVENT_BLOCK_START || event->kind == EVENT_BLOCK_DELTA ||
           event->kind == EVENT_BLOCK_STOP;
}

static void ask_stream_chunk(const struct hook_setting *setting, const struct event *event,
                             struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    while ((hook = next(setting->registry, HOOK_stream_chunk, &index))) {
        struct asked_hook asked;
        struct text json = TEXT_INIT;
        asked_hook_init(&asked, setting, hook, HOOK_stream_chunk);
        mortise_stream_chunk chunk = {.size = sizeof(chunk),
                                      .index = is_of_block(event) ? event->as.block.index : 0,
                                      .event = event_write_chunk(event, &json)};
        chunk.json = text_cstr(&json);
        chunk.length = json.length;
        mortise_verdict verdict = MORTISE_CONTINUE;
        asked.no_memory = json.failed;
        if (!asked.no_memory)
            verdict = hook->table->stream_chunk(hook->table->state, &asked.face, &chunk);
        bool goes_on = finish(&asked, verdict, outcome);
        text_release(&json);
        if (!goes_on)
            return;
    }
}

void hooks_stream(const struct hook_setting *setting, const struct event *event,
                  struct hook_outcome *outcome)
{
    start(outcome);
    ask_stream_chunk(setting, event, outcome);
    if (outcome->verdict != MORTISE_CONTINUE || event->kind != EVENT_BLOCK_DELTA)
        return;
    if (event->as.block.kind == BLOCK_TEXT)
        ask_text_delta(setting, event, outcome);
    else if (event->as.block.kind == BLOCK_TOOL_USE)
        ask_tool_call_delta(setting, event, outcome);
}

void hooks_stream_complete(const struct hook_setting *setting, unsigned turn, uint64_t event_count,
                           struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    start(outcome);
    while ((hook = next(setting->registry, HOOK_stream_complete, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, HOOK_stream_complete);
        mortise_stream_complete event = {
            .size = sizeof(event), .turn = turn, .event_count = event_count};
        mortise_verdict verdict =
            hook->table->stream_complete(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

void hooks_abort(const struct hook_setting *setting, const char *reason)
{
    const struct hook *hook;
    size_t index = 0;
    while ((hook = next(setting->registry, HOOK_on_abort, &index))) {
        struct asked_hook asked;
        struct hook_outcome outcome;
        start(&outcome);
        asked_hook_init(&asked, setting, hook, HOOK_on_abort);
        mortise_abort event = {
            .size = sizeof(event), .reason = reason, .reason_length = strlen(reason)};
        mortise_verdict verdict = hook->table->on_abort(hook->table->state, &asked.face, &event);
        if (!finish(&asked, verdict, &outcome))
            log_failure(&asked, outcome.reason);
    }
}

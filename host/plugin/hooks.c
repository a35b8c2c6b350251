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

const char *hook_verdict_name(mortise_verdict verdict)
{
    return verdict <= MORTISE_HOOK_FAILED ? verdict_names[verdict] : NULL;
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

/* D26: what decides fails closed, whatever the configuration says.  What is told of an end
 * cannot change it (W60). */
static bool may_fail(const struct asked_hook *asked)
{
    switch (asked->event) {
    case HOOK_prompt_submit:
    case HOOK_pre_llm_request:
    case HOOK_pre_tool_call:
    case HOOK_post_tool_call:
        return false;
    case HOOK_on_abort:
        return true;
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
    const char *decision = failed ? verdict_names[MORTISE_HOOK_FAILED] : verdict_names[verdict];
    const struct hook_tape *tape = asked->setting->tape;
    if (tape)
        tape->answered(tape->self, asked->hook, hook_event_name(asked->event), decision, reason);
    if (!goes_on)
        tell(asked, decision, reason);
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

/* Puts one event to one hook.  `subject` is what the event is about. */
typedef mortise_verdict put_question(struct asked_hook *asked, const void *subject);

static void ask(const struct hook_setting *setting, enum hook_event event, put_question *put,
                const void *subject, struct hook_outcome *outcome)
{
    const struct hook *hook;
    size_t index = 0;
    *outcome = (struct hook_outcome){.verdict = MORTISE_CONTINUE};
    while ((hook = next(setting->registry, event, &index))) {
        struct asked_hook asked;
        asked_hook_init(&asked, setting, hook, event);
        mortise_verdict verdict = put(&asked, subject);
        if (!finish(&asked, verdict, outcome))
            return;
    }
}

/* What the plugin gets with an event, and the state that it registered. */
#define CALL_HOOK(asked, member, event)                                                            \
    (asked)->hook->table->member((asked)->hook->table->state, &(asked)->face, (event))

/* ---- the prompt and the request ---- */

struct prompt_subject {
    struct item **item;
};

static mortise_verdict put_prompt_submit(struct asked_hook *asked, const void *subject)
{
    const struct prompt_subject *prompt = subject;
    mortise_prompt_submit event = {.size = sizeof(event)};
    asked->prompt = prompt->item;
    event.item = asked_hook_item(asked, *prompt->item, &event.item_length);
    return event.item ? CALL_HOOK(asked, prompt_submit, &event) : MORTISE_HOOK_FAILED;
}

void hooks_prompt_submit(const struct hook_setting *setting, struct item **item,
                         struct hook_outcome *outcome)
{
    ask(setting, HOOK_prompt_submit, put_prompt_submit, &(struct prompt_subject){item}, outcome);
}

struct request_subject {
    struct item_list *items, *appended;
    mortise_pre_llm_request event;
};

static mortise_verdict put_pre_llm_request(struct asked_hook *asked, const void *subject)
{
    const struct request_subject *request = subject;
    asked->items = request->items;
    asked->locked_prefix = request->event.locked_prefix;
    asked->appended = request->appended;
    return CALL_HOOK(asked, pre_llm_request, &request->event);
}

void hooks_pre_llm_request(const struct hook_setting *setting, struct item_list *items,
                           size_t locked_prefix, unsigned turn, const char *model,
                           struct item_list *appended, struct hook_outcome *outcome)
{
    const struct request_subject subject = {
        .items = items,
        .appended = appended,
        .event = {.size = sizeof(subject.event),
                  .turn = turn,
                  .locked_prefix = locked_prefix,
                  .model = model}};
    ask(setting, HOOK_pre_llm_request, put_pre_llm_request, &subject, outcome);
}

/* ---- calls ---- */

struct call_subject {
    struct hook_tool_call *call;
};

/* Hooks get a copy of what they may replace, because they may still be reading it then. */
static const char *copy_for(struct asked_hook *asked, const struct bytes *bytes)
{
    const char *copy = arena_copy(&asked->memory, bytes->data, bytes->length);
    asked->no_memory = !copy;
    return copy;
}

static mortise_verdict put_pre_tool_call(struct asked_hook *asked, const void *subject)
{
    struct hook_tool_call *call = ((const struct call_subject *)subject)->call;
    asked->call = call;
    mortise_pre_tool_call event = {.size = sizeof(event),
                                   .turn = call->turn,
                                   .index = call->index,
                                   .count = call->count,
                                   .call_id = call->call_id,
                                   .meta = &call->tool->meta,
                                   .arguments = copy_for(asked, &call->arguments),
                                   .arguments_length = call->arguments.length};
    return event.arguments ? CALL_HOOK(asked, pre_tool_call, &event) : MORTISE_CONTINUE;
}

void hooks_pre_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                         struct hook_outcome *outcome)
{
    ask(setting, HOOK_pre_tool_call, put_pre_tool_call, &(struct call_subject){call}, outcome);
    if (outcome->verdict == MORTISE_RESPOND)
        return;
    /* A result that no MORTISE_RESPOND stands for is no result. */
    free(call->result.data);
    call->result = (struct bytes){0};
    call->is_error = false;
}

static mortise_verdict put_post_tool_call(struct asked_hook *asked, const void *subject)
{
    struct hook_tool_call *call = ((const struct call_subject *)subject)->call;
    asked->call = call;
    mortise_post_tool_call event = {
        .size = sizeof(event),
        .turn = call->turn,
        .index = call->index,
        .count = call->count,
        .call_id = call->call_id,
        .meta = &call->tool->meta,
        .arguments = call->arguments.data ? call->arguments.data : "",
        .arguments_length = call->arguments.length,
        .result = copy_for(asked, &call->result),
        .result_length = call->result.length,
        .is_error = call->is_error,
        .error_code = call->is_error ? call->error_code : NULL,
        .duration_us = call->duration_us};
    return event.result ? CALL_HOOK(asked, post_tool_call, &event) : MORTISE_CONTINUE;
}

void hooks_post_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                          struct hook_outcome *outcome)
{
    ask(setting, HOOK_post_tool_call, put_post_tool_call, &(struct call_subject){call}, outcome);
}

/* ---- the stream ---- */

static mortise_verdict put_text_delta(struct asked_hook *asked, const void *subject)
{
    const struct event *event = subject;
    const mortise_text_delta delta = {.size = sizeof(delta),
                                      .index = event->as.block.index,
                                      .text = event->as.block.text.data,
                                      .length = event->as.block.text.length};
    return CALL_HOOK(asked, text_delta, &delta);
}

static mortise_verdict put_tool_call_delta(struct asked_hook *asked, const void *subject)
{
    const struct event *event = subject;
    const mortise_tool_call_delta delta = {.size = sizeof(delta),
                                           .index = event->as.block.index,
                                           .json = event->as.block.text.data,
                                           .length = event->as.block.text.length};
    return CALL_HOOK(asked, tool_call_delta, &delta);
}

static bool is_of_block(const struct event *event)
{
    return event->kind == EVENT_BLOCK_START || event->kind == EVENT_BLOCK_DELTA ||
           event->kind == EVENT_BLOCK_STOP;
}

static mortise_verdict put_stream_chunk(struct asked_hook *asked, const void *subject)
{
    const struct event *event = subject;
    struct text json = TEXT_INIT;
    mortise_stream_chunk chunk = {.size = sizeof(chunk),
                                  .index = is_of_block(event) ? event->as.block.index : 0,
                                  .event = event_write_chunk(event, &json)};
    chunk.json = text_cstr(&json);
    chunk.length = json.length;
    asked->no_memory = json.failed;
    mortise_verdict verdict =
        json.failed ? MORTISE_CONTINUE : CALL_HOOK(asked, stream_chunk, &chunk);
    text_release(&json);
    return verdict;
}

void hooks_stream(const struct hook_setting *setting, const struct event *event,
                  struct hook_outcome *outcome)
{
    ask(setting, HOOK_stream_chunk, put_stream_chunk, event, outcome);
    if (outcome->verdict != MORTISE_CONTINUE || event->kind != EVENT_BLOCK_DELTA)
        return;
    if (event->as.block.kind == BLOCK_TEXT)
        ask(setting, HOOK_text_delta, put_text_delta, event, outcome);
    else if (event->as.block.kind == BLOCK_TOOL_USE)
        ask(setting, HOOK_tool_call_delta, put_tool_call_delta, event, outcome);
}

static mortise_verdict put_stream_complete(struct asked_hook *asked, const void *subject)
{
    return CALL_HOOK(asked, stream_complete, (const mortise_stream_complete *)subject);
}

void hooks_stream_complete(const struct hook_setting *setting, unsigned turn, uint64_t event_count,
                           struct hook_outcome *outcome)
{
    const mortise_stream_complete event = {
        .size = sizeof(event), .turn = turn, .event_count = event_count};
    ask(setting, HOOK_stream_complete, put_stream_complete, &event, outcome);
}

/* ---- the end ---- */

struct turn_end_subject {
    struct item *const *items;
    size_t count;
    struct item_list *appended;
    mortise_turn_end event;
};

static mortise_verdict put_turn_end(struct asked_hook *asked, const void *subject)
{
    const struct turn_end_subject *end = subject;
    asked->history = end->items;
    asked->history_count = end->count;
    asked->appended = end->appended;
    return CALL_HOOK(asked, turn_end, &end->event);
}

void hooks_turn_end(const struct hook_setting *setting, struct item *const *items, size_t count,
                    unsigned turn, struct item_list *appended, struct hook_outcome *outcome)
{
    const struct turn_end_subject subject = {
        .items = items,
        .count = count,
        .appended = appended,
        .event = {.size = sizeof(subject.event), .turn = turn}};
    ask(setting, HOOK_turn_end, put_turn_end, &subject, outcome);
}

static mortise_verdict put_abort(struct asked_hook *asked, const void *subject)
{
    return CALL_HOOK(asked, on_abort, (const mortise_abort *)subject);
}

/* Whoever is told of an end cannot change it: a failure is logged, and the next is told. */
void hooks_abort(const struct hook_setting *setting, const char *reason)
{
    const mortise_abort event = {
        .size = sizeof(event), .reason = reason, .reason_length = strlen(reason)};
    struct hook_outcome outcome;
    ask(setting, HOOK_on_abort, put_abort, &event, &outcome);
}

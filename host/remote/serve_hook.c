/* One question to a hook in its own process: the mortise_hook that the plugin sees there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/hooks.h"
#include "remote/serve_private.h"
#include "remote/take.h"

#define REASON_MAX ((size_t)2048) /* the host cuts it further */

struct served_hook {
    mortise_hook face; /* first: the plugin has its address */
    struct served_lane *lane;
    const struct hook *hook;
    enum hook_event event;
    struct arena memory;
    struct text reason;
};

static struct served_hook *hook_of(mortise_hook *face)
{
    return (struct served_hook *)face;
}

/* ---- what it may do ---- */

static struct text *ask(mortise_hook *face, enum parcel_type type)
{
    struct text *out = &hook_of(face)->lane->out;
    parcel_begin(out, type);
    return out;
}

/* Sends what was written, and reads the status. */
static mortise_status status_of(mortise_hook *face, struct parcel *answer)
{
    if (!lane_ask(hook_of(face)->lane, answer))
        return MORTISE_INVALID;
    return (mortise_status)parcel_u32(answer);
}

static void op_reason(mortise_hook *face, const char *text, size_t length)
{
    struct served_hook *hook = hook_of(face);
    text_reset(&hook->reason);
    if (text)
        text_append(&hook->reason, text, length < REASON_MAX ? length : REASON_MAX);
}

/* Bytes of an answer, in the hook's memory; NULL: none. */
static const char *keep_bytes(mortise_hook *face, struct parcel *answer, size_t *length)
{
    if (status_of(face, answer) != MORTISE_OK)
        return NULL;
    const char *bytes = parcel_bytes(answer, length);
    return bytes ? arena_copy(&hook_of(face)->memory, bytes, *length) : NULL;
}

static const char *op_context(mortise_hook *face, const char *key)
{
    struct parcel answer;
    size_t length;
    if (!key)
        return NULL;
    parcel_put_string(ask(face, PARCEL_CONTEXT), key);
    return keep_bytes(face, &answer, &length);
}

static void *op_alloc(mortise_hook *face, size_t bytes)
{
    return arena_alloc(&hook_of(face)->memory, bytes);
}

static size_t op_item_count(mortise_hook *face)
{
    struct parcel answer;
    ask(face, PARCEL_ITEM_COUNT);
    return status_of(face, &answer) == MORTISE_OK ? (size_t)parcel_u64(&answer) : 0;
}

static const char *op_item(mortise_hook *face, size_t index, size_t *length)
{
    struct parcel answer;
    size_t unused;
    if (!length)
        length = &unused;
    *length = 0;
    parcel_put_u64(ask(face, PARCEL_ITEM), index);
    return keep_bytes(face, &answer, length);
}

static mortise_status op_set_item(mortise_hook *face, size_t index, const char *json, size_t length)
{
    struct parcel answer;
    struct text *out = ask(face, PARCEL_SET_ITEM);
    parcel_put_u64(out, index);
    parcel_put_bytes(out, json, length);
    return status_of(face, &answer);
}

static mortise_status op_remove_item(mortise_hook *face, size_t index)
{
    struct parcel answer;
    parcel_put_u64(ask(face, PARCEL_REMOVE_ITEM), index);
    return status_of(face, &answer);
}

static mortise_status put_json(mortise_hook *face, enum parcel_type type, const char *json,
                               size_t length)
{
    struct parcel answer;
    parcel_put_bytes(ask(face, type), json, length);
    return status_of(face, &answer);
}

static mortise_status op_append(mortise_hook *face, const char *json, size_t length)
{
    return put_json(face, PARCEL_APPEND, json, length);
}

static mortise_status op_set_arguments(mortise_hook *face, const char *json, size_t length)
{
    return put_json(face, PARCEL_SET_ARGUMENTS, json, length);
}

static mortise_status put_result(mortise_hook *face, enum parcel_type type, bool is_error,
                                 const char *text, size_t length)
{
    struct parcel answer;
    struct text *out = ask(face, type);
    parcel_put_u32(out, is_error);
    parcel_put_bytes(out, text, length);
    return status_of(face, &answer);
}

static mortise_status op_respond(mortise_hook *face, bool is_error, const char *text, size_t length)
{
    return put_result(face, PARCEL_RESPOND, is_error, text, length);
}

static mortise_status op_set_result(mortise_hook *face, bool is_error, const char *text,
                                    size_t length)
{
    return put_result(face, PARCEL_SET_RESULT, is_error, text, length);
}

/* State stays where it is: here. */
static void *op_tool_state(mortise_hook *face, const char *name, const char *tag)
{
    const struct served_hook *hook = hook_of(face);
    const struct plugin *plugin = hook->hook->plugin;
    if ((hook->event != HOOK_pre_tool_call && hook->event != HOOK_post_tool_call) || !name || !tag)
        return NULL;
    return plugin_tool_state(plugin, name, tag);
}

static const mortise_hook_ops served_ops = {.size = sizeof(served_ops),
                                            .reason = op_reason,
                                            .context = op_context,
                                            .alloc = op_alloc,
                                            .item_count = op_item_count,
                                            .item = op_item,
                                            .set_item = op_set_item,
                                            .remove_item = op_remove_item,
                                            .append = op_append,
                                            .set_arguments = op_set_arguments,
                                            .respond = op_respond,
                                            .set_result = op_set_result,
                                            .tool_state = op_tool_state};

/* ---- the events; what they say lives in the hook's memory ---- */

#define ASK(hook, member, event)                                                                   \
    (message->bad ? MORTISE_HOOK_FAILED                                                            \
                  : (hook)->hook->table->member((hook)->hook->table->state, &(hook)->face, (event)))

static mortise_verdict ask_prompt_submit(struct served_hook *hook, struct parcel *message)
{
    mortise_prompt_submit event = {.size = sizeof(event)};
    event.item = take_bytes(message, &hook->memory, &event.item_length);
    return ASK(hook, prompt_submit, &event);
}

static mortise_verdict ask_pre_llm_request(struct served_hook *hook, struct parcel *message)
{
    mortise_pre_llm_request event = {.size = sizeof(event)};
    event.turn = parcel_u32(message);
    event.locked_prefix = (size_t)parcel_u64(message);
    event.model = take_string(message, &hook->memory);
    return ASK(hook, pre_llm_request, &event);
}

static mortise_verdict ask_pre_tool_call(struct served_hook *hook, struct parcel *message)
{
    mortise_pre_tool_call event = {.size = sizeof(event)};
    event.turn = parcel_u32(message);
    event.index = parcel_u32(message);
    event.count = parcel_u32(message);
    event.call_id = take_string(message, &hook->memory);
    event.meta = take_meta(message, &hook->memory, UINT32_MAX);
    event.arguments = take_bytes(message, &hook->memory, &event.arguments_length);
    return ASK(hook, pre_tool_call, &event);
}

static mortise_verdict ask_post_tool_call(struct served_hook *hook, struct parcel *message)
{
    mortise_post_tool_call event = {.size = sizeof(event)};
    event.turn = parcel_u32(message);
    event.index = parcel_u32(message);
    event.count = parcel_u32(message);
    event.call_id = take_string(message, &hook->memory);
    event.meta = take_meta(message, &hook->memory, UINT32_MAX);
    event.arguments = take_bytes(message, &hook->memory, &event.arguments_length);
    event.result = take_bytes(message, &hook->memory, &event.result_length);
    event.is_error = parcel_flag(message);
    event.error_code = take_string(message, &hook->memory);
    event.duration_us = parcel_i64(message);
    return ASK(hook, post_tool_call, &event);
}

static mortise_verdict ask_turn_end(struct served_hook *hook, struct parcel *message)
{
    mortise_turn_end event = {.size = sizeof(event), .turn = parcel_u32(message)};
    return ASK(hook, turn_end, &event);
}

static mortise_verdict ask_on_abort(struct served_hook *hook, struct parcel *message)
{
    mortise_abort event = {.size = sizeof(event)};
    event.reason = take_bytes(message, &hook->memory, &event.reason_length);
    return ASK(hook, on_abort, &event);
}

static mortise_verdict ask_text_delta(struct served_hook *hook, struct parcel *message)
{
    mortise_text_delta event = {.size = sizeof(event), .index = parcel_u32(message)};
    event.text = take_bytes(message, &hook->memory, &event.length);
    return ASK(hook, text_delta, &event);
}

static mortise_verdict ask_tool_call_delta(struct served_hook *hook, struct parcel *message)
{
    mortise_tool_call_delta event = {.size = sizeof(event), .index = parcel_u32(message)};
    event.json = take_bytes(message, &hook->memory, &event.length);
    return ASK(hook, tool_call_delta, &event);
}

static mortise_verdict ask_stream_chunk(struct served_hook *hook, struct parcel *message)
{
    mortise_stream_chunk event = {.size = sizeof(event), .index = parcel_u32(message)};
    event.event = take_string(message, &hook->memory);
    event.json = take_bytes(message, &hook->memory, &event.length);
    return ASK(hook, stream_chunk, &event);
}

static mortise_verdict ask_stream_complete(struct served_hook *hook, struct parcel *message)
{
    mortise_stream_complete event = {.size = sizeof(event), .turn = parcel_u32(message)};
    event.event_count = parcel_u64(message);
    return ASK(hook, stream_complete, &event);
}

static mortise_verdict put_question(struct served_hook *hook, struct parcel *message)
{
    switch (hook->event) {
#define X(member, name)                                                                            \
    case HOOK_##member:                                                                            \
        return ask_##member(hook, message);
        HOOK_EVENTS(X)
#undef X
    case HOOK_EVENT_COUNT:
        break;
    }
    return MORTISE_HOOK_FAILED;
}

void serve_hook(struct served_lane *lane, struct parcel *message)
{
    uint64_t number = parcel_u64(message);
    uint32_t index = parcel_u32(message), event = parcel_u32(message);
    if (message->bad || index >= lane->plugin->hook_count || event >= HOOK_EVENT_COUNT ||
        !hook_takes(&lane->plugin->hooks[index], (enum hook_event)event))
        _exit(EXIT_FAILURE);
    struct served_hook hook = {.face = {.size = sizeof(hook.face), .ops = &served_ops},
                               .lane = lane,
                               .hook = &lane->plugin->hooks[index],
                               .event = (enum hook_event)event};
    arena_init(&hook.memory, NULL, 0);
    mortise_verdict verdict = put_question(&hook, message);
    parcel_begin(&lane->out, PARCEL_VERDICT);
    parcel_put_u64(&lane->out, number);
    parcel_put_u32(&lane->out, verdict);
    parcel_put_bytes(&lane->out, hook.reason.data, hook.reason.length);
    if (!lane_send(lane))
        _exit(EXIT_FAILURE);
    text_release(&hook.reason);
    arena_release(&hook.memory);
}

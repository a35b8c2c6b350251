/* A hook whose plugin is in a process of its own: the event goes out, the verdict comes back. */
#include <string.h>

#include "plugin/hooks.h"
#include "remote/exchange.h"
#include "remote/take.h"

static bool begin(struct exchange *exchange, void *state, mortise_hook *hook,
                  enum hook_event event)
{
    const struct remote_hook *self = state;
    *exchange = (struct exchange){
        .remote = self->remote, .hook = hook, .subject = hook_event_name(event)};
    if (!exchange_open(exchange, PARCEL_HOOK))
        return false;
    parcel_put_u32(exchange_out(exchange), self->index);
    parcel_put_u32(exchange_out(exchange), (uint32_t)event);
    return true;
}

static void take_verdict(struct exchange *exchange, mortise_verdict *verdict)
{
    struct parcel *end = &exchange->end;
    size_t length;
    *verdict = parcel_u32(end);
    const char *reason = parcel_bytes(end, &length);
    if (!parcel_ends(end)) {
        exchange_wrong(exchange);
        return;
    }
    if (reason)
        exchange->hook->ops->reason(exchange->hook, reason, length);
    remote_worked(exchange->remote);
}

/* A hook that could not be asked has failed, and says why (D26). */
static mortise_verdict end(struct exchange *exchange, bool is_open)
{
    mortise_verdict verdict = MORTISE_HOOK_FAILED;
    if (is_open && exchange_run(exchange, PARCEL_VERDICT))
        take_verdict(exchange, &verdict);
    if (exchange->failure[0]) {
        verdict = MORTISE_HOOK_FAILED;
        exchange->hook->ops->reason(exchange->hook, exchange->failure, strlen(exchange->failure));
    }
    exchange_close(exchange);
    return verdict;
}

static void put_call(struct text *out, uint32_t turn, uint32_t index, uint32_t count,
                     const char *call_id, const mortise_tool_meta *meta)
{
    parcel_put_u32(out, turn);
    parcel_put_u32(out, index);
    parcel_put_u32(out, count);
    parcel_put_string(out, call_id);
    put_meta(out, meta);
}

/* ---- the ten events ---- */

static mortise_verdict on_prompt_submit(void *state, mortise_hook *hook,
                                        const mortise_prompt_submit *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_prompt_submit);
    if (open)
        parcel_put_bytes(exchange_out(&exchange), event->item, event->item_length);
    return end(&exchange, open);
}

static mortise_verdict on_pre_llm_request(void *state, mortise_hook *hook,
                                          const mortise_pre_llm_request *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_pre_llm_request);
    if (open) {
        parcel_put_u32(exchange_out(&exchange), event->turn);
        parcel_put_u64(exchange_out(&exchange), event->locked_prefix);
        parcel_put_string(exchange_out(&exchange), event->model);
    }
    return end(&exchange, open);
}

static mortise_verdict on_pre_tool_call(void *state, mortise_hook *hook,
                                        const mortise_pre_tool_call *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_pre_tool_call);
    if (open) {
        struct text *out = exchange_out(&exchange);
        put_call(out, event->turn, event->index, event->count, event->call_id, event->meta);
        parcel_put_bytes(out, event->arguments, event->arguments_length);
    }
    return end(&exchange, open);
}

static mortise_verdict on_post_tool_call(void *state, mortise_hook *hook,
                                         const mortise_post_tool_call *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_post_tool_call);
    if (open) {
        struct text *out = exchange_out(&exchange);
        put_call(out, event->turn, event->index, event->count, event->call_id, event->meta);
        parcel_put_bytes(out, event->arguments, event->arguments_length);
        parcel_put_bytes(out, event->result, event->result_length);
        parcel_put_u32(out, event->is_error);
        parcel_put_string(out, event->error_code);
        parcel_put_i64(out, event->duration_us);
    }
    return end(&exchange, open);
}

static mortise_verdict on_turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_turn_end);
    if (open)
        parcel_put_u32(exchange_out(&exchange), event->turn);
    return end(&exchange, open);
}

static mortise_verdict on_on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_on_abort);
    if (open)
        parcel_put_bytes(exchange_out(&exchange), event->reason, event->reason_length);
    return end(&exchange, open);
}

static mortise_verdict on_text_delta(void *state, mortise_hook *hook,
                                     const mortise_text_delta *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_text_delta);
    if (open) {
        parcel_put_u32(exchange_out(&exchange), event->index);
        parcel_put_bytes(exchange_out(&exchange), event->text, event->length);
    }
    return end(&exchange, open);
}

static mortise_verdict on_tool_call_delta(void *state, mortise_hook *hook,
                                          const mortise_tool_call_delta *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_tool_call_delta);
    if (open) {
        parcel_put_u32(exchange_out(&exchange), event->index);
        parcel_put_bytes(exchange_out(&exchange), event->json, event->length);
    }
    return end(&exchange, open);
}

static mortise_verdict on_stream_chunk(void *state, mortise_hook *hook,
                                       const mortise_stream_chunk *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_stream_chunk);
    if (open) {
        parcel_put_u32(exchange_out(&exchange), event->index);
        parcel_put_string(exchange_out(&exchange), event->event);
        parcel_put_bytes(exchange_out(&exchange), event->json, event->length);
    }
    return end(&exchange, open);
}

static mortise_verdict on_stream_complete(void *state, mortise_hook *hook,
                                          const mortise_stream_complete *event)
{
    struct exchange exchange;
    bool open = begin(&exchange, state, hook, HOOK_stream_complete);
    if (open) {
        parcel_put_u32(exchange_out(&exchange), event->turn);
        parcel_put_u64(exchange_out(&exchange), event->event_count);
    }
    return end(&exchange, open);
}

void remote_hook_fill(struct remote_hook *hook, uint32_t mask)
{
#define X(member, name)                                                                            \
    if (mask & 1u << HOOK_##member)                                                                \
        hook->face.member = on_##member;
    HOOK_EVENTS(X)
#undef X
}

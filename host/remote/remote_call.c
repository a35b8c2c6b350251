/* A call of a tool whose plugin is in a process of its own. */
#include <stdio.h>
#include <string.h>

#include "remote/exchange.h"

static mortise_status tell_failure(const struct exchange *exchange)
{
    mortise_call *call = exchange->call;
    mortise_error error = {.size = sizeof(error),
                           .category = exchange->category,
                           .code = exchange->code,
                           .message = exchange->failure,
                           .message_length = strlen(exchange->failure)};
    return call->ops->fail(call, &error);
}

static void take_reply(mortise_call *call, struct parcel *end)
{
    size_t length;
    uint32_t type = parcel_u32(end);
    const char *text = parcel_bytes(end, &length);
    end->bad |= type > MORTISE_JSON_RESULT;
    if (text && !end->bad)
        call->ops->reply(call, type, text, length);
}

static void take_error(mortise_call *call, struct parcel *end)
{
    mortise_error error = {.size = sizeof(error)};
    error.category = parcel_u32(end);
    error.component = parcel_string(end);
    error.code = parcel_string(end);
    error.message = parcel_bytes(end, &error.message_length);
    error.retry_after_ms = parcel_i64(end);
    if (error.message && !end->bad)
        call->ops->fail(call, &error);
}

/* How the tool ended; what it says must hold together. */
static mortise_status take_end(struct exchange *exchange)
{
    struct parcel *end = &exchange->end;
    mortise_status status = (mortise_status)parcel_u32(end);
    take_reply(exchange->call, end);
    take_error(exchange->call, end);
    if (!parcel_ends(end) || status == MORTISE_PENDING) {
        exchange_wrong(exchange);
        return tell_failure(exchange);
    }
    remote_worked(exchange->remote);
    return status;
}

/* A call in a sandbox of its own has no more time than that. */
static int64_t remaining_ms(const struct remote *remote, mortise_call *call)
{
    int64_t left_ms = call->ops->remaining_ms(call);
    int64_t limit_ms = remote->confines ? remote->isolation.call_timeout_ms : 0;
    return limit_ms && (left_ms < 0 || left_ms > limit_ms) ? limit_ms : left_ms;
}

mortise_status remote_run(const mortise_tool *self, mortise_call *call, const void *args)
{
    const struct remote_tool *tool = self->state;
    char subject[100];
    struct exchange exchange = {.remote = tool->remote, .call = call, .subject = subject,
                                .tool = tool->index};
    mortise_status status = MORTISE_FAILED;
    snprintf(subject, sizeof(subject), "tool '%.64s'", self->meta->name);
    if (exchange_open(&exchange, PARCEL_CALL)) {
        struct text *out = exchange_out(&exchange);
        parcel_put_u32(out, tool->index);
        parcel_put_i64(out, remaining_ms(tool->remote, call));
        parcel_put_string(out, args);
        status = exchange_run(&exchange, PARCEL_FINISH) ? take_end(&exchange)
                                                      : tell_failure(&exchange);
    } else {
        status = tell_failure(&exchange);
    }
    exchange_close(&exchange);
    return status;
}

/*
 * batch - a list of messages in one, which clients of 2025-03-26 may send.
 *
 * Its requests are served one after the other, and their answers come as one list.  What belongs
 * to a request before its answer (progress) is sent on its own, at once.
 */
#include <stdlib.h>

#include "mcp/server_private.h"

#define BATCH_MAX 100 /* messages */

struct mcp_batch {
    struct mcp_sink sink; /* the list's own */
    struct text answers;  /* of those that were served, with commas between them */
    size_t count, served;
    struct mcp_exchange *requests[BATCH_MAX];
};

static void collect(void *self, struct slice message, int code, bool is_last)
{
    struct mcp_batch *batch = self;
    if (!is_last) {
        batch->sink.send(batch->sink.self, message, code, false);
        return;
    }
    if (batch->answers.length)
        text_putc(&batch->answers, ',');
    text_append(&batch->answers, message.data, message.length);
}

static size_t count_messages(struct json_piece list)
{
    struct json_walk walk;
    struct json_piece value;
    size_t count = 0;
    if (json_walk_into(&walk, list, '['))
        while (count <= BATCH_MAX && json_walk_next(&walk, NULL, &value))
            count++;
    return count;
}

bool batch_take(struct mcp_exchange *exchange)
{
    struct json_piece list = exchange->message.batch;
    struct json_walk walk;
    struct json_piece value;
    size_t count = count_messages(list);
    if (count == 0 || count > BATCH_MAX) {
        mcp_refuse(exchange, MCP_INVALID_REQUEST, "Invalid request: a batch has 1 to %d messages",
                   BATCH_MAX);
        return false;
    }
    struct mcp_batch *batch = calloc(1, sizeof(*batch));
    if (!batch) {
        mcp_refuse(exchange, MCP_INTERNAL_ERROR, "out of memory");
        return false;
    }
    exchange->batch = batch;
    batch->sink = exchange->sink;
    const struct mcp_sink sink = {collect, batch};
    json_walk_into(&walk, list, '[');
    while (json_walk_next(&walk, NULL, &value)) {
        struct mcp_exchange *request =
            mcp_take_message(exchange->server, exchange->connection,
                             (struct slice){value.data, value.length}, &sink, true);
        if (request)
            batch->requests[batch->count++] = request;
    }
    return true;
}

/* Notifications alone are answered by nothing. */
void batch_serve(struct mcp_exchange *exchange)
{
    struct mcp_batch *batch = exchange->batch;
    struct text out = TEXT_INIT;
    while (batch->served < batch->count) {
        struct mcp_exchange *request = batch->requests[batch->served++];
        if (batch->answers.length > MCP_ANSWER_MAX)
            mcp_exchange_refuse(request, MCP_INTERNAL_ERROR,
                                "not served: the answers of this batch are too long already");
        mcp_serve(request);
    }
    text_putc(&out, '[');
    text_append(&out, text_cstr(&batch->answers), batch->answers.length);
    text_putc(&out, ']');
    out.failed |= batch->answers.failed;
    if (batch->answers.length || out.failed)
        mcp_send(exchange, &out, 0, true);
    text_release(&out);
}

void batch_free(struct mcp_batch *batch)
{
    if (!batch)
        return;
    while (batch->served < batch->count) { /* nobody served it */
        struct mcp_exchange *request = batch->requests[batch->served++];
        mcp_close(request);
        mcp_exchange_unref(request);
    }
    text_release(&batch->answers);
    free(batch);
}

/*
 * progress - what a tool tells of its progress, as notifications for who gave a token.
 *
 * A value only grows: one that does not is dropped.  What a tool prints (emit) is the message of
 * a progress that counts up, as long as the tool gives no numbers of its own.  After a few at once
 * there is a limit on how many are sent; the last one that was held back comes before the answer.
 */
#include "base/clock.h"
#include "base/json_write.h"
#include "mcp/server_private.h"
#include "tool/call.h"

enum { BURST = 32, EACH_MS = 20 };

void mcp_progress_init(struct mcp_progress *progress)
{
    pthread_mutex_init(&progress->lock, NULL);
}

void mcp_progress_release(struct mcp_progress *progress)
{
    text_release(&progress->message);
    pthread_mutex_destroy(&progress->lock);
}

static void send_locked(struct mcp_exchange *exchange)
{
    struct mcp_progress *progress = &exchange->progress;
    struct text out = TEXT_INIT;
    text_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                    "\"progressToken\":");
    text_append(&out, exchange->message.progress_token.data,
                exchange->message.progress_token.length);
    json_put_number(&out, "progress", progress->done);
    if (progress->total > 0)
        json_put_number(&out, "total", progress->total);
    if (progress->message.length && exchange->revision != MCP_2024_11_05)
        json_put_text(&out, "message", progress->message.data, progress->message.length);
    text_puts(&out, "}}");
    mcp_send(exchange, &out, 0, false);
    text_release(&out);
    progress->waits = false;
}

/* Whether one may be sent now. */
static bool has_credit_locked(struct mcp_progress *progress)
{
    int64_t now_ms = clock_ms();
    int64_t earned = progress->since_ms ? (now_ms - progress->since_ms) / EACH_MS : BURST;
    if (earned > 0) {
        progress->since_ms =
            progress->since_ms && earned < BURST ? progress->since_ms + earned * EACH_MS : now_ms;
        progress->credit =
            earned < BURST - progress->credit ? progress->credit + (unsigned)earned : BURST;
    }
    if (!progress->credit)
        return false;
    progress->credit--;
    return true;
}

/* False: it says nothing new. */
static bool take_locked(struct mcp_progress *progress, const struct progress *news)
{
    bool is_numeric = !news->stream;
    double done = is_numeric ? news->done : progress->began ? progress->told + 1 : 1;
    if (!is_numeric && progress->is_numeric)
        return false;
    progress->is_numeric |= is_numeric;
    if (progress->began && done <= progress->told)
        return false;
    progress->began = true;
    progress->told = progress->done = done;
    progress->total = is_numeric ? news->total : 0;
    text_reset(&progress->message);
    text_append(&progress->message, news->text.data, news->text.length);
    return true;
}

void mcp_progress_take(struct mcp_exchange *exchange, const struct progress *news)
{
    struct mcp_progress *progress = &exchange->progress;
    if (!exchange->message.progress_token.length)
        return;
    pthread_mutex_lock(&progress->lock);
    if (take_locked(progress, news)) {
        progress->waits = true;
        if (has_credit_locked(progress))
            send_locked(exchange);
    }
    pthread_mutex_unlock(&progress->lock);
}

void mcp_progress_end(struct mcp_exchange *exchange)
{
    struct mcp_progress *progress = &exchange->progress;
    pthread_mutex_lock(&progress->lock);
    if (progress->waits)
        send_locked(exchange);
    pthread_mutex_unlock(&progress->lock);
}

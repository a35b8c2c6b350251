/* Events of MCP servers: bytes in any pieces give the same as in one piece, and no more is kept
 * than an event may have. */
#include "fuzz_pieces.h"

#include "../../plugins/mcp_bridge/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_EVENT_BYTES 64

static void on_event(void *context, const struct sse_event *event)
{
    struct text *events = context;
    if (event->length > MAX_EVENT_BYTES || strlen(event->name) >= SSE_NAME_BYTES)
        abort();
    text_printf(events, "%s %zu:", event->name, event->length);
    text_append(events, event->data, event->length);
}

static bool feed(void *reader, const char *piece, size_t length)
{
    struct sse *sse = reader;
    bool ok = sse_feed(sse, piece, length);
    if (sse->line.length > MAX_EVENT_BYTES + 64 + length || sse->data.length > MAX_EVENT_BYTES)
        abort();
    return ok;
}

/* The first bytes of the input choose the cuts. */
static bool read_in_pieces(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                           struct text *events)
{
    struct sse sse;
    sse_begin(&sse, on_event, events, MAX_EVENT_BYTES);
    bool ok = fuzz_in_pieces(data, size, cuts, cut_count, 8, feed, &sse) && sse_end(&sse);
    text_printf(events, "%s %lld", sse.id, (long long)sse.retry_ms);
    sse_release(&sse);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4)
        fuzz_both_ways(read_in_pieces, (const char *)data + 4, size - 4, data, 4);
    return 0;
}

/* Bytes in any pieces give the same events as in one piece. */
#include "fuzz_pieces.h"
#include "provider/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_EVENT_BYTES 64

static void on_event(void *context, const char *data, size_t length)
{
    struct text *events = context;
    text_printf(events, "%zu:", length);
    text_append(events, data, length);
}

static bool feed(void *reader, const char *piece, size_t length)
{
    struct error error = ERROR_INIT;
    return sse_feed(reader, piece, length, &error);
}

/* The first bytes of the input choose the cuts. */
static bool read_in_pieces(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                           struct text *events)
{
    struct error error = ERROR_INIT;
    struct sse sse;
    sse_init(&sse, on_event, events);
    sse.max_event_bytes = MAX_EVENT_BYTES;
    bool ok = fuzz_in_pieces(data, size, cuts, cut_count, 8, feed, &sse) && sse_end(&sse, &error);
    sse_release(&sse);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4)
        fuzz_both_ways(read_in_pieces, (const char *)data + 4, size - 4, data, 4);
    return 0;
}

/* Bytes in any pieces give the same events as in one piece. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "provider/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_EVENT_BYTES 64

static void on_event(void *context, const char *data, size_t length)
{
    struct text *events = context;
    text_printf(events, "%zu:", length);
    text_append(events, data, length);
}

/* The first bytes of the input choose the cuts. */
static bool read_in_pieces(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                           struct text *events)
{
    struct error error = ERROR_INIT;
    struct sse sse;
    size_t at = 0;
    bool ok = true;
    sse_init(&sse, on_event, events);
    sse.max_event_bytes = MAX_EVENT_BYTES;
    for (size_t i = 0; ok && at < size; i++) {
        size_t step = cut_count ? cuts[i % cut_count] % 9u : size;
        step = step < size - at ? step : size - at;
        if (!step && cut_count)
            step = i % 3 ? 1 : 0;
        char *piece = malloc(step ? step : 1); /* exactly as long: one byte too far is seen */
        if (!piece)
            abort();
        memcpy(piece, data + at, step);
        ok = sse_feed(&sse, piece, step, &error);
        free(piece);
        at += step;
    }
    ok = ok && sse_end(&sse, &error);
    sse_release(&sse);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    struct text whole = TEXT_INIT, pieces = TEXT_INIT;
    const char *body = (const char *)data + 4;
    bool whole_ok = read_in_pieces(body, size - 4, NULL, 0, &whole);
    bool pieces_ok = read_in_pieces(body, size - 4, data, 4, &pieces);
    if (whole_ok != pieces_ok || whole.length != pieces.length ||
        (whole.length && memcmp(whole.data, pieces.data, whole.length) != 0))
        abort();
    text_release(&whole);
    text_release(&pieces);
    return 0;
}

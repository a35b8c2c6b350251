/*
 * fuzz_decoder - one response through a decoder, and what must hold for any bytes: the same
 * result in one piece and in single bytes, valid UTF-8 everywhere, an error or an end.
 */
#ifndef FUZZ_DECODER_H
#define FUZZ_DECODER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "provider/provider.h"
#include "provider/sse.h"
#include "provider/wire_error.h"

struct fuzz_run {
    const struct wire *wire;
    struct wire_decoder *decoder;
    struct timeline timeline;
    struct stream stream;
    struct text trace; /* what was shown, without ids that the host made up */
};

static inline void fuzz_check(bool holds)
{
    if (!holds)
        abort();
}

static inline void fuzz_on_event(void *self, const struct event *event)
{
    struct fuzz_run *run = self;
    struct slice text = {0};
    if (event->kind == EVENT_BLOCK_DELTA || event->kind == EVENT_BLOCK_STOP)
        text = event->as.block.text;
    else if (event->kind == EVENT_STATUS)
        text = event->as.status.text;
    else if (event->kind == EVENT_VERBATIM)
        text = event->as.verbatim.json;
    fuzz_check(utf8_valid(text.data, text.length) == text.length);
    if (event->kind == EVENT_VERBATIM) {
        json_t *array = json_loadb(text.data, text.length, JSON_ALLOW_NUL, NULL);
        fuzz_check(json_array_size(array) > 0);
        json_decref(array);
        return;
    }
    text_printf(&run->trace, "%d:", (int)event->kind);
    text_append(&run->trace, text.data, text.length);
}

static inline void fuzz_on_data(void *context, const char *data, size_t length)
{
    struct fuzz_run *run = context;
    if (!run->stream.ended)
        run->wire->decoder_event(run->decoder, data, length);
}

static inline void fuzz_begin(struct fuzz_run *run, const struct wire *wire)
{
    *run = (struct fuzz_run){.wire = wire};
    timeline_init(&run->timeline);
    fuzz_check(timeline_add(&run->timeline, EVENT_ALL, fuzz_on_event, run));
    stream_init(&run->stream, &run->timeline);
    stream_begin(&run->stream);
    run->decoder = wire->decoder_new(&run->stream);
    fuzz_check(run->decoder != NULL);
}

static inline void fuzz_end(struct fuzz_run *run)
{
    if (run->stream.error.kind == ERROR_NONE)
        run->wire->decoder_end(run->decoder);
    bool succeeded = stream_finish(&run->stream);
    fuzz_check(succeeded == (run->stream.error.kind == ERROR_NONE));
    fuzz_check(!succeeded || run->stream.stop != STOP_UNKNOWN);
    text_printf(&run->trace, "%d/%s", (int)run->stream.stop, run->stream.error.message);
    run->wire->decoder_free(run->decoder);
    stream_release(&run->stream);
    timeline_release(&run->timeline);
}

static inline void fuzz_read(struct fuzz_run *run, const struct wire *wire, const char *body,
                             size_t size, size_t step)
{
    struct error error = ERROR_INIT;
    struct sse sse;
    fuzz_begin(run, wire);
    sse_init(&sse, fuzz_on_data, run);
    bool ok = true;
    for (size_t at = 0; ok && at < size; at += step)
        ok = sse_feed(&sse, body + at, step < size - at ? step : size - at, &error);
    if (ok)
        sse_end(&sse, &error);
    sse_release(&sse);
    fuzz_end(run);
}

static inline void fuzz_decoder(const struct wire *wire, const char *body, size_t size)
{
    struct fuzz_run whole, bytes, document;
    struct error error = ERROR_INIT;
    fuzz_read(&whole, wire, body, size, size ? size : 1);
    fuzz_read(&bytes, wire, body, size, 1);
    fuzz_check(whole.trace.length == bytes.trace.length &&
               !memcmp(whole.trace.data, bytes.trace.data, whole.trace.length));
    fuzz_begin(&document, wire);
    wire->decoder_whole(document.decoder, body, size);
    fuzz_end(&document);
    wire_error_from_body(&error, 400, body, size);
    fuzz_check(error.kind != ERROR_NONE && *error.message);
    text_release(&whole.trace);
    text_release(&bytes.trace);
    text_release(&document.trace);
}

#endif

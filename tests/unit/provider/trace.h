/*
 * trace - a stream's events as lines of text, to compare with what they should be:
 *
 *     open text 0 | delta 0 Hi | close 0 Hi | open tool_call 1 c1 greet | stop end | …
 */
#ifndef TEST_TRACE_H
#define TEST_TRACE_H

#include <stdio.h>

#include "base/text.h"
#include "provider/stream.h"

static inline void trace_block(struct text *out, const char *verb, const struct event *event)
{
    text_printf(out, "%s %u ", verb, event->as.block.index);
    text_append(out, event->as.block.text.data, event->as.block.text.length);
}

/* A timeline_handler; `self` is a struct text. */
static inline void trace_event(void *self, const struct event *event)
{
    struct text *out = self;
    if (out->length)
        text_puts(out, " | ");
    switch ((int)event->kind) {
    case EVENT_BLOCK_START:
        text_printf(out, "open %s %u", block_kind_name(event->as.block.kind),
                    event->as.block.index);
        if (event->as.block.kind == BLOCK_TOOL_USE)
            text_printf(out, " %s %s", event->as.block.id, event->as.block.name);
        break;
    case EVENT_BLOCK_DELTA:
        trace_block(out, "delta", event);
        break;
    case EVENT_BLOCK_STOP:
        trace_block(out, "close", event);
        break;
    case EVENT_STOP:
        text_printf(out, "stop %s", stop_reason_name(event->as.stop.reason));
        break;
    case EVENT_VERBATIM:
        text_printf(out, "verbatim %s", event->as.verbatim.json.data);
        break;
    case EVENT_PING:
        text_puts(out, "ping");
        break;
    case EVENT_SETTLED:
        text_puts(out, "settled");
        break;
    default:
        event_write_json(event, out);
    }
}

#endif

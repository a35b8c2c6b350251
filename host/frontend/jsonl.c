#include "frontend/jsonl.h"

#include <errno.h>

#include "base/secret.h"

static void show(void *self, const struct event *event)
{
    struct jsonl *jsonl = self;
    text_reset(&jsonl->line);
    if (event_write_json(event, &jsonl->line)) {
        secret_redact(&jsonl->line);
        text_putc(&jsonl->line, '\n');
        output_foreign(jsonl->output, jsonl->line.data, jsonl->line.length);
        if (event->kind != EVENT_BLOCK_DELTA)
            output_flush(jsonl->output);
    } else if (event->kind == EVENT_SETTLED || event->kind == EVENT_BLOCK_STOP) {
        output_flush(jsonl->output);
    }
    if (jsonl->line.failed)
        output_fail(jsonl->output, ENOMEM);
}

bool jsonl_register(struct jsonl *jsonl, struct output *output, struct timeline *timeline)
{
    *jsonl = (struct jsonl){.output = output};
    return timeline_add(timeline, EVENT_ALL, show, jsonl);
}

void jsonl_release(struct jsonl *jsonl)
{
    text_release(&jsonl->line);
}

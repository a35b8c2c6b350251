#include "timeline/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void collect_init(struct collect *collect)
{
    *collect = (struct collect){.usage = USAGE_INIT};
}

static void block_release(struct collected_block *block)
{
    free(block->id);
    free(block->name);
    text_release(&block->text);
}

void collect_begin(struct collect *collect)
{
    for (size_t i = 0; i < collect->count; i++)
        block_release(&collect->items[i]);
    collect->count = 0;
    text_reset(&collect->verbatim);
    collect->stop = STOP_UNKNOWN;
    collect->usage = (struct usage)USAGE_INIT;
    collect->failed = false;
}

void collect_release(struct collect *collect)
{
    collect_begin(collect);
    free(collect->items);
    text_release(&collect->verbatim);
    collect_init(collect);
}

/* The open block of an index.  The newest is the likeliest. */
static struct collected_block *find_open(struct collect *collect, unsigned index)
{
    for (size_t i = collect->count; i > 0; i--) {
        struct collected_block *block = &collect->items[i - 1];
        if (block->index == index && block->open)
            return block;
    }
    return NULL;
}

static bool copy_name(char **out, const char *name)
{
    *out = name ? strdup(name) : NULL;
    return *out || !name;
}

static void block_start(struct collect *collect, const struct event *event)
{
    struct collected_block block = {
        .kind = event->as.block.kind, .index = event->as.block.index, .open = true};
    if (!array_reserve(collect, 1) || !copy_name(&block.id, event->as.block.id) ||
        !copy_name(&block.name, event->as.block.name)) {
        block_release(&block);
        collect->failed = true;
        return;
    }
    collect->items[collect->count++] = block;
}

static void block_delta(struct collect *collect, const struct event *event)
{
    struct collected_block *block = find_open(collect, event->as.block.index);
    if (!block)
        return;
    text_append(&block->text, event->as.block.text.data, event->as.block.text.length);
    collect->failed |= block->text.failed;
}

static void block_stop(struct collect *collect, const struct event *event)
{
    struct collected_block *block = find_open(collect, event->as.block.index);
    if (block)
        block->open = false;
}

static void keep_verbatim(struct collect *collect, struct slice json)
{
    text_reset(&collect->verbatim);
    text_append(&collect->verbatim, json.data, json.length);
    collect->failed |= collect->verbatim.failed;
}

static void on_event(void *self, const struct event *event)
{
    struct collect *collect = self;
    switch ((int)event->kind) {
    case EVENT_BLOCK_START:
        block_start(collect, event);
        break;
    case EVENT_BLOCK_DELTA:
        block_delta(collect, event);
        break;
    case EVENT_BLOCK_STOP:
        block_stop(collect, event);
        break;
    case EVENT_VERBATIM:
        keep_verbatim(collect, event->as.verbatim.json);
        break;
    case EVENT_STOP:
        collect->stop = event->as.stop.reason;
        break;
    case EVENT_USAGE:
        collect->usage = event->as.usage;
        break;
    case EVENT_RESET:
        collect_begin(collect);
        break;
    }
}

bool collect_register(struct collect *collect, struct timeline *timeline)
{
    uint32_t kinds = EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_BLOCK_DELTA) |
                     EVENT_BIT(EVENT_BLOCK_STOP) | EVENT_BIT(EVENT_VERBATIM) |
                     EVENT_BIT(EVENT_STOP) | EVENT_BIT(EVENT_USAGE) | EVENT_BIT(EVENT_RESET);
    return timeline_add(timeline, kinds, on_event, collect);
}

void collect_text(const struct collect *collect, enum block_kind kind, struct text *out)
{
    for (size_t i = 0; i < collect->count; i++)
        if (collect->items[i].kind == kind)
            text_append(out, collect->items[i].text.data, collect->items[i].text.length);
}

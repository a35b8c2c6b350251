#include "timeline/timeline.h"

#include <stdlib.h>

#include "base/array.h"

void timeline_init(struct timeline *timeline)
{
    *timeline = (struct timeline){0};
}

void timeline_release(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (timeline->items[i].release)
            timeline->items[i].release(timeline->items[i].self);
    free(timeline->items);
    timeline_init(timeline);
}

bool timeline_add_owned(struct timeline *timeline, uint32_t kinds, timeline_handler *handler,
                        void *self, void (*release)(void *self))
{
    if (!array_reserve(timeline, 1))
        return false;
    timeline->items[timeline->count++] = (struct timeline_entry){kinds, handler, self, release};
    return true;
}

bool timeline_add(struct timeline *timeline, uint32_t kinds, timeline_handler *handler, void *self)
{
    return timeline_add_owned(timeline, kinds, handler, self, NULL);
}

void timeline_emit(const struct timeline *timeline, const struct event *event)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_entry *entry = &timeline->items[i];
        if (entry->kinds & EVENT_BIT(event->kind))
            entry->handler(entry->self, event);
    }
}

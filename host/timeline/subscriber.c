#include "timeline/subscriber.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"

struct open_block {
    enum block_kind kind;
    unsigned index;
    char *id;   /* of a tool use */
    char *name; /* of a tool use */
    void *scope;
};

struct subscription {
    struct subscriber to;
    struct open_block *items;
    size_t count;
    size_t capacity;
    struct usage usage; /* of the attempt at hand */
    bool has_usage;
};

/* ---- scopes ---- */

static void *make_scope(const struct subscriber *to, enum block_kind kind)
{
    void *(*make)(void *) = kind == BLOCK_TEXT        ? to->text_scope
                            : kind == BLOCK_REASONING ? to->thinking_scope
                                                      : to->tool_use_scope;
    return make ? make(to->self) : NULL;
}

static void free_scope(const struct subscriber *to, const struct open_block *block)
{
    void (*release)(void *, void *) = block->kind == BLOCK_TEXT        ? to->text_scope_free
                                      : block->kind == BLOCK_REASONING ? to->thinking_scope_free
                                                                       : to->tool_use_scope_free;
    if (release && block->scope)
        release(to->self, block->scope);
}

static struct open_block *find(struct subscription *subscription, unsigned index)
{
    for (size_t i = subscription->count; i > 0; i--)
        if (subscription->items[i - 1].index == index)
            return &subscription->items[i - 1];
    return NULL;
}

/* NULL: no memory, and nothing more is told of the block. */
static struct open_block *open_block(struct subscription *subscription, const struct event *event)
{
    struct open_block block = {.kind = event->as.block.kind, .index = event->as.block.index};
    if (!array_reserve(subscription, 1))
        return NULL;
    if (block.kind == BLOCK_TOOL_USE) {
        block.id = strdup(event->as.block.id ? event->as.block.id : "");
        block.name = strdup(event->as.block.name ? event->as.block.name : "");
    }
    if (block.kind == BLOCK_TOOL_USE && (!block.id || !block.name)) {
        free(block.id);
        free(block.name);
        return NULL;
    }
    block.scope = make_scope(&subscription->to, block.kind);
    subscription->items[subscription->count] = block;
    return &subscription->items[subscription->count++];
}

static void remove_block(struct subscription *subscription, struct open_block *block)
{
    free_scope(&subscription->to, block);
    free(block->id);
    free(block->name);
    size_t behind = (size_t)(subscription->items + subscription->count - (block + 1));
    memmove(block, block + 1, behind * sizeof(*block));
    subscription->count--;
}

/* ---- text, thinking, tool use ---- */

static void tell_text(const struct subscriber *to, const struct open_block *block,
                      const struct text_block *text)
{
    if (block->kind == BLOCK_REASONING) {
        if (to->thinking_block)
            to->thinking_block(to->self, block->scope, text);
        return;
    }
    if (to->text_block)
        to->text_block(to->self, block->scope, text);
    if (to->text_complete && text->phase == BLOCK_ENDS && !text->aborted)
        to->text_complete(to->self, text->text);
}

static void tell_call(const struct subscriber *to, const struct open_block *block,
                      struct slice text)
{
    json_t *input = text.length ? json_parse(text.data, text.length, NULL, NULL) : json_object();
    const struct tool_use call = {.id = block->id,
                                  .name = block->name,
                                  .input = json_is_object(input) ? input : NULL,
                                  .text = text};
    to->tool_call_complete(to->self, &call);
    json_decref(input);
}

static void tell_tool_use(const struct subscriber *to, const struct open_block *block,
                          enum block_phase phase, struct slice json, bool aborted)
{
    if (to->tool_use_block)
        to->tool_use_block(to->self, block->scope,
                           &(struct tool_use_block){.phase = phase,
                                                    .index = block->index,
                                                    .id = block->id,
                                                    .name = block->name,
                                                    .json = json,
                                                    .aborted = aborted});
    if (to->tool_call_complete && phase == BLOCK_ENDS && !aborted)
        tell_call(to, block, json);
}

static void tell_block(const struct subscriber *to, const struct open_block *block,
                       enum block_phase phase, struct slice text, bool aborted)
{
    if (block->kind == BLOCK_TOOL_USE)
        tell_tool_use(to, block, phase, text, aborted);
    else
        tell_text(to, block,
                  &(struct text_block){
                      .phase = phase, .index = block->index, .text = text, .aborted = aborted});
}

static void on_block(struct subscription *subscription, const struct event *event)
{
    const struct subscriber *to = &subscription->to;
    struct slice text = event->as.block.text;
    struct open_block *block;
    if (event->as.block.kind == BLOCK_REFUSAL)
        return;
    if (event->kind == EVENT_BLOCK_START) {
        block = open_block(subscription, event);
        if (block)
            tell_block(to, block, BLOCK_BEGINS, (struct slice){"", 0}, false);
        return;
    }
    block = find(subscription, event->as.block.index);
    if (!block)
        return;
    if (event->kind == EVENT_BLOCK_DELTA) {
        tell_block(to, block, BLOCK_GROWS, text, false);
        return;
    }
    tell_block(to, block, BLOCK_ENDS, text, event->as.block.aborted);
    remove_block(subscription, block);
}

/* Whatever is open ends here (D2). */
static void abort_blocks(struct subscription *subscription)
{
    while (subscription->count) {
        struct open_block *block = &subscription->items[subscription->count - 1];
        tell_block(&subscription->to, block, BLOCK_ENDS, (struct slice){"", 0}, true);
        remove_block(subscription, block);
    }
}

/* ---- the rest ---- */

static void begin_attempt(struct subscription *subscription)
{
    abort_blocks(subscription);
    subscription->has_usage = false;
}

static void on_turn_start(struct subscription *subscription, unsigned turn)
{
    begin_attempt(subscription);
    if (subscription->to.turn_start)
        subscription->to.turn_start(subscription->to.self, turn);
}

static void on_turn_end(struct subscription *subscription, unsigned turn)
{
    const struct subscriber *to = &subscription->to;
    abort_blocks(subscription);
    if (subscription->has_usage && to->usage)
        to->usage(to->self, &subscription->usage);
    subscription->has_usage = false;
    if (to->turn_end)
        to->turn_end(to->self, turn);
}

static void on_event(void *self, const struct event *event)
{
    struct subscription *subscription = self;
    const struct subscriber *to = &subscription->to;
    switch ((int)event->kind) {
    case EVENT_TURN_START:
        on_turn_start(subscription, event->as.turn_start.turn);
        break;
    case EVENT_BLOCK_START:
    case EVENT_BLOCK_DELTA:
    case EVENT_BLOCK_STOP:
        on_block(subscription, event);
        break;
    case EVENT_USAGE:
        subscription->usage = event->as.usage;
        subscription->has_usage = true;
        break;
    case EVENT_RESET:
        begin_attempt(subscription);
        break;
    case EVENT_PING:
        if (to->ping)
            to->ping(to->self);
        break;
    case EVENT_STATUS:
        if (to->status)
            to->status(to->self, event->as.status.text);
        break;
    case EVENT_ERROR:
        if (to->error)
            to->error(to->self, event->as.error);
        break;
    case EVENT_TURN_END:
        on_turn_end(subscription, event->as.turn_end.turn);
        break;
    }
}

static void subscription_free(void *self)
{
    struct subscription *subscription = self;
    while (subscription->count)
        remove_block(subscription, &subscription->items[subscription->count - 1]);
    free(subscription->items);
    free(subscription);
}

bool timeline_subscribe(struct timeline *timeline, const struct subscriber *subscriber)
{
    uint32_t kinds = EVENT_BIT(EVENT_TURN_START) | EVENT_BIT(EVENT_BLOCK_START) |
                     EVENT_BIT(EVENT_BLOCK_DELTA) | EVENT_BIT(EVENT_BLOCK_STOP) |
                     EVENT_BIT(EVENT_USAGE) | EVENT_BIT(EVENT_RESET) | EVENT_BIT(EVENT_PING) |
                     EVENT_BIT(EVENT_STATUS) | EVENT_BIT(EVENT_ERROR) | EVENT_BIT(EVENT_TURN_END);
    struct subscription *subscription = calloc(1, sizeof(*subscription));
    if (!subscription)
        return false;
    subscription->to = *subscriber;
    if (timeline_add_owned(timeline, kinds, on_event, subscription, subscription_free))
        return true;
    free(subscription);
    return false;
}

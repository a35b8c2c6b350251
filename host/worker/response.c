#include <stdlib.h>

#include "tool/arguments.h"
#include "worker/state.h"

static bool add(struct worker *worker, struct origin *origin, struct item *item,
                struct error *error)
{
    if (!item)
        return error_memory(error);
    item->origin = origin_ref(origin);
    return history_append(&worker->history, item, error);
}

static bool store_reasoning(struct worker *worker, struct origin *origin, struct error *error)
{
    struct text text = TEXT_INIT;
    collect_text(&worker->collect, BLOCK_REASONING, &text);
    bool ok = !text.failed || error_memory(error);
    if (ok && text.length > 0)
        ok = add(worker, origin, item_reasoning(text.data, text.length), error);
    text_release(&text);
    return ok;
}

/* The text of all blocks is one message; no text is no message (W30). */
static bool store_message(struct worker *worker, struct origin *origin, enum block_kind block,
                          enum part_kind part, struct error *error)
{
    struct text text = TEXT_INIT;
    collect_text(&worker->collect, block, &text);
    bool ok = !text.failed || error_memory(error);
    if (ok && text.length > 0) {
        ok = add(worker, origin, item_message(ROLE_ASSISTANT, part, text.data, text.length), error);
        text_reset(&worker->result->text);
        text_append(&worker->result->text, text.data, text.length);
    }
    text_release(&text);
    return ok;
}

/* An unreadable call is stored with the text as it came, marked; its result will say why. */
static bool store_call(struct worker *worker, struct origin *origin,
                       const struct collected_block *block, struct error *error)
{
    struct text repaired = TEXT_INIT;
    bool valid = arguments_repair(block->text.data, block->text.length, &repaired, NULL);
    const struct text *text = valid ? &repaired : &block->text;
    bool long_running = tool_is_long_running(worker->options.registry, block->name);
    bool ok = !repaired.failed || error_memory(error);
    if (ok)
        ok = add(worker, origin,
                 item_call(block->id, block->name, text_cstr(text), text->length, valid), error);
    if (ok)
        timeline_emit(&worker->timeline,
                      &(struct event){
                          .kind = EVENT_TOOL_CALL,
                          .as.tool_call = {.id = block->id,
                                           .name = block->name,
                                           .arguments = {text_cstr(text), text->length},
                                           .valid = valid,
                                           .long_running = long_running},
                      });
    text_release(&repaired);
    return ok;
}

static bool has_text(const struct collect *collect, enum block_kind kind)
{
    for (size_t i = 0; i < collect->count; i++)
        if (collect->items[i].kind == kind && collect->items[i].text.length > 0)
            return true;
    return false;
}

/* How many items response_store() makes: they are written down as one, so this comes first. */
static size_t count_items(const struct collect *collect)
{
    size_t count = (size_t)has_text(collect, BLOCK_REASONING) +
                   (size_t)has_text(collect, BLOCK_TEXT) + (size_t)has_text(collect, BLOCK_REFUSAL);
    for (size_t i = 0; i < collect->count; i++)
        count += collect->items[i].kind == BLOCK_TOOL_USE;
    return count;
}

static struct origin *origin_of_response(const struct worker *worker)
{
    const struct client *client = worker->options.client;
    const struct text *verbatim = &worker->collect.verbatim;
    struct origin *origin = origin_new(client->provider, client->model);
    if (!origin)
        return NULL;
    origin->item_count = count_items(&worker->collect);
    if (verbatim->length == 0)
        return origin;
    struct text copy = TEXT_INIT;
    text_append(&copy, verbatim->data, verbatim->length);
    origin->verbatim.data = text_take(&copy, &origin->verbatim.length);
    return origin;
}

bool response_store(struct worker *worker, struct error *error)
{
    const struct collect *collect = &worker->collect;
    if (collect->failed)
        return error_memory(error);
    struct origin *origin = origin_of_response(worker);
    if (!origin)
        return error_memory(error);
    bool ok = store_reasoning(worker, origin, error) &&
              store_message(worker, origin, BLOCK_TEXT, PART_OUTPUT_TEXT, error) &&
              store_message(worker, origin, BLOCK_REFUSAL, PART_REFUSAL, error);
    for (size_t i = 0; ok && i < collect->count; i++)
        if (collect->items[i].kind == BLOCK_TOOL_USE)
            ok = store_call(worker, origin, &collect->items[i], error);
    origin_unref(origin);
    return ok;
}

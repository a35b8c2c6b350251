#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "conversation/item_view.h"
#include "tool/cap.h"
#include "worker/state.h"

enum {
    LEAST_BYTES = 1024,   /* no result is made shorter than this */
    IMAGE_BYTES = 6 << 10 /* an image counts as much as so much text, whatever its size */
};

/* ---- how long it is ---- */

static size_t weight_of_part(const struct attachment *part)
{
    bool is_image = !part->data.data || strncmp(part->mime_type, "image/", 6) == 0;
    return is_image ? IMAGE_BYTES : part->data.length;
}

size_t shorten_weight(const struct item *item)
{
    size_t weight = item->text.length + item->arguments.length;
    for (size_t i = 0; i < item->part_count; i++)
        weight += item->parts[i].text.length;
    for (size_t i = 0; i < item->attachment_count; i++)
        weight += weight_of_part(&item->attachments[i]);
    return weight;
}

/* ---- one result ---- */

/* What is to be cut, and where all of it is: a result that was cut before is cut anew from what it
 * was made of.  False: there is no place for it, and it must not be cut. */
static bool find_whole(struct worker *worker, const struct item *result, struct text *text,
                       struct text *path)
{
    struct error error;
    if (whole_has_place(worker) && whole_find(worker, result->call_id, &result->text, text, path))
        return true;
    text_reset(text);
    text_append(text, result->text.data, result->text.length);
    if (!whole_has_place(worker) ||
        whole_save(worker, result->call_id, "text/plain; charset=utf-8", result->text.data,
                   result->text.length, path, &error))
        return !text->failed;
    log_warning("the result of call '%s' is not shortened: %s", result->call_id, error.message);
    return false;
}

static bool put_text(struct worker *worker, const struct item *result, size_t room,
                     struct text *out)
{
    struct text path = TEXT_INIT;
    bool ok = true;
    if (result->text.length > room)
        ok = find_whole(worker, result, out, &path) && result_cap(out, room, path.data);
    else
        text_append(out, result->text.data, result->text.length);
    text_release(&path);
    return ok;
}

/* Says of each part what it was and where it is. */
static bool put_parts(struct worker *worker, const struct item *result, struct text *out)
{
    struct text name = TEXT_INIT, path = TEXT_INIT;
    struct error error;
    bool kept = true;
    for (size_t i = 0; kept && i < result->attachment_count; i++) {
        const struct attachment *part = &result->attachments[i];
        bool has_place = part->data.data && whole_has_place(worker);
        text_reset(&name);
        text_printf(&name, "%s.part%zu", result->call_id, i);
        if (has_place)
            kept = whole_save(worker, text_cstr(&name), part->mime_type, part->data.data,
                              part->data.length, &path, &error);
        text_puts(out, "\n[mortise: left out here: ");
        attachment_describe(part, out);
        if (has_place && kept)
            text_printf(out, "; it is in %s", path.data);
        text_putc(out, ']');
    }
    if (!kept)
        log_warning("the result of call '%s' is not shortened: %s", result->call_id, error.message);
    text_release(&name);
    text_release(&path);
    return kept && !out->failed;
}

/* NULL: it stays as it is. */
static struct item *make_shorter(struct worker *worker, const struct item *result, size_t level)
{
    struct text text = TEXT_INIT, parts = TEXT_INIT;
    struct item *shorter = NULL;
    if (put_parts(worker, result, &parts) &&
        put_text(worker, result, level > parts.length ? level - parts.length : 0, &text)) {
        text_append(&text, parts.data, parts.length);
        if (!text.failed)
            shorter = item_output(result->call_id, text_cstr(&text), text.length, result->is_error);
    }
    text_release(&text);
    text_release(&parts);
    if (!shorter || shorten_weight(shorter) < shorten_weight(result))
        return shorter;
    item_unref(shorter);
    return NULL;
}

/* ---- all of them ---- */

static bool may_shorten(const struct request *request, size_t index, size_t locked)
{
    return index >= locked && request->items[index]->kind == ITEM_OUTPUT;
}

/* What is gained when no result is longer than `level`. */
static size_t gain(const struct request *request, size_t locked, size_t level)
{
    size_t sum = 0;
    for (size_t i = 0; i < request->item_count; i++) {
        size_t weight = may_shorten(request, i, locked) ? shorten_weight(request->items[i]) : 0;
        sum += weight > level ? weight - level : 0;
    }
    return sum;
}

/* The highest level that gains enough, so that the longest results lose most and as many as can
 * be stay whole. */
static size_t choose_level(const struct request *request, size_t locked, size_t excess)
{
    size_t low = LEAST_BYTES, high = LEAST_BYTES;
    for (size_t i = 0; i < request->item_count; i++)
        if (may_shorten(request, i, locked) && shorten_weight(request->items[i]) > high)
            high = shorten_weight(request->items[i]);
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (gain(request, locked, middle) >= excess)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool shorten_results(struct worker *worker, const struct request *request, size_t excess,
                     struct shortened *shortened)
{
    size_t locked = worker->locked;
    size_t level = choose_level(request, locked, excess);
    shortened->items = calloc(request->item_count + 1, sizeof(*shortened->items));
    shortened->old = request->items;
    for (size_t i = 0; shortened->items && i < request->item_count; i++) {
        struct item *old = request->items[i], *shorter = NULL;
        if (may_shorten(request, i, locked) && shorten_weight(old) > level)
            shorter = make_shorter(worker, old, level);
        shortened->items[shortened->count++] = shorter ? shorter : item_ref(old);
        shortened->results += shorter != NULL;
        shortened->bytes += shorter ? shorten_weight(old) - shorten_weight(shorter) : 0;
    }
    return shortened->results > 0;
}

bool shorten_history(struct worker *worker, const struct shortened *shortened, struct error *error)
{
    struct history *history = &worker->history;
    struct item **results = calloc(history->count + 1, sizeof(*results));
    if (!results)
        return error_memory(error);
    size_t next = 0;
    for (size_t i = 0; i < shortened->count; i++) {
        size_t place = next;
        if (shortened->items[i] == shortened->old[i])
            continue;
        while (place < history->count && history->items[place] != shortened->old[i])
            place++;
        if (place == history->count) /* a hook wrote it, for this request alone */
            continue;
        results[place] = shortened->items[i];
        next = place + 1;
    }
    bool ok = history_replace_results(history, results, error);
    request_start_reset(&worker->start);
    free(results);
    return ok;
}

void shorten_release(struct shortened *shortened)
{
    for (size_t i = 0; i < shortened->count; i++)
        item_unref(shortened->items[i]);
    free(shortened->items);
    *shortened = (struct shortened){0};
}

#include "conversation/repair.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/log.h"

/* A call of the list. */
struct pair {
    const struct item *call;
    bool answered;
    bool lost;
    UT_hash_handle hh;
};

struct repair {
    struct pair *pairs; /* room for every call */
    size_t pair_count;
    struct pair *by_id;
};

static struct pair *find(const struct repair *repair, const char *call_id)
{
    struct pair *pair;
    HASH_FIND(hh, repair->by_id, call_id, strlen(call_id), pair);
    return pair;
}

/* ---- what cannot stay ---- */

static bool add_call(struct repair *repair, const struct item *call, const char **why)
{
    if (find(repair, call->call_id)) {
        *why = "there is another one";
        return true;
    }
    struct pair *pair = &repair->pairs[repair->pair_count++];
    pair->call = call;
    HASH_ADD_KEYPTR(hh, repair->by_id, call->call_id, strlen(call->call_id), pair);
    return hash_added(pair);
}

static void add_result(const struct repair *repair, const struct item *result, const char **why)
{
    struct pair *pair = find(repair, result->call_id);
    if (!pair)
        *why = "its call is not there";
    else if (pair->answered)
        *why = "there is another one";
    else
        pair->answered = true;
}

static bool drop_strays(struct repair *repair, struct item_run *run, size_t *dropped)
{
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < run->count; i++) {
        struct item *item = run->items[i];
        const char *why = NULL;
        if (ok && item->kind == ITEM_CALL)
            ok = add_call(repair, item, &why);
        else if (ok && item->kind == ITEM_OUTPUT)
            add_result(repair, item, &why);
        if (!why) {
            run->items[kept++] = item;
            continue;
        }
        log_warning("the %s of call '%s' is left out: %s",
                    item->kind == ITEM_CALL ? "record" : "result", item->call_id, why);
        item_unref(item);
        ++*dropped;
    }
    run->count = kept;
    return ok;
}

/* ---- what is missing ---- */

/* From the end to the beginning: calls without a result are open as long as nothing behind them
 * shows that the conversation went on.  Returns how many are lost. */
static size_t find_lost(const struct repair *repair, const struct item_run *run)
{
    const struct item *later = NULL; /* the call behind */
    bool went_on = false;
    size_t lost = 0;
    for (size_t i = run->count; i-- > 0;) {
        const struct item *item = run->items[i];
        if (item->kind == ITEM_OUTPUT)
            went_on |= later != NULL;
        else if (item->kind != ITEM_CALL)
            went_on = true;
        if (item->kind != ITEM_CALL)
            continue;
        struct pair *pair = find(repair, item->call_id);
        went_on |= pair->answered || (later && later->origin != item->origin);
        pair->lost = went_on && !pair->answered;
        lost += pair->lost;
        later = item;
    }
    return lost;
}

static struct item *lost_result(const struct item *call)
{
    static const char text[] = "the result of this call was lost; it was not run again";
    log_warning("the result of call '%s' was lost; the model is told so", call->call_id);
    return item_output(call->call_id, text, sizeof(text) - 1, true);
}

/* Whether results of calls before must stand before this item. */
static bool is_border(const struct item_run *run, size_t index)
{
    const struct item *item = run->items[index];
    if (item->kind == ITEM_OUTPUT)
        return false;
    return item->kind != ITEM_CALL ||
           (index > 0 && (run->items[index - 1]->kind == ITEM_OUTPUT ||
                          run->items[index - 1]->origin != item->origin));
}

/* The results of lost calls from *next on that stand before item `to`. */
static bool put_results(struct repair *repair, size_t *next, size_t to_pair, struct item_run *out)
{
    for (; *next < to_pair; ++*next) {
        const struct pair *pair = &repair->pairs[*next];
        struct item *result = pair->lost ? lost_result(pair->call) : NULL;
        if (result)
            out->items[out->count++] = result; /* there is room */
        else if (pair->lost)
            return false;
    }
    return true;
}

static bool put_lost(struct repair *repair, struct item_run *run, size_t lost)
{
    struct item_run out = {0};
    size_t next = 0, seen = 0;
    bool ok = array_reserve(&out, run->count + lost);
    for (size_t i = 0; ok && i < run->count; i++) {
        if (is_border(run, i))
            ok = put_results(repair, &next, seen, &out);
        seen += run->items[i]->kind == ITEM_CALL;
        if (ok)
            out.items[out.count++] = item_ref(run->items[i]);
    }
    ok = ok && put_results(repair, &next, seen, &out);
    struct item_run *dead = ok ? run : &out;
    for (size_t i = 0; i < dead->count; i++)
        item_unref(dead->items[i]);
    free(dead->items);
    if (ok)
        *run = out;
    return ok;
}

bool items_repair(struct item_run *run, size_t *dropped, struct error *error)
{
    struct repair repair = {0};
    size_t calls = 0;
    *dropped = 0;
    for (size_t i = 0; i < run->count; i++)
        calls += run->items[i]->kind == ITEM_CALL;
    repair.pairs = calloc(calls + 1, sizeof(*repair.pairs)); /* calloc(0) may be NULL */
    bool ok = repair.pairs && drop_strays(&repair, run, dropped);
    size_t lost = ok ? find_lost(&repair, run) : 0;
    if (lost)
        ok = put_lost(&repair, run, lost);
    HASH_CLEAR(hh, repair.by_id);
    free(repair.pairs);
    return ok || error_memory(error);
}

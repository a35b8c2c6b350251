/* memory - texts to be found again, of one user. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "service/caller.h"
#include "service/memory_terms.h"

enum { FOUND_MAX = 1000, QUERY_BYTES_MAX = 4096, USUAL_CHARACTERS = 200 };

struct found {
    int64_t id;
    double weight; /* of the terms that it has */
    double rank;   /* how rare they are, and how short it is */
    double score;
};

struct search {
    struct caller caller;
    struct text owner;
    struct text query;
    struct memory_terms terms;
    struct sqlite_db *db; /* while it is taken */
    double total;         /* entries of the owner */
    struct {
        struct found *items;
        size_t count, capacity;
    } found;
};

static mortise_status begin(struct caller *caller, struct text *owner, struct sqlite_db **db)
{
    struct error error = ERROR_INIT;
    bool lasts;
    mortise_status status = caller_owner(caller, MORTISE_OF_USER, owner, &lasts);
    if (status != MORTISE_OK)
        return status;
    *db = database_take_words(&caller->services->database, &error);
    return *db ? MORTISE_OK : caller_error(caller, &error);
}

/* ---- add ---- */

static bool insert(struct sqlite_db *db, const char *owner, const struct text *text, int64_t *id,
                   struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(db, DATABASE_MEMORY_ADD);
    sqlite_bind_string(&run, owner);
    sqlite_bind_integer(&run, clock_date_ms());
    sqlite_bind_bytes(&run, text->data, text->length);
    if (!sqlite_run_all(&run, error))
        return false;
    *id = db->api->last_insert_rowid(db->handle);
    run = sqlite_run_begin(db, DATABASE_WORDS_ADD);
    sqlite_bind_integer(&run, *id);
    sqlite_bind_bytes(&run, text->data, text->length);
    return sqlite_run_all(&run, error);
}

static mortise_status add_for(struct caller *caller, const struct text *text, int64_t *id)
{
    struct error error = ERROR_INIT;
    struct text owner = TEXT_INIT;
    struct sqlite_db *db = NULL;
    mortise_status status = begin(caller, &owner, &db);
    if (db) {
        bool good = sqlite_db_begin(db, &error) && insert(db, owner.data, text, id, &error);
        if (!sqlite_db_end(db, good, &error))
            status = caller_error(caller, &error);
        database_give(&caller->services->database);
    }
    text_release(&owner);
    return status;
}

static mortise_status add(mortise_call *call, const char *text, size_t length, int64_t *id)
{
    struct caller caller;
    struct text clean = TEXT_INIT;
    int64_t made = 0;
    if (!caller_begin(&caller, call, "memory"))
        return MORTISE_INVALID;
    mortise_status status = MORTISE_OK;
    if (!text || !length || length > MORTISE_MEMORY_MAX)
        status = caller_invalid(&caller, "a text to be remembered has 1 to %zu bytes",
                                MORTISE_MEMORY_MAX);
    else
        utf8_append_clean(&clean, text, length);
    if (clean.failed)
        status = caller_no_memory(&caller);
    if (status == MORTISE_OK)
        status = add_for(&caller, &clean, &made);
    if (status == MORTISE_OK && id)
        *id = made;
    text_release(&clean);
    caller_end(&caller);
    return status;
}

/* ---- search: every term by itself, then what has most of them ---- */

static bool note(struct search *search, int64_t id, double weight, double rank)
{
    if (!array_reserve(&search->found, 1))
        return false;
    search->found.items[search->found.count++] =
        (struct found){.id = id, .weight = weight, .rank = rank};
    return true;
}

/* Those of the owner alone: what others keep must not show in a score, as bm25() would have it. */
static bool count_entries(struct search *search, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(search->db, DATABASE_MEMORY_COUNT);
    sqlite_bind_string(&run, search->owner.data);
    if (sqlite_run_row(&run))
        search->total = (double)sqlite_integer(&run, 0);
    return sqlite_run_end(&run, error);
}

/* The formula of bm25(), for a term that an entry has once. */
static double brevity(int64_t characters)
{
    return 2.2 / (1 + 1.2 * (0.25 + 0.75 * (double)characters / USUAL_CHARACTERS));
}

static double rarity(double total, double count)
{
    return log(1 + (fmax(total - count, 0) + 0.5) / (count + 0.5));
}

/* Quoted, a term is nothing but text. */
static bool find_in_index(struct search *search, const struct memory_term *term,
                          struct error *error)
{
    struct text phrase = TEXT_INIT;
    text_putc(&phrase, '"');
    text_append(&phrase, term->text, term->length);
    text_putc(&phrase, '"');
    if (phrase.failed) {
        text_release(&phrase);
        return error_memory(error);
    }
    struct sqlite_run run = sqlite_run_begin(search->db, DATABASE_WORDS_FIND);
    sqlite_bind_bytes(&run, phrase.data, phrase.length);
    sqlite_bind_string(&run, search->owner.data);
    text_release(&phrase);
    size_t first = search->found.count;
    bool ok = true;
    while (ok && sqlite_run_row(&run))
        ok = note(search, sqlite_integer(&run, 0), term->weight,
                  term->weight * brevity(sqlite_integer(&run, 1)));
    double factor = rarity(search->total, (double)(search->found.count - first));
    for (size_t i = first; i < search->found.count; i++)
        search->found.items[i].rank *= factor;
    return sqlite_run_end(&run, error) && (ok || error_memory(error));
}

static bool is_in_index(const struct memory_term *term)
{
    return term->characters >= 3;
}

/* All that is too short for the index, or no word, in one go. */
static bool find_short(struct search *search, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(search->db, DATABASE_MEMORY_SCAN);
    sqlite_bind_string(&run, search->owner.data);
    bool ok = true;
    while (ok && sqlite_run_row(&run)) {
        size_t length;
        double weight = 0;
        const char *text = sqlite_text(&run, 1, &length);
        for (size_t i = 0; text && i < search->terms.count; i++)
            if (!is_in_index(&search->terms.items[i]) &&
                memory_term_is_in(&search->terms.items[i], text, length))
                weight += search->terms.items[i].weight;
        ok = text && (weight == 0 || note(search, sqlite_integer(&run, 0), weight, 0));
    }
    return sqlite_run_end(&run, error) && (ok || error_memory(error));
}

static bool find_terms(struct search *search, struct error *error)
{
    bool ok = true, any_short = false;
    for (size_t i = 0; ok && i < search->terms.count; i++) {
        if (is_in_index(&search->terms.items[i]))
            ok = find_in_index(search, &search->terms.items[i], error);
        else
            any_short = true;
    }
    return ok && (!any_short || find_short(search, error));
}

static int by_id(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* The newer one first where both fit alike. */
static int by_score(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return by_id(right, left);
}

/* One for each entry, the best first.  What has less than half of what the best one has is left
 * out: it has a word or two by chance. */
static void settle(struct search *search)
{
    struct found *items = search->found.items;
    size_t count = 0, kept = 0;
    double best = 0;
    if (search->found.count)
        qsort(items, search->found.count, sizeof(*items), by_id);
    for (size_t i = 0; i < search->found.count; i++) {
        if (count && items[count - 1].id == items[i].id) {
            items[count - 1].weight += items[i].weight;
            items[count - 1].rank += items[i].rank;
        } else {
            items[count++] = items[i];
        }
        best = fmax(best, items[count - 1].weight);
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i].weight * 2 < best)
            continue;
        items[kept] = items[i];
        items[kept].score = items[i].weight + 0.1 * items[i].rank / (1 + items[i].rank);
        kept++;
    }
    search->found.count = kept;
    if (kept)
        qsort(items, kept, sizeof(*items), by_score);
}

/* NULL with *error; *gone: it was forgotten meanwhile. */
static mortise_memory_entry *read_entry(struct search *search, const struct found *found,
                                        bool *gone, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(search->db, DATABASE_MEMORY_GET);
    mortise_memory_entry *entry = NULL;
    size_t length = 0;
    sqlite_bind_integer(&run, found->id);
    sqlite_bind_string(&run, search->owner.data);
    *gone = !sqlite_run_row(&run);
    const char *text = *gone ? NULL : sqlite_text(&run, 1, &length);
    if (text && (entry = caller_alloc(&search->caller, sizeof(*entry))))
        *entry = (mortise_memory_entry){.size = sizeof(*entry),
                                        .id = found->id,
                                        .saved_ms = sqlite_integer(&run, 0),
                                        .text = caller_copy(&search->caller, text, length),
                                        .length = length,
                                        .score = found->score};
    if (!sqlite_run_end(&run, error))
        return NULL;
    if (entry && entry->text)
        return entry;
    if (!*gone)
        error_memory(error);
    return NULL;
}

static mortise_status read_entries(struct search *search, size_t limit,
                                   const mortise_memory_entry *const **entries, size_t *count)
{
    struct error error = ERROR_INIT;
    size_t most = search->found.count < limit ? search->found.count : limit;
    const mortise_memory_entry **given = caller_alloc(&search->caller, (most + 1) * sizeof(*given));
    size_t made = 0;
    if (!given)
        return caller_no_memory(&search->caller);
    for (size_t i = 0; i < most; i++) {
        bool gone;
        given[made] = read_entry(search, &search->found.items[i], &gone, &error);
        if (!given[made] && error.kind != ERROR_NONE)
            return caller_error(&search->caller, &error);
        if (given[made])
            made++;
    }
    *entries = given;
    *count = made;
    return MORTISE_OK;
}

static mortise_status search_for(struct search *search, size_t limit,
                                 const mortise_memory_entry *const **entries, size_t *count)
{
    struct error error = ERROR_INIT;
    mortise_status status = begin(&search->caller, &search->owner, &search->db);
    if (status != MORTISE_OK)
        return status;
    if (count_entries(search, &error) && find_terms(search, &error)) {
        settle(search);
        status = read_entries(search, limit, entries, count);
    } else {
        status = caller_error(&search->caller, &error);
    }
    database_give(&search->caller.services->database);
    return status;
}

static mortise_status search(mortise_call *call, const char *query, size_t limit,
                             const mortise_memory_entry *const **entries, size_t *count)
{
    struct search search = {0};
    if (!entries || !count || !caller_begin(&search.caller, call, "memory"))
        return MORTISE_INVALID;
    *entries = NULL;
    *count = 0;
    mortise_status status = MORTISE_OK;
    if (query)
        utf8_append_clean(&search.query, query, strnlen(query, QUERY_BYTES_MAX));
    if (search.query.failed)
        status = caller_no_memory(&search.caller);
    memory_terms_find(&search.terms, text_cstr(&search.query), search.query.length);
    if (status == MORTISE_OK)
        status = search_for(&search, limit < FOUND_MAX ? limit : FOUND_MAX, entries, count);
    free(search.found.items);
    text_release(&search.query);
    text_release(&search.owner);
    caller_end(&search.caller);
    return status;
}

/* ---- forget ---- */

/* *found: it was there, and is of this owner. */
static bool remove_entry(struct sqlite_db *db, const char *owner, int64_t id, bool *found,
                         struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(db, DATABASE_MEMORY_GET);
    struct text text = TEXT_INIT;
    sqlite_bind_integer(&run, id);
    sqlite_bind_string(&run, owner);
    *found = sqlite_run_row(&run);
    if (*found) {
        size_t length;
        const char *stored = sqlite_text(&run, 1, &length);
        text_append(&text, stored, length);
        text.failed |= !stored;
    }
    bool ok = sqlite_run_end(&run, error) && (!text.failed || error_memory(error));
    if (ok && *found) { /* the index must be told what it knew */
        run = sqlite_run_begin(db, DATABASE_WORDS_REMOVE);
        sqlite_bind_integer(&run, id);
        sqlite_bind_bytes(&run, text.data, text.length);
        ok = sqlite_run_all(&run, error);
        run = sqlite_run_begin(db, DATABASE_MEMORY_REMOVE);
        sqlite_bind_integer(&run, id);
        ok = sqlite_run_all(&run, ok ? error : NULL) && ok;
    }
    text_release(&text);
    return ok;
}

static mortise_status forget(mortise_call *call, int64_t id)
{
    struct caller caller;
    struct text owner = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct sqlite_db *db = NULL;
    bool found = false;
    if (!caller_begin(&caller, call, "memory"))
        return MORTISE_INVALID;
    mortise_status status = begin(&caller, &owner, &db);
    if (db) {
        bool good = sqlite_db_begin(db, &error) && remove_entry(db, owner.data, id, &found, &error);
        if (!sqlite_db_end(db, good, &error))
            status = caller_error(&caller, &error);
        else if (!found)
            status = MORTISE_NOT_FOUND;
        database_give(&caller.services->database);
    }
    text_release(&owner);
    caller_end(&caller);
    return status;
}

const mortise_memory memory_table = {
    .size = sizeof(memory_table), .add = add, .search = search, .forget = forget};

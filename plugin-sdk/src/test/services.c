/*
 * Artifacts, memory and state in memory, as mortise/services.h says.  One list of entries holds
 * all of them; an entry's `owner` is whose it is.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../internal.h"

enum kind { KIND_ARTIFACT, KIND_MEMORY, KIND_STATE };

struct entry {
    enum kind kind;
    char *owner;
    char *name; /* of an artifact, or a key; NULL: forgotten */
    uint32_t version;
    int64_t id, saved_ms;
    char *mime_type, *data;
    size_t length;
};

struct store {
    struct pool pool;
    struct list entries; /* in the order of time */
    int64_t last_id;
};

/* ---- the store ---- */

/* Locked until close_store(). */
static struct store *open_store(mortise_call *call)
{
    mortise_test *test = mortise__call_test(call);
    pthread_mutex_lock(&test->lock);
    if (!test->store)
        test->store = mortise__pool_take(&test->pool, sizeof(*test->store));
    return test->store;
}

static void close_store(mortise_call *call)
{
    pthread_mutex_unlock(&mortise__call_test(call)->lock);
}

void mortise__test_store_release(mortise_test *test)
{
    if (test->store) {
        mortise__pool_release(&test->store->pool);
        mortise__list_release(&test->store->entries);
    }
}

static struct entry *entry_at(const struct store *store, size_t index)
{
    return (struct entry *)store->entries.items + index;
}

static struct entry *add_entry(struct store *store, enum kind kind, const char *owner,
                               const char *name, const void *data, size_t length)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct entry *entry = mortise__list_add(&store->entries, sizeof(*entry));
    *entry = (struct entry){
        .kind = kind,
        .owner = mortise__pool_text(&store->pool, owner),
        .name = mortise__pool_text(&store->pool, name),
        .data = mortise__pool_copy(&store->pool, data, length),
        .length = length,
        .id = ++store->last_id,
        .saved_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
    };
    return entry;
}

static bool is_of(const struct entry *entry, enum kind kind, const char *owner, const char *name)
{
    return entry->kind == kind && entry->name && strcmp(entry->owner, owner) == 0 &&
           (!name || strcmp(entry->name, name) == 0);
}

/* The latest of that name; NULL: there is none. */
static struct entry *find_latest(const struct store *store, enum kind kind, const char *owner,
                                 const char *name)
{
    for (size_t i = store->entries.count; i > 0; i--)
        if (is_of(entry_at(store, i - 1), kind, owner, name))
            return entry_at(store, i - 1);
    return NULL;
}

/* Names whose data a call may reach: the session, or without one the run; the user; the
 * application. */
static const char *owner_of(mortise_call *call, mortise_owner owner)
{
    const char *const *parts;
    const char *session = call->ops->context(call, "session");
    const char *of_session[] = {"session",
                                session ? session : call->ops->context(call, "invocation")};
    const char *of_user[] = {"user", call->ops->context(call, "user")};
    const char *of_app[] = {"app", call->ops->context(call, "app")};
    const char *tenant = call->ops->context(call, "tenant");
    switch (owner) {
    case MORTISE_OF_SESSION:
        parts = of_session;
        break;
    case MORTISE_OF_USER:
        parts = of_user;
        break;
    case MORTISE_OF_APP:
        parts = of_app;
        tenant = NULL;
        break;
    default:
        return NULL;
    }
    size_t bytes =
        strlen(parts[0]) + (parts[1] ? strlen(parts[1]) : 0) + (tenant ? strlen(tenant) : 0) + 48;
    char *name = call->ops->alloc(call, bytes);
    if (name)
        snprintf(name, bytes, "%s:%zu:%s:%s", parts[0], tenant ? strlen(tenant) : 0,
                 tenant ? tenant : "", parts[1] ? parts[1] : "");
    return name;
}

/* A copy that dies with the call. */
static void *lend(mortise_call *call, const void *bytes, size_t length)
{
    char *copy = call->ops->alloc(call, length + 1);
    if (copy && length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

static const char *lend_text(mortise_call *call, const char *text)
{
    return text ? lend(call, text, strlen(text)) : NULL;
}

static mortise_status invalid(mortise_call *call, const char *what)
{
    return mortise__call_refuse(call, MORTISE_INVALID, "%s", what);
}

/* ---- artifacts ---- */

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '/')
            return false;
    return length >= 1 && length <= 200 && name[0] != '.';
}

static bool is_type(const char *mime_type)
{
    const char *slash = strchr(mime_type, '/');
    return slash && slash > mime_type && slash[1] && strlen(mime_type) <= 100;
}

static mortise_status save_artifact(mortise_call *call, mortise_owner whose, const char *name,
                                    const char *mime_type, const void *data, size_t length,
                                    uint32_t *version)
{
    const char *owner = owner_of(call, whose);
    if (!owner || !name || !is_name(name))
        return invalid(call, "the artifact's name or owner cannot be used");
    if ((!data && length) || length > MORTISE_ARTIFACT_MAX)
        return invalid(call, "the artifact is larger than 10 MiB");
    if (mime_type && !is_type(mime_type))
        return invalid(call, "a media type is like \"image/png\", and at most 100 bytes long");
    struct store *store = open_store(call);
    const struct entry *before = find_latest(store, KIND_ARTIFACT, owner, name);
    uint32_t next = before ? before->version + 1 : 1;
    struct entry *entry = add_entry(store, KIND_ARTIFACT, owner, name, data, length);
    entry->version = next;
    entry->mime_type =
        mortise__pool_text(&store->pool, mime_type ? mime_type : "application/octet-stream");
    close_store(call);
    if (version)
        *version = next;
    return MORTISE_OK;
}

static mortise_artifact *lend_artifact(mortise_call *call, const struct entry *entry,
                                       bool with_data)
{
    mortise_artifact *artifact = call->ops->alloc(call, sizeof(*artifact));
    *artifact = (mortise_artifact){
        .size = sizeof(*artifact),
        .version = entry->version,
        .name = lend_text(call, entry->name),
        .mime_type = lend_text(call, entry->mime_type),
        .saved_ms = entry->saved_ms,
        .length = entry->length,
        .data = with_data ? lend(call, entry->data, entry->length) : NULL,
    };
    return artifact;
}

static mortise_status load_artifact(mortise_call *call, mortise_owner whose, const char *name,
                                    uint32_t version, const mortise_artifact **artifact)
{
    const char *owner = owner_of(call, whose);
    *artifact = NULL;
    if (!owner || !name || !is_name(name))
        return invalid(call, "the artifact's name or owner cannot be used");
    struct store *store = open_store(call);
    const struct entry *found = version ? NULL : find_latest(store, KIND_ARTIFACT, owner, name);
    for (size_t i = 0; version && i < store->entries.count; i++)
        if (is_of(entry_at(store, i), KIND_ARTIFACT, owner, name) &&
            entry_at(store, i)->version == version)
            found = entry_at(store, i);
    struct entry copy = found ? *found : (struct entry){0};
    close_store(call);
    if (!found)
        return MORTISE_NOT_FOUND;
    *artifact = lend_artifact(call, &copy, true);
    return MORTISE_OK;
}

static int by_name(const void *a, const void *b)
{
    const mortise_artifact *const *first = a, *const *second = b;
    return strcmp((*first)->name, (*second)->name);
}

static mortise_status list_artifacts(mortise_call *call, mortise_owner whose,
                                     const mortise_artifact *const **artifacts, size_t *count)
{
    const char *owner = owner_of(call, whose);
    if (!owner)
        return invalid(call, "there is no such owner");
    struct list latest = {0}; /* struct entry */
    struct store *store = open_store(call);
    for (size_t i = 0; i < store->entries.count; i++) {
        const struct entry *entry = entry_at(store, i);
        if (is_of(entry, KIND_ARTIFACT, owner, NULL) &&
            find_latest(store, KIND_ARTIFACT, owner, entry->name) == entry)
            *(struct entry *)mortise__list_add(&latest, sizeof(*entry)) = *entry;
    }
    close_store(call);
    *count = latest.count;
    const mortise_artifact **list = call->ops->alloc(call, (latest.count + 1) * sizeof(*list));
    for (size_t i = 0; i < latest.count; i++)
        list[i] = lend_artifact(call, (struct entry *)latest.items + i, false);
    qsort(list, latest.count, sizeof(*list), by_name);
    mortise__list_release(&latest);
    *artifacts = list;
    return MORTISE_OK;
}

/* ---- memory ---- */

static mortise_status add_memory(mortise_call *call, const char *text, size_t length, int64_t *id)
{
    const char *owner = owner_of(call, MORTISE_OF_USER);
    if (!owner || !text || !length || length > MORTISE_MEMORY_MAX)
        return invalid(call, "a text to be remembered has 1 to 65536 bytes");
    struct store *store = open_store(call);
    int64_t given = add_entry(store, KIND_MEMORY, owner, "", text, length)->id;
    close_store(call);
    if (id)
        *id = given;
    return MORTISE_OK;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The next word at or behind `p`, of `*length` bytes; NULL: there is none. */
static const char *next_word(const char *p, size_t *length)
{
    while (*p && !is_word_byte(*p))
        p++;
    *length = 0;
    while (is_word_byte(p[*length]))
        ++*length;
    return *length ? p : NULL;
}

static bool has_word(const char *text, const char *word, size_t length)
{
    size_t other;
    for (; (text = next_word(text, &other)); text += other)
        if (other == length && strncasecmp(text, word, length) == 0)
            return true;
    return false;
}

/* How many words of the query are in the text. */
static double score_of(const char *text, const char *query)
{
    size_t length;
    double score = 0;
    for (; (query = next_word(query, &length)); query += length)
        score += has_word(text, query, length);
    return score;
}

static int by_score(const void *a, const void *b)
{
    const mortise_memory_entry *const *first = a, *const *second = b;
    double difference = (*second)->score - (*first)->score;
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return (*first)->id > (*second)->id ? -1 : 1; /* then the latest */
}

static mortise_memory_entry *lend_memory(mortise_call *call, const struct entry *entry,
                                         double score)
{
    mortise_memory_entry *found = call->ops->alloc(call, sizeof(*found));
    *found = (mortise_memory_entry){
        .size = sizeof(*found),
        .id = entry->id,
        .saved_ms = entry->saved_ms,
        .text = lend(call, entry->data, entry->length),
        .length = entry->length,
        .score = score,
    };
    return found;
}

static mortise_status search_memory(mortise_call *call, const char *query, size_t limit,
                                    const mortise_memory_entry *const **entries, size_t *count)
{
    const char *owner = owner_of(call, MORTISE_OF_USER);
    struct list all = {0}; /* struct entry */
    if (!owner || !query)
        return invalid(call, "there is no query");
    struct store *store = open_store(call);
    for (size_t i = 0; i < store->entries.count; i++)
        if (is_of(entry_at(store, i), KIND_MEMORY, owner, NULL) &&
            score_of(entry_at(store, i)->data, query) > 0)
            *(struct entry *)mortise__list_add(&all, sizeof(struct entry)) = *entry_at(store, i);
    close_store(call);
    const mortise_memory_entry **found = call->ops->alloc(call, (all.count + 1) * sizeof(*found));
    for (size_t i = 0; i < all.count; i++) {
        const struct entry *entry = (struct entry *)all.items + i;
        found[i] = lend_memory(call, entry, score_of(entry->data, query));
    }
    qsort(found, all.count, sizeof(*found), by_score);
    *entries = found;
    *count = all.count < limit ? all.count : limit;
    mortise__list_release(&all);
    return MORTISE_OK;
}

static mortise_status forget_memory(mortise_call *call, int64_t id)
{
    const char *owner = owner_of(call, MORTISE_OF_USER);
    mortise_status status = MORTISE_NOT_FOUND;
    struct store *store = open_store(call);
    for (size_t i = 0; owner && i < store->entries.count; i++) {
        struct entry *entry = entry_at(store, i);
        if (is_of(entry, KIND_MEMORY, owner, NULL) && entry->id == id) {
            entry->name = NULL;
            status = MORTISE_OK;
        }
    }
    close_store(call);
    return status;
}

/* ---- state ---- */

/* The owner's name; NULL after a refusal. */
static const char *check_key(mortise_call *call, mortise_owner whose, const char *key)
{
    const char *owner = owner_of(call, whose);
    if (owner && key && *key && strlen(key) <= 200)
        return owner;
    invalid(call, "the state's key or owner cannot be used");
    return NULL;
}

static bool check_value(mortise_call *call, const char *json)
{
    const char *end = json ? mortise__json_end(json) : NULL;
    if (json && (!end || *mortise__json_space(end)))
        invalid(call, "the state's value is not JSON");
    else if (json && strlen(json) > MORTISE_STATE_MAX)
        invalid(call, "the state's value is larger than 1 MiB");
    else
        return true;
    return false;
}

static mortise_status get_state(mortise_call *call, mortise_owner whose, const char *key,
                                const char **json)
{
    const char *owner = check_key(call, whose, key);
    *json = NULL;
    if (!owner)
        return MORTISE_INVALID;
    struct store *store = open_store(call);
    const struct entry *entry = find_latest(store, KIND_STATE, owner, key);
    const char *value = entry ? entry->data : NULL;
    close_store(call);
    *json = lend_text(call, value);
    return value ? MORTISE_OK : MORTISE_NOT_FOUND;
}

/* `json` in the place of `entry`; either may be NULL. */
static void put_state(struct store *store, struct entry *entry, const char *owner, const char *key,
                      const char *json)
{
    if (entry)
        entry->name = NULL;
    if (json)
        add_entry(store, KIND_STATE, owner, key, json, strlen(json));
}

static mortise_status set_state(mortise_call *call, mortise_owner whose, const char *key,
                                const char *json)
{
    const char *owner = check_key(call, whose, key);
    if (!owner || !check_value(call, json))
        return MORTISE_INVALID;
    struct store *store = open_store(call);
    put_state(store, find_latest(store, KIND_STATE, owner, key), owner, key, json);
    close_store(call);
    return MORTISE_OK;
}

static mortise_status replace_state(mortise_call *call, mortise_owner whose, const char *key,
                                    const char *expected, const char *json)
{
    const char *owner = check_key(call, whose, key);
    if (!owner || !check_value(call, json))
        return MORTISE_INVALID;
    struct store *store = open_store(call);
    struct entry *entry = find_latest(store, KIND_STATE, owner, key);
    bool is_it = entry && expected ? strcmp(entry->data, expected) == 0 : !entry && !expected;
    if (is_it)
        put_state(store, entry, owner, key, json);
    close_store(call);
    return is_it ? MORTISE_OK : MORTISE_CONFLICT;
}

static int by_text(const void *a, const void *b)
{
    const char *const *first = a, *const *second = b;
    return strcmp(*first, *second);
}

static mortise_status list_keys(mortise_call *call, mortise_owner whose, const char *prefix,
                                const char *const **keys, size_t *count)
{
    const char *owner = owner_of(call, whose);
    struct list found = {0}; /* const char * */
    if (!owner || !prefix)
        return invalid(call, "the owner or the prefix cannot be used");
    struct store *store = open_store(call);
    for (size_t i = 0; i < store->entries.count; i++) {
        const struct entry *entry = entry_at(store, i);
        if (is_of(entry, KIND_STATE, owner, NULL) &&
            strncmp(entry->name, prefix, strlen(prefix)) == 0)
            *(const char **)mortise__list_add(&found, sizeof(char *)) = entry->name;
    }
    close_store(call);
    const char **list = lend(call, found.items, found.count * sizeof(*list));
    for (size_t i = 0; i < found.count; i++)
        list[i] = lend_text(call, list[i]);
    qsort(list, found.count, sizeof(*list), by_text);
    *keys = list;
    *count = found.count;
    mortise__list_release(&found);
    return MORTISE_OK;
}

/* ---- by id ---- */

static const mortise_artifacts artifacts = {.size = sizeof(mortise_artifacts),
                                            .save = save_artifact,
                                            .load = load_artifact,
                                            .list = list_artifacts};
static const mortise_memory memory = {.size = sizeof(mortise_memory),
                                      .add = add_memory,
                                      .search = search_memory,
                                      .forget = forget_memory};
static const mortise_state_service state = {.size = sizeof(mortise_state_service),
                                            .get = get_state,
                                            .set = set_state,
                                            .replace = replace_state,
                                            .keys = list_keys};

const void *mortise__test_service(mortise_test *test, const char *id)
{
    const struct {
        const char *id;
        const void *table;
    } known[] = {
        {MORTISE_ARTIFACTS_ID, test->setup.services & MORTISE_TEST_ARTIFACTS ? &artifacts : NULL},
        {MORTISE_MEMORY_ID, test->setup.services & MORTISE_TEST_MEMORY ? &memory : NULL},
        {MORTISE_STATE_ID, test->setup.services & MORTISE_TEST_STATE ? &state : NULL},
        {MORTISE_HTTP_ID, mortise__test_http(test)},
        {MORTISE_SECRETS_ID, mortise__test_secrets(test)},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(id, known[i].id) == 0)
            return known[i].table;
    return NULL;
}

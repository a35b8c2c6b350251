/* state - JSON values by key: of one plugin and one owner. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_check.h"
#include "base/utf8.h"
#include "service/caller.h"

enum { MAX_KEY_BYTES = 200 };

struct request {
    struct caller caller;
    struct text owner;
    const char *key;
    struct sqlite_db *db; /* while it is taken */
};

/* ---- what was passed in ---- */

static mortise_status check_key(struct caller *caller, const char *key)
{
    size_t length = key ? strnlen(key, MAX_KEY_BYTES + 1) : 0;
    if (length == 0 || length > MAX_KEY_BYTES || utf8_valid(key, length) < length)
        return caller_invalid(caller, "a key is 1 to %d bytes of UTF-8", MAX_KEY_BYTES);
    return MORTISE_OK;
}

static mortise_status check_json(struct caller *caller, const char *key, const char *json)
{
    size_t length = json ? strnlen(json, MORTISE_STATE_MAX + 1) : 0;
    if (length > MORTISE_STATE_MAX)
        return caller_invalid(caller, "the value of '%s' is larger than %zu bytes", key,
                              MORTISE_STATE_MAX);
    if (json && !json_is_valid(json, length))
        return caller_invalid(caller, "the value of '%s' is not valid JSON", key);
    return MORTISE_OK;
}

static mortise_status begin(struct request *request, mortise_owner kind)
{
    struct error error = ERROR_INIT;
    bool lasts;
    mortise_status status = caller_owner(&request->caller, kind, &request->owner, &lasts);
    if (status != MORTISE_OK)
        return status;
    request->db = database_take(&request->caller.services->database, lasts, &error);
    return request->db ? MORTISE_OK : caller_error(&request->caller, &error);
}

static void end(struct request *request)
{
    if (request->db)
        database_give(&request->caller.services->database);
    text_release(&request->owner);
    caller_end(&request->caller);
}

static struct sqlite_run start(struct request *request, enum database_statement statement)
{
    struct sqlite_run run = sqlite_run_begin(request->db, (size_t)statement);
    sqlite_bind_string(&run, request->owner.data);
    sqlite_bind_string(&run, request->caller.plugin);
    sqlite_bind_string(&run, request->key);
    return run;
}

/* ---- get ---- */

static mortise_status read_value(struct request *request, const char **json)
{
    struct error error = ERROR_INIT;
    struct sqlite_run run = start(request, DATABASE_STATE_GET);
    bool found = sqlite_run_row(&run);
    if (found) {
        size_t length;
        const char *text = sqlite_text(&run, 0, &length);
        *json = text ? caller_copy(&request->caller, text, length) : NULL;
    }
    if (!sqlite_run_end(&run, &error))
        return caller_error(&request->caller, &error);
    if (found && !*json)
        return caller_no_memory(&request->caller);
    return found ? MORTISE_OK : MORTISE_NOT_FOUND;
}

static mortise_status get(mortise_call *call, mortise_owner owner, const char *key,
                          const char **json)
{
    struct request request = {.key = key};
    if (!json || !caller_begin(&request.caller, call, "state"))
        return MORTISE_INVALID;
    *json = NULL;
    mortise_status status = check_key(&request.caller, key);
    if (status == MORTISE_OK)
        status = begin(&request, owner);
    if (status == MORTISE_OK)
        status = read_value(&request, json);
    end(&request);
    return status;
}

/* ---- set, replace ---- */

/* *changed: a row was. */
static mortise_status run_change(struct request *request, struct sqlite_run *run, bool *changed)
{
    struct error error = ERROR_INIT;
    if (!sqlite_run_all(run, &error))
        return caller_error(&request->caller, &error);
    *changed = request->db->api->changes(request->db->handle) > 0;
    return MORTISE_OK;
}

static mortise_status write_value(struct request *request, const char *json)
{
    bool changed;
    struct sqlite_run run = start(request, json ? DATABASE_STATE_SET : DATABASE_STATE_REMOVE);
    sqlite_bind_string(&run, json);
    return run_change(request, &run, &changed);
}

static mortise_status replace_value(struct request *request, const char *expected, const char *json)
{
    const char *now;
    bool changed = false;
    if (!expected && !json) {
        mortise_status status = read_value(request, &now);
        return status == MORTISE_OK          ? MORTISE_CONFLICT
               : status == MORTISE_NOT_FOUND ? MORTISE_OK
                                             : status;
    }
    struct sqlite_run run = start(request, !expected ? DATABASE_STATE_ADD
                                           : json    ? DATABASE_STATE_CHANGE
                                                     : DATABASE_STATE_REMOVE);
    if (expected)
        sqlite_bind_string(&run, expected);
    if (json)
        sqlite_bind_string(&run, json);
    mortise_status status = run_change(request, &run, &changed);
    return status == MORTISE_OK && !changed ? MORTISE_CONFLICT : status;
}

static mortise_status change(mortise_call *call, mortise_owner owner, const char *key,
                             const char *const *expected, const char *json)
{
    struct request request = {.key = key};
    if (!caller_begin(&request.caller, call, "state"))
        return MORTISE_INVALID;
    mortise_status status = check_key(&request.caller, key);
    if (status == MORTISE_OK)
        status = check_json(&request.caller, key, json);
    if (status == MORTISE_OK)
        status = begin(&request, owner);
    if (status == MORTISE_OK)
        status = expected ? replace_value(&request, *expected, json) : write_value(&request, json);
    end(&request);
    return status;
}

static mortise_status set(mortise_call *call, mortise_owner owner, const char *key,
                          const char *json)
{
    return change(call, owner, key, NULL, json);
}

static mortise_status replace(mortise_call *call, mortise_owner owner, const char *key,
                              const char *expected, const char *json)
{
    return change(call, owner, key, &expected, json);
}

/* ---- keys ---- */

struct key_list {
    const char **items;
    size_t count, capacity;
};

static bool add_key(struct caller *caller, struct key_list *list, const char *key, size_t length)
{
    const char *copy = caller_copy(caller, key, length);
    if (!copy || !array_reserve(list, 1))
        return false;
    list->items[list->count++] = copy;
    return true;
}

static mortise_status read_keys(struct request *request, struct key_list *list)
{
    struct error error = ERROR_INIT;
    struct sqlite_run run = start(request, DATABASE_STATE_KEYS);
    size_t prefix_length = strlen(request->key);
    bool ok = true;
    while (ok && sqlite_run_row(&run)) {
        size_t length;
        const char *key = sqlite_text(&run, 0, &length);
        if (key && (length < prefix_length || memcmp(key, request->key, prefix_length) != 0))
            break; /* they are sorted: behind the last */
        ok = key && add_key(&request->caller, list, key, length);
    }
    if (!sqlite_run_end(&run, &error))
        return caller_error(&request->caller, &error);
    return ok ? MORTISE_OK : caller_no_memory(&request->caller);
}

static mortise_status hand_over(struct caller *caller, const struct key_list *list,
                                const char *const **keys, size_t *count)
{
    const char **copy = caller_alloc(caller, (list->count + 1) * sizeof(*copy));
    if (!copy)
        return caller_no_memory(caller);
    if (list->count)
        memcpy(copy, list->items, list->count * sizeof(*copy));
    *keys = copy;
    *count = list->count;
    return MORTISE_OK;
}

static mortise_status keys(mortise_call *call, mortise_owner owner, const char *prefix,
                           const char *const **found, size_t *count)
{
    struct request request = {.key = prefix ? prefix : ""};
    struct key_list list = {0};
    if (!found || !count || !caller_begin(&request.caller, call, "state"))
        return MORTISE_INVALID;
    *found = NULL;
    *count = 0;
    mortise_status status = begin(&request, owner);
    if (status == MORTISE_OK)
        status = read_keys(&request, &list);
    if (status == MORTISE_OK)
        status = hand_over(&request.caller, &list, found, count);
    free(list.items);
    end(&request);
    return status;
}

const mortise_state_service state_table = {
    .size = sizeof(state_table), .get = get, .set = set, .replace = replace, .keys = keys};

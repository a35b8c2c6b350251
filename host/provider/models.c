#include "provider/models.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/utf8.h"
#include "provider/http_host.h"

enum { MAX_PAGES = 100, MAX_MODELS = 20000, MAX_ID_BYTES = 256 };

/* ---- what is special to a format ---- */

static const char *next_of_anthropic(const json_t *page)
{
    return json_member_true(page, "has_more") ? json_member_string(page, "last_id") : NULL;
}

static const char *next_of_gemini(const json_t *page)
{
    return json_member_string(page, "nextPageToken");
}

/* One that does not say can do all. */
static bool gemini_generates(const json_t *model)
{
    const json_t *methods = json_object_get(model, "supportedGenerationMethods");
    size_t i;
    json_t *method;
    if (!json_is_array(methods))
        return true;
    json_array_foreach (methods, i, method)
        if (json_is_string(method) && strcmp(json_string_value(method), "generateContent") == 0)
            return true;
    return false;
}

const struct wire_models models_openai = {.path = "/models", .list = "data", .id = "id"};

const struct wire_models models_anthropic = {
    .path = "/models?limit=1000",
    .mark = "&after_id=",
    .list = "data",
    .id = "id",
    .next = next_of_anthropic,
};

const struct wire_models models_gemini = {
    .path = "/models?pageSize=1000",
    .mark = "&pageToken=",
    .list = "models",
    .id = "name",
    .prefix = "models/",
    .offers = gemini_generates,
    .next = next_of_gemini,
};

/* ---- the list ---- */

void model_list_release(struct model_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].id);
    free(list->items);
    *list = (struct model_list){0};
}

/* Whether it stands on one line as it is, and can be typed.  `shown` fails when there is no memory.
 */
static bool is_name(const char *id, size_t length, struct text *shown)
{
    if (length == 0 || length > MAX_ID_BYTES || memchr(id, '\n', length) ||
        memchr(id, '\t', length))
        return false;
    utf8_append_visible(shown, id, length);
    return shown->length == length && memcmp(shown->data, id, length) == 0;
}

static bool append(struct model_list *list, const char *id, size_t length, int64_t created)
{
    char *copy = array_reserve(list, 1) ? strndup(id, length) : NULL;
    if (copy)
        list->items[list->count++] = (struct model){.id = copy, .created = created};
    return copy != NULL;
}

static bool add(struct model_list *list, const struct wire_models *models, const json_t *model,
                struct error *error)
{
    size_t length;
    size_t prefix = models->prefix ? strlen(models->prefix) : 0;
    const char *id = json_member_text(model, models->id, &length);
    if (id && length > prefix && memcmp(id, models->prefix ? models->prefix : "", prefix) == 0)
        id += prefix, length -= prefix;
    struct text shown = TEXT_INIT;
    bool good = id && is_name(id, length, &shown);
    bool ok = !shown.failed &&
              (!good || append(list, id, length, json_member_integer(model, "created", 0)));
    text_release(&shown);
    list->left_out += !good;
    return ok || error_memory(error);
}

/* ---- pages ---- */

static bool no_list(const struct http_get *get, struct error *error)
{
    return error_set(error, ERROR_SERVER, "'%s' answered, but with no list of models",
                     http_get_host(get));
}

/* Some servers send the list alone; an empty one may be null. */
static bool read_page(const struct http_get *get, const struct wire_models *models,
                      const json_t *page, struct model_list *out, struct error *error)
{
    const json_t *list = json_is_array(page) ? page : json_object_get(page, models->list);
    size_t i;
    json_t *model;
    if (!json_is_array(list) && !json_is_null(list))
        return no_list(get, error);
    json_array_foreach (list, i, model) {
        if (models->offers && !models->offers(model))
            continue;
        if (out->count >= MAX_MODELS)
            return error_set(error, ERROR_SERVER, "'%s' lists more than %d models",
                             http_get_host(get), MAX_MODELS);
        if (!add(out, models, model, error))
            return false;
    }
    return true;
}

static bool fetch_page(struct http_get *get, const struct wire_models *models, const char *path,
                       struct text *mark, struct model_list *list, struct error *error)
{
    struct text body = TEXT_INIT;
    json_t *page = NULL;
    bool ok = http_get_fetch(get, path, &body, error);
    if (ok && !(page = json_parse(text_cstr(&body), body.length, NULL, error)))
        ok = error->kind == ERROR_INTERNAL ? false : no_list(get, error);
    ok = ok && read_page(get, models, page, list, error);
    const char *next = ok && models->next ? models->next(page) : NULL;
    text_reset(mark);
    text_puts(mark, next ? next : "");
    json_decref(page);
    text_release(&body);
    return ok;
}

static void put_path(struct text *path, const struct wire_models *models, const struct text *mark)
{
    text_reset(path);
    text_puts(path, models->path);
    if (!mark->length)
        return;
    text_puts(path, models->mark);
    http_put_segment(path, mark->data);
}

bool models_read(struct http_get *get, const struct profile *profile, struct model_list *list,
                 struct error *error)
{
    const struct wire_models *models = profile->wire->models;
    struct text path = TEXT_INIT;
    struct text mark = TEXT_INIT;
    bool ok = true;
    unsigned pages = 0;
    do {
        if (++pages > MAX_PAGES)
            ok = error_set(error, ERROR_SERVER, "the list of models of '%s' does not end",
                           http_get_host(get));
        put_path(&path, models, &mark);
        if (ok && (path.failed || mark.failed))
            ok = error_memory(error);
        ok = ok && fetch_page(get, models, text_cstr(&path), &mark, list, error);
    } while (ok && mark.length);
    text_release(&path);
    text_release(&mark);
    return ok;
}

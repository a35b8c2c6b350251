#include "plugin/reload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "plugin/host_api.h"
#include "plugin/scan.h"

/* A path, and what becomes of it. */
struct candidate {
    char *path;
    struct plugin *old;  /* the set before had it from here; NULL: nothing */
    struct plugin *made; /* from the file as it is now; NULL: nothing */
    char *reason;        /* why there is nothing */
    bool is_found;
    bool is_unchanged;
    bool has_asked; /* the old plugin, to be loaded anew */
    bool is_link; /* to a file that was found before it */
    struct file_id file;
    struct file_key key;    /* of `file` */
    UT_hash_handle hh;      /* by path */
    UT_hash_handle hh_file; /* by `key` */
};

struct reload {
    struct loader loader;
    struct registry *before;
    struct candidate *by_path, *by_file;
    struct {
        struct candidate **items;
        size_t count, capacity;
    } found; /* in order */
    bool no_memory;
};

/* ---- what was there, and what is found ---- */

/* The candidate of a path; NULL: no memory. */
static struct candidate *find_or_add(struct reload *reload, const char *path)
{
    struct candidate *candidate;
    HASH_FIND_STR(reload->by_path, path, candidate);
    if (candidate)
        return candidate;
    candidate = calloc(1, sizeof(*candidate));
    if (candidate && (candidate->path = strdup(path))) {
        HASH_ADD_KEYPTR(hh, reload->by_path, candidate->path, strlen(path), candidate);
        if (hash_added(candidate))
            return candidate;
        free(candidate->path);
    }
    free(candidate);
    reload->no_memory = true;
    return NULL;
}

static void free_candidate(struct candidate *candidate)
{
    plugin_unref(candidate->made);
    free(candidate->path);
    free(candidate->reason);
    free(candidate);
}

static bool note_before(struct reload *reload)
{
    struct plugin *plugin;
    for (size_t i = 0; (plugin = registry_plugin(reload->before, i)); i++) {
        struct candidate *candidate = find_or_add(reload, plugin->path);
        if (!candidate)
            return false;
        candidate->old = plugin;
    }
    return true;
}

struct reload *reload_new(const struct loader *loader, struct registry *before)
{
    struct reload *reload = calloc(1, sizeof(*reload));
    if (!reload)
        return NULL;
    reload->loader = *loader;
    reload->before = before;
    if (note_before(reload))
        return reload;
    reload_free(reload);
    return NULL;
}

void reload_free(struct reload *reload)
{
    if (!reload)
        return;
    struct candidate *candidate, *next;
    HASH_CLEAR(hh_file, reload->by_file);
    HASH_ITER (hh, reload->by_path, candidate, next) {
        HASH_DEL(reload->by_path, candidate);
        free_candidate(candidate);
    }
    free(reload->found.items);
    free(reload);
}

static void give_reason(struct reload *reload, struct candidate *candidate, const char *reason)
{
    free(candidate->reason);
    candidate->reason = strdup(reason);
    reload->no_memory |= !candidate->reason;
}

/* Each path once, where it was found first. */
static struct candidate *take(struct reload *reload, const char *path)
{
    struct candidate *candidate = find_or_add(reload, path);
    if (!candidate || candidate->is_found)
        return candidate;
    if (!array_reserve(&reload->found, 1)) {
        reload->no_memory = true;
        return NULL;
    }
    reload->found.items[reload->found.count++] = candidate;
    candidate->is_found = true;
    return candidate;
}

void reload_found(void *context, const char *path)
{
    struct reload *reload = context;
    struct text place = TEXT_INIT;
    if (loader_place(path, &place))
        take(reload, place.data);
    else
        reload->no_memory = true;
    text_release(&place);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* What was loaded from a folder that cannot be used any more has done nothing wrong. */
void reload_refused(void *context, const char *path, const char *reason)
{
    struct reload *reload = context;
    struct candidate *candidate = take(reload, path);
    if (candidate)
        give_reason(reload, candidate, reason);
    const struct plugin *plugin;
    for (size_t i = 0; (plugin = registry_plugin(reload->before, i)); i++) {
        candidate = is_below(plugin->path, path) ? take(reload, plugin->path) : NULL;
        if (candidate && !candidate->reason)
            give_reason(reload, candidate, "its folder cannot be looked into");
    }
}

/* ---- what has changed ---- */

/* Of several names of a file the first is the plugin's, unless another one has been. */
static void note_file(struct reload *reload, struct candidate *candidate)
{
    struct candidate *first;
    candidate->key = file_key_of(&candidate->file);
    HASH_FIND(hh_file, reload->by_file, &candidate->key, sizeof(candidate->key), first);
    candidate->is_link = first && (first->old || !candidate->old);
    if (candidate->is_link)
        return;
    if (first) {
        first->is_link = true;
        HASH_DELETE(hh_file, reload->by_file, first);
    }
    HASH_ADD(hh_file, reload->by_file, key, sizeof(candidate->key), candidate);
    reload->no_memory |= !candidate->hh_file.tbl;
}

/* The file itself, without a look inside. */
static void look_at(struct reload *reload, struct candidate *candidate)
{
    struct error error = ERROR_INIT;
    int fd = scan_open(candidate->path, &candidate->file, &error);
    if (fd < 0) {
        give_reason(reload, candidate, error.message);
        return;
    }
    close(fd);
    note_file(reload, candidate);
}

static bool has_same_config(struct reload *reload, const struct plugin *plugin)
{
    char *config = loader_config(&reload->loader, plugin->path);
    const mortise_host *host = host_api_face(plugin->api);
    bool same = config && strcmp(config, host->config(host)) == 0;
    reload->no_memory |= !config;
    free(config);
    return same;
}

static bool is_unchanged(struct reload *reload, const struct candidate *candidate)
{
    const struct plugin *old = candidate->old;
    if (!old || (!old->object && !old->isolation.is_process) || candidate->has_asked ||
        (old->is_set_aside && atomic_load(old->is_set_aside)))
        return false;
    return (file_id_equal(&old->file, &candidate->file) ||
            (old->object && object_is_of(old->object, &candidate->file))) &&
           loader_would_keep(&reload->loader, old) && has_same_config(reload, old);
}

static void look(struct reload *reload)
{
    const char *earlier;
    for (size_t i = 0; i < reload->found.count; i++)
        if (!reload->found.items[i]->reason)
            look_at(reload, reload->found.items[i]);
    for (size_t i = 0; i < reload->found.count; i++) {
        struct candidate *candidate = reload->found.items[i];
        candidate->has_asked = candidate->old && host_api_take_changed(candidate->old->api);
        candidate->is_unchanged =
            !candidate->reason && !candidate->is_link && is_unchanged(reload, candidate);
        if (candidate->is_unchanged && candidate->old->object &&
            !registry_claim(reload->loader.registry, candidate->old->object, candidate->path,
                            &earlier))
            reload->no_memory |= !earlier;
    }
}

/* ---- making ---- */

/* Not what somebody else uses, or is about to: a file that was moved aside. */
static bool is_free(void *context, const struct object *object)
{
    const struct reload *reload = context;
    const struct file_key key = file_key_of(&object->file);
    struct candidate *candidate;
    HASH_FIND(hh_file, reload->by_file, &key, sizeof(key), candidate);
    return !candidate && !registry_has_claim(reload->loader.registry, object);
}

static void make(struct reload *reload)
{
    for (size_t i = 0; i < reload->found.count; i++) {
        struct candidate *candidate = reload->found.items[i];
        struct error error = ERROR_INIT;
        bool again;
        if (candidate->reason || candidate->is_link || candidate->is_unchanged)
            continue;
        candidate->made = loader_make(&reload->loader, candidate->path, &again, &error);
        if (!candidate->made)
            give_reason(reload, candidate, error.message);
        reload->no_memory |= !candidate->made && error.kind == ERROR_INTERNAL;
    }
}

/* ---- the new registry ---- */

static struct plugin *chosen(const struct candidate *candidate)
{
    return candidate->made ? candidate->made : candidate->is_link ? NULL : candidate->old;
}

/* Leaves the plugin as it is; false: its names are taken, or there is no memory. */
static bool add(struct registry *registry, struct plugin *plugin, struct error *error)
{
    if (registry_add(registry, plugin_ref(plugin), error))
        return true;
    plugin_unref(plugin);
    return false;
}

/* Who has a name that several want. */
enum rank {
    STAYS, /* these never collide: they were in one registry */
    NEWER, /* takes the place of one that was there */
    NEW,
    RANKS
};

static enum rank rank(const struct candidate *candidate)
{
    return !candidate->made ? STAYS : candidate->old ? NEWER : NEW;
}

/* What of this rank is chosen.  False: one was given up, and what was there before comes back,
 * which may need a name that is taken by now; or there is no memory. */
static bool add_all(struct reload *reload, struct registry *registry, enum rank wanted)
{
    for (size_t i = 0; i < reload->found.count; i++) {
        struct candidate *candidate = reload->found.items[i];
        struct plugin *plugin = chosen(candidate);
        struct error error = ERROR_INIT;
        if (!plugin || rank(candidate) != wanted || add(registry, plugin, &error))
            continue;
        reload->no_memory |= wanted == STAYS || error.kind != ERROR_PLUGIN;
        if (reload->no_memory)
            return false;
        give_reason(reload, candidate, error.message);
        plugin_unref(candidate->made);
        candidate->made = NULL;
        if (candidate->old)
            return false;
    }
    return true;
}

/* Gives up what collides, until nothing does. */
static void settle(struct reload *reload)
{
    bool settled = false;
    while (!settled && !reload->no_memory) {
        struct registry *trial = registry_new();
        reload->no_memory |= !trial;
        settled = trial != NULL;
        for (int wanted = STAYS; wanted < RANKS && settled; wanted++)
            settled = add_all(reload, trial, (enum rank)wanted);
        registry_unref(trial);
    }
}

/* In the order of the sources, as if all of it were loaded for the first time. */
static struct registry *put_in_order(struct reload *reload)
{
    struct registry *registry = registry_new();
    reload->no_memory |= !registry;
    for (size_t i = 0; i < reload->found.count && !reload->no_memory; i++) {
        const struct candidate *candidate = reload->found.items[i];
        struct plugin *plugin = chosen(candidate);
        struct error error = ERROR_INIT;
        if (plugin && !add(registry, plugin, &error))
            reload->no_memory = true;
        if (candidate->reason)
            registry_refuse(registry, candidate->path, candidate->reason);
    }
    if (!reload->no_memory && !registry_take_accounts(registry, reload->before))
        reload->no_memory = true;
    return registry;
}

/* Nothing came of it: what was asked for is still to be done. */
static void ask_again(const struct reload *reload)
{
    for (size_t i = 0; i < reload->found.count; i++) {
        const struct candidate *candidate = reload->found.items[i];
        if (candidate->has_asked)
            host_api_put_changed(candidate->old->api);
    }
}

struct registry *reload_build(struct reload *reload, struct error *error)
{
    struct registry *registry = NULL;
    reload->loader.is_free = is_free;
    reload->loader.is_free_context = reload;
    reload->loader.registry = registry_new(); /* for its claims */
    reload->no_memory |= !reload->loader.registry;
    if (!reload->no_memory)
        look(reload);
    if (!reload->no_memory)
        make(reload);
    registry_unref(reload->loader.registry);
    settle(reload);
    if (!reload->no_memory)
        registry = put_in_order(reload);
    if (!reload->no_memory)
        return registry;
    registry_unref(registry);
    ask_again(reload);
    error_memory(error);
    return NULL;
}

/* ---- telling ---- */

static bool was_told(const struct reload *reload, const struct candidate *candidate)
{
    const struct refusal *refusal;
    for (size_t i = 0; (refusal = registry_refusal(reload->before, i)); i++)
        if (strcmp(refusal->path, candidate->path) == 0 &&
            strcmp(refusal->reason, candidate->reason) == 0)
            return true;
    return false;
}

static bool describe(const struct reload *reload, const struct candidate *candidate,
                     struct plugin_change *change)
{
    *change = (struct plugin_change){.path = candidate->path,
                                     .before = candidate->old,
                                     .now = candidate->is_found ? chosen(candidate) : NULL,
                                     .reason = candidate->reason};
    if (candidate->reason) {
        change->kind = candidate->old ? PLUGIN_KEPT : PLUGIN_REFUSED;
        change->again = was_told(reload, candidate);
    } else {
        change->kind = !change->now      ? PLUGIN_REMOVED
                       : !change->before ? PLUGIN_ADDED
                                         : PLUGIN_REPLACED;
    }
    return candidate->reason || change->now != change->before;
}

void reload_tell(const struct reload *reload, plugin_changed *changed, void *context)
{
    struct plugin_change change;
    const struct plugin *plugin;
    for (size_t i = 0; i < reload->found.count; i++)
        if (describe(reload, reload->found.items[i], &change))
            changed(context, &change);
    for (size_t i = 0; (plugin = registry_plugin(reload->before, i)); i++) {
        struct candidate *candidate;
        HASH_FIND_STR(reload->by_path, plugin->path, candidate);
        if (!candidate->is_found && describe(reload, candidate, &change))
            changed(context, &change);
    }
}

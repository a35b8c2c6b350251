#include "plugin/set.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plugin/bell.h"
#include "plugin/reload.h"
#include "plugin/scan.h"

enum source_kind { SOURCE_FILE, SOURCE_FOLDER, SOURCE_OPTIONAL_FOLDER };

struct source {
    char *path;
    enum source_kind kind;
};

struct plugin_set {
    struct loader loader;
    struct bell *bell; /* of all its plugins */
    struct {
        struct source *items;
        size_t count, capacity;
    } sources;
    pthread_mutex_t loading; /* one load or reload at a time */
    pthread_mutex_t lock;    /* of `registry` */
    struct registry *registry;
};

/* ---- life ---- */

struct plugin_set *plugin_set_new(const struct loader *loader)
{
    struct plugin_set *set = calloc(1, sizeof(*set));
    if (!set)
        return NULL;
    set->registry = registry_new();
    set->bell = bell_new();
    if (!set->registry || !set->bell) {
        registry_unref(set->registry);
        host_bell_unref(bell_face(set->bell));
        free(set);
        return NULL;
    }
    set->loader = *loader;
    set->loader.bell = bell_face(set->bell);
    pthread_mutex_init(&set->loading, NULL);
    pthread_mutex_init(&set->lock, NULL);
    return set;
}

void plugin_set_free(struct plugin_set *set)
{
    if (!set)
        return;
    registry_unref(set->registry);
    host_bell_unref(bell_face(set->bell));
    for (size_t i = 0; i < set->sources.count; i++)
        free(set->sources.items[i].path);
    free(set->sources.items);
    pthread_mutex_destroy(&set->loading);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* ---- sources ---- */

static bool add(struct plugin_set *set, const char *path, enum source_kind kind)
{
    char *copy = strdup(path);
    if (!copy || !array_reserve(&set->sources, 1)) {
        free(copy);
        return false;
    }
    set->sources.items[set->sources.count++] = (struct source){copy, kind};
    return true;
}

bool plugin_set_add_file(struct plugin_set *set, const char *path)
{
    return add(set, path, SOURCE_FILE);
}

bool plugin_set_add_folder(struct plugin_set *set, const char *path, bool optional)
{
    return add(set, path, optional ? SOURCE_OPTIONAL_FOLDER : SOURCE_FOLDER);
}

const char *plugin_set_source(const struct plugin_set *set, size_t index, bool *is_file)
{
    if (index >= set->sources.count)
        return NULL;
    *is_file = set->sources.items[index].kind == SOURCE_FILE;
    return set->sources.items[index].path;
}

/* ---- loading ---- */

struct registry *plugin_set_registry(struct plugin_set *set)
{
    pthread_mutex_lock(&set->lock);
    struct registry *registry = registry_ref(set->registry);
    pthread_mutex_unlock(&set->lock);
    return registry;
}

/* Takes over `registry`; the caller has the one before from then on. */
static struct registry *put(struct plugin_set *set, struct registry *registry)
{
    pthread_mutex_lock(&set->lock);
    struct registry *before = set->registry;
    set->registry = registry;
    pthread_mutex_unlock(&set->lock);
    return before;
}

static void say_nothing(void *context, const char *path, const char *reason)
{
    (void)context;
    (void)path;
    (void)reason;
}

/* What is wrong with a file that must load is the error. */
static bool load_file(const struct loader *loader, const char *path, struct error *error)
{
    struct loader quiet = *loader;
    quiet.refused = say_nothing;
    if (loader_load(&quiet, path, error))
        return true;
    error_prefix(error, "%s", path);
    return false;
}

static bool load_sources(struct plugin_set *set, struct registry *registry, struct error *error)
{
    struct loader loader = set->loader;
    loader.registry = registry;
    for (size_t i = 0; i < set->sources.count; i++) {
        const struct source *source = &set->sources.items[i];
        if (source->kind != SOURCE_FILE)
            loader_load_folder(&loader, source->path, source->kind == SOURCE_OPTIONAL_FOLDER);
        else if (!load_file(&loader, source->path, error))
            return false;
    }
    return true;
}

bool plugin_set_load(struct plugin_set *set, struct error *error)
{
    struct registry *registry = registry_new();
    if (!registry)
        return error_memory(error);
    pthread_mutex_lock(&set->loading);
    bool good = load_sources(set, registry, error);
    if (good)
        registry = put(set, registry);
    pthread_mutex_unlock(&set->loading);
    registry_unref(registry);
    return good;
}

/* ---- loading anew ---- */

static struct registry *look_again(struct plugin_set *set, struct reload *reload,
                                   struct error *error)
{
    for (size_t i = 0; i < set->sources.count; i++) {
        const struct source *source = &set->sources.items[i];
        if (source->kind == SOURCE_FILE)
            reload_found(reload, source->path);
        else
            scan_folder(source->path, source->kind == SOURCE_OPTIONAL_FOLDER, reload_found,
                        reload_refused, reload);
    }
    return reload_build(reload, error);
}

bool plugin_set_is_asked(const struct plugin_set *set)
{
    return bell_is_rung(set->bell);
}

int plugin_set_wake_fd(const struct plugin_set *set)
{
    return bell_fd(set->bell);
}

bool plugin_set_reload(struct plugin_set *set, plugin_changed *changed, void *context,
                       struct error *error)
{
    pthread_mutex_lock(&set->loading);
    bool asked = bell_silence(set->bell);
    struct registry *now = NULL, *before = set->registry; /* only loads replace it */
    struct reload *reload = reload_new(&set->loader, before);
    if (reload)
        now = look_again(set, reload, error);
    else
        error_memory(error);
    if (now) {
        put(set, now);
        reload_tell(reload, changed, context);
    } else if (asked) {
        bell_remember(set->bell);
    }
    reload_free(reload);
    pthread_mutex_unlock(&set->loading);
    if (now)
        registry_unref(before);
    return now != NULL;
}
